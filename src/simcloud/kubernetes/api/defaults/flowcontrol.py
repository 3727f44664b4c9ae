"""Defaults of ``flowcontrol.apiserver.k8s.io``."""

from __future__ import annotations

from simcloud.kubernetes.api.defaults.registry import defaults, fill, part
from simcloud.kubernetes.api.objects import Object

GROUP = "flowcontrol.apiserver.k8s.io"


@defaults(GROUP, "FlowSchema")
def default_flow_schema(schema: Object) -> None:
    """In the middle of the order."""
    spec = part(schema, "spec")
    if not spec.get("matchingPrecedence"):
        spec["matchingPrecedence"] = 1000


@defaults(GROUP, "PriorityLevelConfiguration")
def default_priority_level(level: Object) -> None:
    """Thirty shares, and a set of queues if requests are queued."""
    spec = part(level, "spec")
    if "exempt" in spec:
        fill(spec["exempt"], nominalConcurrencyShares=0, lendablePercent=0)
    limited = spec.get("limited")
    if limited is None:
        return
    fill(limited, nominalConcurrencyShares=30, lendablePercent=0)
    queuing = limited.get("limitResponse", {}).get("queuing")
    if queuing is not None:
        for name, value in (("handSize", 8), ("queues", 64), ("queueLengthLimit", 50)):
            queuing[name] = queuing.get(name) or value
