"""The schema of a kind: its fields, and how its lists and maps are merged.

A ``Schema`` is a node of a tree. Patches, server-side apply, decoding, OpenAPI documents and custom resources use the
same nodes, whether they come from the built-in definitions (``schema.builtin``) or from a CustomResourceDefinition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from msgspec import Struct, field

Shape = Literal[
    "object",  # named fields
    "map",  # any keys, values all of `items`
    "list",  # items all of `items`
    "string",
    "integer",
    "number",
    "boolean",
    "bytes",  # base64 text
    "time",  # RFC 3339 text, to the second
    "micro_time",  # RFC 3339 text, to the microsecond
    "quantity",
    "int_or_string",
    "any",  # whatever JSON can say; nothing is known of it
]


class Schema(Struct, eq=False):
    """One node. Nodes are shared and may be recursive: walk them along data, never alone."""

    shape: Shape
    name: str = ""
    """The definition's name (``io.k8s.api.core.v1.PodSpec``), empty for a nameless node."""
    description: str = ""
    format: str = ""
    """``int32``, ``int64``, ``double`` … where the definition says so."""
    required: tuple[str, ...] = ()
    list_type: Literal["atomic", "set", "map"] = "atomic"
    """How server-side apply merges a list."""
    keys: tuple[str, ...] = ()
    """The fields that identify an item of a ``map`` list."""
    atomic: bool = False
    """An object or map that server-side apply replaces whole."""
    patch_strategy: tuple[str, ...] = ()
    """What a strategic merge patch does here: ``merge``, ``replace``, ``retainKeys``."""
    merge_key: str = ""
    """The field that identifies an item for a strategic merge patch."""
    embedded: bool = False
    """A whole object with apiVersion, kind and metadata of its own (RawExtension and friends)."""
    keep_unknown: bool = False
    """Fields that are not named here are kept (custom resources may ask for that)."""
    _fields: Mapping[str, Schema] | Callable[[], Mapping[str, Schema]] = field(default_factory=dict)
    _items: Schema | Callable[[], Schema] | None = None

    @property
    def fields(self) -> Mapping[str, Schema]:
        """The named fields of an object."""
        if callable(self._fields):  # several times faster to ask than whether it is a Mapping
            self._fields = self._fields()
        return self._fields

    @property
    def items(self) -> Schema:
        """What a list or a map holds."""
        if self._items is None:
            return ANYTHING
        if not isinstance(self._items, Schema):
            self._items = self._items()
        return self._items

    def child(self, key: str) -> Schema | None:
        """The schema of one key: a field of an object, a value of a map; None for an unknown field."""
        if self.shape == "object":
            return self.fields.get(key)
        return self.items if self.shape == "map" else ANYTHING


ANYTHING = Schema("any")
