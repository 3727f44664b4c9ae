"""Tables of cluster-wide kinds: components, APIServices, priority classes and flow control."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.tables.cells import Cells, age, condition, count, items, name, part, text
from simcloud.kubernetes.api.tables.registry import AGE, NAME, Column, boolean, integer, table

_CLASS = "scheduling.v1.PriorityClass"
_FLOW_CONTROL = "flowcontrol.apiserver.k8s.io"


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
    status = "Unknown"
    if available is not None:
        status = text(available, "status")
        if status != "True" and available.get("reason"):
            status += f" ({available['reason']})"
    place = "Local" if service is None else f"{text(service, 'namespace')}/{text(service, 'name')}"
    return [name(obj), place, status, age(obj, now_s)]


@table(
    "scheduling.k8s.io",
    "PriorityClass",
    NAME,
    integer("Value", of=f"{_CLASS}.value"),
    boolean("Global-Default", of=f"{_CLASS}.globalDefault"),
    AGE,
    Column("PreemptionPolicy", of=f"{_CLASS}.preemptionPolicy"),
)
def priority_class(obj: Object, now_s: float) -> Cells:
    """A priority class' row."""
    return [
        name(obj),
        count(obj, "value"),
        bool(obj.get("globalDefault")),
        age(obj, now_s),
        text(obj, "preemptionPolicy"),
    ]


def _get_precedence(obj: Object) -> tuple[int, str]:
    return count(part(obj, "spec"), "matchingPrecedence"), name(obj)


@table(
    _FLOW_CONTROL,
    "FlowSchema",
    NAME,
    Column("PriorityLevel", of="flowcontrol.v1.PriorityLevelConfigurationReference.name"),
    integer("MatchingPrecedence", of="flowcontrol.v1.FlowSchemaSpec.matchingPrecedence"),
    Column("DistinguisherMethod", of="flowcontrol.v1.FlowSchemaSpec.distinguisherMethod"),
    AGE,
    Column("MissingPL", "references a broken or non-existent PriorityLevelConfiguration"),
    order=_get_precedence,
)
def flow_schema(obj: Object, now_s: float) -> Cells:
    """A flow schema's row."""
    spec = part(obj, "spec")
    dangling = condition(items(part(obj, "status"), "conditions"), "Dangling")
    return [
        name(obj),
        text(part(spec, "priorityLevelConfiguration"), "name"),
        count(spec, "matchingPrecedence"),
        text(part(spec, "distinguisherMethod"), "type") or "<none>",
        age(obj, now_s),
        "?" if dangling is None else text(dangling, "status"),
    ]


@table(
    _FLOW_CONTROL,
    "PriorityLevelConfiguration",
    NAME,
    Column("Type", of="flowcontrol.v1.PriorityLevelConfigurationSpec.type"),
    Column(
        "NominalConcurrencyShares",
        of="flowcontrol.v1.LimitedPriorityLevelConfiguration.nominalConcurrencyShares",
    ),
    Column("Queues", of="flowcontrol.v1.QueuingConfiguration.queues"),
    Column("HandSize", of="flowcontrol.v1.QueuingConfiguration.handSize"),
    Column("QueueLengthLimit", of="flowcontrol.v1.QueuingConfiguration.queueLengthLimit"),
    AGE,
)
def priority_level(obj: Object, now_s: float) -> Cells:
    """A priority level's row."""
    limited = part(obj, "spec", "limited")
    queuing = part(limited, "limitResponse", "queuing")
    figures = [
        limited.get("nominalConcurrencyShares"),
        *map(queuing.get, ("queues", "handSize", "queueLengthLimit")),
    ]
    cells = ["<none>" if figure is None else figure for figure in figures]
    return [name(obj), text(part(obj, "spec"), "type"), *cells, age(obj, now_s)]
