"""Defaults of ``networking.k8s.io`` and ``discovery.k8s.io``."""

from __future__ import annotations

from simcloud.kubernetes.api.defaults.registry import defaults, each, fill, part
from simcloud.kubernetes.api.objects import Object


@defaults("networking.k8s.io", "NetworkPolicy")
def default_network_policy(policy: Object) -> None:
    """A policy is about ingress, and about egress if it has such rules."""
    spec = part(policy, "spec")
    for direction in ("ingress", "egress"):
        for rule in each(spec, direction):
            for port in each(rule, "ports"):
                fill(port, protocol="TCP")
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]


@defaults("networking.k8s.io", "IngressClass")
def default_ingress_class(ingress_class: Object) -> None:
    """Parameters are a cluster-wide object."""
    parameters = part(ingress_class, "spec").get("parameters")
    if parameters is not None:
        fill(parameters, scope="Cluster")


@defaults("discovery.k8s.io", "EndpointSlice")
def default_endpoint_slice(endpoints: Object) -> None:
    """A port without a name has the empty name."""
    for port in each(endpoints, "ports"):
        fill(port, name="", protocol="TCP")
