"""Requests that follow from limits: in a container, and for a pod as a whole."""

from __future__ import annotations

from simcloud.kubernetes.api import quantity
from simcloud.kubernetes.api.amounts import containers_amounts
from simcloud.kubernetes.api.objects import Object

_SHARED = ("cpu", "memory")
"""The resources whose pod-wide request follows from the containers' requests."""


def default_container_requests(container: Object) -> None:
    """Default the requests of a container to its limits."""
    resources = container.get("resources", {})
    if "limits" in resources:
        _inherit(resources, resources["limits"])


def default_pod_resources(spec: Object) -> None:
    """A pod with limits of its own asks for the sum of its containers, or else for its limits."""
    resources = spec.get("resources", {})
    limits = resources.get("limits")
    if not limits:
        return
    asked = {name: text for name in _SHARED if (text := _total_request(spec, name)) is not None}
    _inherit(resources, asked)
    _inherit(resources, {name: text for name, text in limits.items() if _pod_wide(name)})


def _inherit(resources: Object, amounts: Object) -> None:
    requests = {**amounts, **resources.get("requests", {})}
    if requests:
        resources["requests"] = requests


def _pod_wide(name: str) -> bool:
    return name in _SHARED or name.startswith("hugepages-")


def _total_request(spec: Object, name: str) -> str | None:
    """Return the sum of the container requests, rendered with the usual suffixes."""
    total = containers_amounts(spec, "requests").get(name)
    return (
        None if total is None else quantity.render(total.value, "binary" if name == "memory" else "decimal")
    )
