"""Tables of pod and node metrics. The columns are the measured resources."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from simcloud.kubernetes.api import quantity
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.tables.cells import Cells, amount, items, name, part
from simcloud.kubernetes.api.tables.registry import Column, Kind

GROUP = "metrics.k8s.io"
_NAME = Column("Name", "Name of the resource", format="name")
_WINDOW = Column("Window", format="duration")


def metrics_kind(kind: str, found: Iterable[Object]) -> Kind:
    """How these measurements are shown: the first one says which resources there are."""
    usage = _of_pod if kind == "PodMetrics" else _of_node
    first = next(iter(found), None)
    if first is None:
        return Kind((), lambda obj, now_s: [])
    resources = sorted(usage(first))

    def row(obj: Object, now_s: float) -> Cells:
        used = usage(obj)
        return [
            name(obj),
            *(used.get(resource_name, "0") for resource_name in resources),
            obj.get("window") or "0s",
        ]

    columns = (_NAME, *(Column(resource_name, format="quantity") for resource_name in resources), _WINDOW)
    return Kind(columns, row)


def _of_node(obj: Object) -> dict[str, str]:
    return {resource: amount(used) for resource, used in part(obj, "usage").items()}


def _of_pod(obj: Object) -> dict[str, str]:
    """The sum over a pod's containers, each in the suffixes of the first container's."""
    sums: dict[str, Fraction] = {}
    families: dict[str, str] = {}
    for container in items(obj, "containers"):
        for resource, used in part(container, "usage").items():
            families.setdefault(resource, "binary" if str(used).endswith("i") else "decimal")
            sums[resource] = sums.get(resource, Fraction(0)) + quantity.parse(used)
    return {resource: quantity.render(total, families[resource]) for resource, total in sums.items()}
