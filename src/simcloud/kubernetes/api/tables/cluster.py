"""The API server's own affairs: its components, its fairness, the APIs it serves."""

from __future__ import annotations

from typing import Any

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.tables.cells import Cells, age, condition, count, items, name, part, text
from simcloud.kubernetes.api.tables.registry import AGE, NAME, Column, table

_FLOW = "flowcontrol.apiserver.k8s.io"


@table(
    "",
    "ComponentStatus",
    NAME,
    Column("Status", "Status of the component conditions"),
    Column("Message", "Message of the component conditions"),
    Column("Error", "Error of the component conditions"),
)
def component_status(obj: Object, now_s: float) -> Cells:
    """A component status' row."""
    healthy = condition(items(obj, "conditions"), "Healthy")
    if healthy is None:
        return [name(obj), "Unknown", "", ""]
    state = "Healthy" if healthy.get("status") == "True" else "Unhealthy"
    return [name(obj), state, text(healthy, "message"), text(healthy, "error")]


@table(
    "apiregistration.k8s.io",
    "APIService",
    NAME,
    Column("Service", "The reference to the service that hosts this API endpoint."),
    Column("Available", "Whether this service is available."),
    AGE,
)
def api_service(obj: Object, now_s: float) -> Cells:
    """An APIService's row."""
    service = part(obj, "spec").get("service")
    available = condition(items(part(obj, "status"), "conditions"), "Available")
    told = "Unknown"
    if available is not None:
        told = text(available, "status")
        if told != "True" and available.get("reason"):
            told += f" ({available['reason']})"
    place = "Local" if service is None else f"{text(service, 'namespace')}/{text(service, 'name')}"
    return [name(obj), place, told, age(obj, now_s)]


def _precedence(obj: Object) -> tuple[int, str]:
    return count(part(obj, "spec"), "matchingPrecedence"), name(obj)


@table(
    _FLOW,
    "FlowSchema",
    NAME,
    Column("PriorityLevel", of="flowcontrol.v1.PriorityLevelConfigurationReference.name"),
    Column("MatchingPrecedence", of="flowcontrol.v1.FlowSchemaSpec.matchingPrecedence"),
    Column("DistinguisherMethod", of="flowcontrol.v1.FlowSchemaSpec.distinguisherMethod"),
    AGE,
    Column("MissingPL", "references a broken or non-existent PriorityLevelConfiguration"),
    order=_precedence,
)
def flow_schema(obj: Object, now_s: float) -> Cells:
    """A flow schema's row."""
    spec = part(obj, "spec")
    method = spec.get("distinguisherMethod")
    dangling = condition(items(part(obj, "status"), "conditions"), "Dangling")
    return [
        name(obj),
        text(part(spec, "priorityLevelConfiguration"), "name"),
        count(spec, "matchingPrecedence"),
        "<none>" if method is None else text(method, "type"),
        age(obj, now_s),
        "?" if dangling is None else text(dangling, "status"),
    ]


_QUEUING = {"Queues": "queues", "HandSize": "handSize", "QueueLengthLimit": "queueLengthLimit"}


@table(
    _FLOW,
    "PriorityLevelConfiguration",
    NAME,
    Column("Type", of="flowcontrol.v1.PriorityLevelConfigurationSpec.type"),
    Column(
        "NominalConcurrencyShares",
        of="flowcontrol.v1.LimitedPriorityLevelConfiguration.nominalConcurrencyShares",
    ),
    *(Column(title, of=f"flowcontrol.v1.QueuingConfiguration.{field}") for title, field in _QUEUING.items()),
    AGE,
)
def priority_level(obj: Object, now_s: float) -> Cells:
    """A priority level's row."""
    spec = part(obj, "spec")
    shares: Any = "<none>"
    queues: list[Any] = ["<none>"] * 3
    if spec.get("limited") is not None:
        shares = spec["limited"].get("nominalConcurrencyShares") or 0
        queuing = part(spec, "limited", "limitResponse").get("queuing")
        if queuing is not None:
            queues = [count(queuing, field) for field in _QUEUING.values()]
    return [name(obj), text(spec, "type"), shares, *queues, age(obj, now_s)]
