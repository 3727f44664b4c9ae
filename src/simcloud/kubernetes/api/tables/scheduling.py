"""Priorities, and devices that pods claim."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.tables.cells import Cells, age, count, name, part, text
from simcloud.kubernetes.api.tables.registry import AGE, NAME, Column, boolean, integer, table

_CLASS = "scheduling.v1.PriorityClass"


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


@table("resource.k8s.io", "DeviceClass", NAME, AGE)
@table("resource.k8s.io", "ResourceClaimTemplate", NAME, AGE)
def plain(obj: Object, now_s: float) -> Cells:
    """The row of what has nothing to show but its age."""
    return [name(obj), age(obj, now_s)]


@table(
    "resource.k8s.io",
    "ResourceClaim",
    NAME,
    Column("State", "A summary of the current state (allocated, pending, reserved, etc.)."),
    AGE,
)
def resource_claim(obj: Object, now_s: float) -> Cells:
    """A resource claim's row."""
    status = part(obj, "status")
    states = ["deleted"] if part(obj, "metadata").get("deletionTimestamp") else []
    if status.get("allocation") is not None:
        states += ["allocated", "reserved"] if status.get("reservedFor") else ["allocated"]
    elif not states:
        states = ["pending"]
    return [name(obj), ",".join(states), age(obj, now_s)]


_SLICE = "resource.v1.ResourceSliceSpec"


@table(
    "resource.k8s.io",
    "ResourceSlice",
    NAME,
    Column("Node", of=f"{_SLICE}.nodeName"),
    Column("Driver", of=f"{_SLICE}.driver"),
    Column("Pool", of="resource.v1.ResourcePool.name"),
    AGE,
)
def resource_slice(obj: Object, now_s: float) -> Cells:
    """A resource slice's row."""
    spec = part(obj, "spec")
    pool = text(part(spec, "pool"), "name")
    return [name(obj), text(spec, "nodeName"), text(spec, "driver"), pool, age(obj, now_s)]
