"""Priorities."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.tables.cells import Cells, age, count, name, text
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
