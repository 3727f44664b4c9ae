"""Requests that follow from limits: in a container, and for a pod as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from aiopslab.cluster.api import quantity
from aiopslab.cluster.api.objects import Object

_SHARED = ("cpu", "memory")
"""The resources whose pod-wide request follows from the containers' requests."""


def default_container_requests(container: Object) -> None:
    """A container asks for what it is limited to, unless it says otherwise."""
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
    """What the containers need at once: the running ones and sidecars, or the largest step of the start."""
    amounts = [*_requests(spec, "containers", name), *_requests(spec, "initContainers", name)]
    if not amounts:
        return None
    running = sum((value for value, _ in _requests(spec, "containers", name)), Fraction(0))
    sidecars, peak = Fraction(0), Fraction(0)
    for value, sidecar in _requests(spec, "initContainers", name):
        if sidecar:
            sidecars += value
            peak = max(peak, sidecars)
        else:
            peak = max(peak, sidecars + value)
    return quantity.render(max(running + sidecars, peak), "binary" if name == "memory" else "decimal")


def _requests(spec: Object, kind: str, name: str) -> Iterator[tuple[Fraction, bool]]:
    for container in spec.get(kind, ()):
        text = container.get("resources", {}).get("requests", {}).get(name)
        if text is not None:
            yield quantity.parse(text), container.get("restartPolicy") == "Always"
