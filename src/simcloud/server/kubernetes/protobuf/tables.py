"""The field numbers of every kind, loaded from ``messages.json.gz`` on first use.

``scripts/make_protobuf_tables.py`` generates that file from the genuine programs and documents its format. A field
also has the options of Go's JSON encoder, because an object must look the same in both formats.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import msgspec

from simcloud.kubernetes.api.schema import kinds

Shape = Literal[
    "message",  # fields of their own
    "string",
    "bytes",  # base64 text in JSON
    "bool",
    "int32",
    "int64",
    "double",
    "strings",  # a message around a list of strings, so that the list can be null
    "time",
    "micro_time",
    "quantity",
    "int_or_string",
    "json",  # raw JSON text
]

_PREFIX = "io.k8s."


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a message."""

    number: int
    name: str
    """Its JSON name; empty for a message whose fields JSON shows among those of the outer one."""
    shape: Shape
    message: str
    """The message's name, for the shape ``message``."""
    go_name: str
    pointer: bool
    """It may be absent, which is not the same as zero; what is no pointer is always written."""
    omit_empty: bool
    omit_zero: bool
    repeated: bool
    mapped: bool
    """A map from strings."""

    @property
    def nullable(self) -> bool:
        """Whether Go distinguishes an absent value from a zero one."""
        return self.pointer or self.repeated or self.mapped or self.shape in {"bytes", "strings"}


@dataclass(frozen=True, slots=True)
class Message:
    """The fields of one type."""

    name: str
    fields: tuple[Field, ...]
    """In the order in which Go prints them."""
    by_number: Mapping[int, Field]
    """In the order in which they are written."""


def message_of(group: str, version: str, kind: str) -> Message | None:
    """Return the message of a built-in kind, None if there is no such kind."""
    name = kinds().get((group, version, kind), "").removeprefix(_PREFIX)
    return message(name) if name in _load() else None


@cache
def message(name: str) -> Message:
    """Return a message by its name: a definition's without ``io.k8s.``."""
    fields = tuple(_field(*entry) for entry in _load()[name])
    ordered = sorted(fields, key=lambda field: field.number)
    return Message(name.rpartition(".")[2], fields, {field.number: field for field in ordered})


def _field(number: int, name: str, shape: Shape, flags: str, message: str = "", go_name: str = "") -> Field:
    return Field(
        number,
        name,
        shape,
        message,
        go_name or name[:1].upper() + name[1:],
        pointer="*" in flags,
        omit_empty="o" in flags,
        omit_zero="z" in flags,
        repeated="r" in flags,
        mapped="m" in flags,
    )


@cache
def _load() -> Mapping[str, list[Any]]:
    packed = (files("simcloud.server.kubernetes.protobuf") / "messages.json.gz").read_bytes()
    loaded: dict[str, list[Any]] = msgspec.json.decode(gzip.decompress(packed))
    return loaded
