"""Tables of Deployments, ReplicaSets, StatefulSets, DaemonSets and similar kinds."""

from __future__ import annotations

from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.selectors import from_label_selector
from simcloud.kubernetes.api.tables.cells import (
    Cells,
    age,
    containers,
    count,
    items,
    labels,
    name,
    part,
    selector,
    text,
)
from simcloud.kubernetes.api.tables.registry import (
    AGE,
    CONTAINERS,
    IMAGES,
    NAME,
    Column,
    integer,
    table,
    wide,
)


def _replicas(obj: Object) -> list[int]:
    """Desired, current and ready."""
    status = part(obj, "status")
    return [
        count(part(obj, "spec"), "replicas"),
        count(status, "replicas"),
        count(status, "readyReplicas"),
    ]


@table(
    "apps",
    "Deployment",
    NAME,
    Column("Ready", "Number of the pod with ready state"),
    Column("Up-to-date", of="apps.v1.DeploymentStatus.updatedReplicas"),
    Column("Available", of="apps.v1.DeploymentStatus.availableReplicas"),
    AGE,
    CONTAINERS,
    IMAGES,
    wide("Selector", of="apps.v1.DeploymentSpec.selector"),
)
def deployment(obj: Object, now_s: float) -> Cells:
    """A Deployment's row."""
    spec, status = part(obj, "spec"), part(obj, "status")
    desired, _, ready = _replicas(obj)
    try:
        selected = str(from_label_selector(spec.get("selector")))
    except ApiError:
        selected = "<invalid>"
    return [
        name(obj),
        f"{ready}/{desired}",
        count(status, "updatedReplicas"),
        count(status, "availableReplicas"),
        age(obj, now_s),
        *containers(part(spec, "template")),
        selected,
    ]


@table(
    "apps",
    "ReplicaSet",
    NAME,
    integer("Desired", of="apps.v1.ReplicaSetSpec.replicas"),
    integer("Current", of="apps.v1.ReplicaSetStatus.replicas"),
    integer("Ready", of="apps.v1.ReplicaSetStatus.readyReplicas"),
    AGE,
    CONTAINERS,
    IMAGES,
    wide("Selector", of="apps.v1.ReplicaSetSpec.selector"),
)
def replica_set(obj: Object, now_s: float) -> Cells:
    """A ReplicaSet's row."""
    spec = part(obj, "spec")
    container_cells = containers(part(spec, "template"))
    return [name(obj), *_replicas(obj), age(obj, now_s), *container_cells, selector(spec.get("selector"))]


@table(
    "",
    "ReplicationController",
    NAME,
    integer("Desired", of="core.v1.ReplicationControllerSpec.replicas"),
    integer("Current", of="core.v1.ReplicationControllerStatus.replicas"),
    integer("Ready", of="core.v1.ReplicationControllerStatus.readyReplicas"),
    AGE,
    CONTAINERS,
    IMAGES,
    wide("Selector", of="core.v1.ReplicationControllerSpec.selector"),
)
def replication_controller(obj: Object, now_s: float) -> Cells:
    """A ReplicationController's row."""
    spec = part(obj, "spec")
    container_cells = containers(part(spec, "template"))
    return [name(obj), *_replicas(obj), age(obj, now_s), *container_cells, labels(spec.get("selector"))]


@table(
    "apps",
    "StatefulSet",
    NAME,
    Column("Ready", "Number of the pod with ready state"),
    AGE,
    CONTAINERS,
    IMAGES,
)
def stateful_set(obj: Object, now_s: float) -> Cells:
    """A StatefulSet's row."""
    desired, _, ready = _replicas(obj)
    return [name(obj), f"{ready}/{desired}", age(obj, now_s), *containers(part(obj, "spec", "template"))]


_DAEMONS = {
    "Desired": "desiredNumberScheduled",
    "Current": "currentNumberScheduled",
    "Ready": "numberReady",
    "Up-to-date": "updatedNumberScheduled",
    "Available": "numberAvailable",
}


@table(
    "apps",
    "DaemonSet",
    NAME,
    *(integer(title, of=f"apps.v1.DaemonSetStatus.{field}") for title, field in _DAEMONS.items()),
    Column("Node Selector", of="core.v1.PodSpec.nodeSelector"),
    AGE,
    CONTAINERS,
    IMAGES,
    wide("Selector", of="apps.v1.DaemonSetSpec.selector"),
)
def daemon_set(obj: Object, now_s: float) -> Cells:
    """A DaemonSet's row."""
    spec, status = part(obj, "spec"), part(obj, "status")
    template = part(spec, "template")
    return [
        name(obj),
        *(count(status, field) for field in _DAEMONS.values()),
        labels(part(template, "spec").get("nodeSelector")),
        age(obj, now_s),
        *containers(template),
        selector(spec.get("selector")),
    ]


@table(
    "apps",
    "ControllerRevision",
    NAME,
    Column("Controller", "Controller of the object"),
    Column("Revision", of="apps.v1.ControllerRevision.revision"),
    AGE,
)
def controller_revision(obj: Object, now_s: float) -> Cells:
    """A ControllerRevision's row."""
    controller = "<none>"
    for owner in items(part(obj, "metadata"), "ownerReferences"):
        if owner.get("controller"):
            group = text(owner, "apiVersion").rpartition("/")[0]
            kind = text(owner, "kind") + (f".{group}" if group else "")
            controller = f"{kind.lower()}/{text(owner, 'name')}"
            break
    return [name(obj), controller, count(obj, "revision"), age(obj, now_s)]
