"""The registry of tables: the columns of each kind and the function that makes a row of an object.

A kind is registered by decorating its row function::

    @table("apps", "StatefulSet", NAME, Column("Ready", "Number of the pod with ready state"), AGE)
    def stateful_set(obj: Object, now_s: float) -> list[Any]: ...

A row has a cell for every column, including the wide ones; the client omits those it does not show.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.schema.builtin import definitions

Row = Callable[[Object, float], list[Any]]
_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


class Column(Struct, frozen=True):
    """A column. Its description is ``text``, or that of a field of the API: ``core.v1.PodStatus.podIP``."""

    name: str
    text: str = ""
    of: str = ""
    type: str = "string"
    format: str = ""
    priority: int = 0

    def definition(self) -> Object:
        """The column as an entry of a Table's columnDefinitions."""
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": find_description(self.of) if self.of else self.text,
            "priority": self.priority,
        }


def find_description(path: str) -> str:
    """What the API's documentation says of a field."""
    name, _, field = path.rpartition(".")
    definition = definitions().get(name if name.startswith("io.k8s.") else f"io.k8s.api.{name}", {})
    text: str = definition.get("properties", {}).get(field, {}).get("description", "")
    return text


def integer(name: str, text: str = "", of: str = "") -> Column:
    """A column of whole numbers."""
    return Column(name, text, of, type="integer")


def boolean(name: str, of: str) -> Column:
    """A column of truths."""
    return Column(name, of=of, type="boolean")


def wide(name: str, text: str = "", of: str = "") -> Column:
    """A column that only ``-o wide`` shows."""
    return Column(name, text, of, priority=1)


NAME = Column("Name", of=f"{_META}.name", format="name")
AGE = Column("Age", of=f"{_META}.creationTimestamp")
CREATED_AT = Column("Created At", of=f"{_META}.creationTimestamp", type="date")
CONTAINERS = wide("Containers", "Names of each container in the template.")
IMAGES = wide("Images", "Images referenced by each container in the template.")


class Kind(Struct):
    """How objects of one kind are shown."""

    columns: Sequence[Column]
    row: Row
    conditions: Callable[[Object], list[Object]] | None = None
    """What to say of a row as a whole, such as that a pod has completed."""
    order: Callable[[Object], Any] | None = None
    """Sort key of the rows; without it they stay in the order of the list."""

    def definitions(self) -> list[Object]:
        """The columns as a Table has them."""
        return [column.definition() for column in self.columns]


KINDS: dict[tuple[str, str], Kind] = {}
"""Every kind with columns of its own, by group and kind."""


def table(
    group: str,
    kind: str,
    *columns: Column,
    conditions: Callable[[Object], list[Object]] | None = None,
    order: Callable[[Object], Any] | None = None,
) -> Callable[[Row], Row]:
    """Decorate the row function of a kind."""

    def register(row: Row) -> Row:
        KINDS[group, kind] = Kind(columns, row, conditions, order)
        return row

    return register
