"""Defaults of ``discovery.k8s.io``."""

from __future__ import annotations

from simcloud.kubernetes.api.defaults.registry import defaults, each, fill
from simcloud.kubernetes.api.objects import Object


@defaults("discovery.k8s.io", "EndpointSlice")
def default_endpoint_slice(endpoints: Object) -> None:
    """A port without a name has the empty name."""
    for port in each(endpoints, "ports"):
        fill(port, name="", protocol="TCP")
