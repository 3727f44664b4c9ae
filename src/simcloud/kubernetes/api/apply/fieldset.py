"""Sets of field paths in the format of managedFields.

A set is the JSON that the API calls FieldsV1: ``{"f:spec": {"f:replicas": {}}}``. Keys are the steps of paths:
``f:name`` a field, ``k:{"name":"x"}`` an item of a keyed list, ``v:"x"`` a plain item, ``i:0`` an index. An empty
object marks a member; a member with members below it is marked with ``"."``. Sets share their parts and are
immutable; every function keeps the canonical order.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, TypeAlias

import msgspec

Fields: TypeAlias = dict[str, Any]
"""A set of paths; or what lies below one step of it."""

SELF = "."
LEAF: Fields = {}
"""What lies below a member that has nothing below it."""

_SHARED_SETS = 4096
_shared: dict[bytes, Fields] = {}
_RANKS = {"f": 0, "k": 1, "v": 2, "i": 3}


def is_member(below: Fields) -> bool:
    """Whether the step that this lies below is itself in the set."""
    return not below or SELF in below


def union(left: Fields, right: Fields) -> Fields:
    """The paths of either set; the left one itself if it has them all."""
    if left is right or not right:
        return left
    if not left:
        return right
    merged: Fields | None = None
    for step, below in right.items():
        there = left.get(step)
        if there is None:
            both = below
        elif there is below or step == SELF:
            continue
        else:
            both = _union_below(there, below)
        if both is not there:
            merged = dict(left) if merged is None else merged
            merged[step] = both
    if merged is None:
        return left
    return sort_fields(merged) if len(merged) > len(left) else merged


def _union_below(left: Fields, right: Fields) -> Fields:
    """The same below a step that is in both, where an empty object means the step itself."""
    if not right:
        return left if is_member(left) else _with_self(left)
    if not left:
        return right if is_member(right) else _with_self(right)
    return union(left, right)


def difference(left: Fields, right: Fields) -> Fields:
    """The paths of the left set that are not in the right one; the left one itself if that is all of them.

    A path does not cover those below it.
    """
    if right.keys().isdisjoint(left):
        return left
    kept: Fields = {}
    same = True
    for step, below in left.items():
        other = right.get(step)
        if other is None or step == SELF:
            kept[step] = below
            continue
        stays = is_member(below) and not is_member(other)
        inner = _below(below)
        rest = difference(inner, _below(other))
        if rest is inner and stays == is_member(below):
            kept[step] = below
        else:
            same = False
            _keep(kept, step, stays, rest)
    return left if same else kept


def recursive_difference(left: Fields, right: Fields) -> Fields:
    """The paths of the left set that are neither in the right one nor below one that is."""
    kept: Fields = {}
    for step, below in left.items():
        other = right.get(step)
        if other is None or step == SELF:
            kept[step] = below
        elif not is_member(other):
            _keep(kept, step, is_member(below), recursive_difference(_below(below), other))
    return kept


def intersection(left: Fields, right: Fields) -> Fields:
    """The paths of both sets."""
    kept: Fields = {}
    for step, below in left.items():
        other = right.get(step)
        if other is not None and step != SELF:
            both = is_member(below) and is_member(other)
            _keep(kept, step, both, intersection(_below(below), _below(other)))
    return kept


def paths(fields: Fields, prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every path as its steps; of one parent first all members, then what lies below them."""
    steps = [step for step in fields if step != SELF]
    for step in steps:
        if is_member(fields[step]):
            yield (*prefix, step)
    for step in steps:
        yield from paths(fields[step], (*prefix, step))


def has(fields: Fields, path: tuple[str, ...]) -> bool:
    """Whether a path is in the set."""
    below: Fields | None = fields
    for step in path:
        if below is None:
            return False
        below = below.get(step)
    return below is not None and is_member(below)


def sort_fields(fields: Fields) -> Fields:
    """The same steps in canonical order."""
    if len(fields) < 2:
        return fields
    return {step: fields[step] for step in sorted(fields, key=_rank)}


def intern_fields(fields: Fields) -> Fields:
    """The same set, as an earlier equal one if there was one: many objects are written alike."""
    try:
        encoded = msgspec.json.encode(fields)
    except UnicodeEncodeError:  # half a character, as JSON can carry it
        return fields
    if len(_shared) > _SHARED_SETS:
        _shared.clear()
    return _shared.setdefault(encoded, fields)


@lru_cache(maxsize=65536)
def step_of_field(name: str) -> str:
    """The step of a field."""
    return f"f:{name}"


def step_of_item(values: dict[str, Any]) -> str:
    """The step of an item of a keyed list, from its keys' values."""
    return f"k:{msgspec.json.encode(values, order='deterministic').decode()}"


def step_of_value(value: Any) -> str:
    """The step of a plain item of a list that is a set."""
    return f"v:{msgspec.json.encode(value).decode()}"


def format_path(path: tuple[str, ...]) -> str:
    """A path as messages print it: ``.spec.containers[name="web"].image``."""
    return "".join(map(_format_step, path))


def parse(fields: Any) -> Fields:
    """FieldsV1 as a client sent it, in canonical form. Unknown kinds of steps are left out.

    Raises ValueError where it is not FieldsV1.
    """
    if not isinstance(fields, dict):
        raise ValueError("a set of fields is an object")
    found: Fields = {}
    for step, inner in fields.items():
        if step == SELF:
            found[SELF] = LEAF
        elif step[:2] in ("f:", "k:", "v:", "i:"):
            below = parse(inner)
            _rank(step)
            found[step] = LEAF if below.keys() == {SELF} else below
    return sort_fields(found)


def _below(below: Fields) -> Fields:
    """What lies below a step, without the mark of the step itself."""
    if SELF not in below:
        return below
    return {step: rest for step, rest in below.items() if step != SELF}


def _with_self(below: Fields) -> Fields:
    return {SELF: LEAF, **below}


def _keep(kept: Fields, step: str, member: bool, below: Fields) -> None:
    """Put a step back that is itself a member or has members below it."""
    if member:
        kept[step] = _with_self(below) if below else LEAF
    elif below:
        kept[step] = below


@lru_cache(maxsize=65536)
def _rank(step: str) -> tuple[int, Any]:
    """Where a step stands: fields, keyed items, values, places; raises ValueError for what is no step."""
    if step == SELF:
        return -1, ""
    kind, rest = _RANKS[step[0]], step[2:]
    if kind == 0:
        return kind, rest
    value = msgspec.json.decode(rest)
    if kind == 1:
        if not isinstance(value, dict):
            raise ValueError("the keys of an item are an object")
        return kind, tuple((name, _value_rank(value[name])) for name in sorted(value))
    return kind, (("", _value_rank(value)),)


def _value_rank(value: Any) -> tuple[int, Any]:
    """Numbers before text, text before truths, then whatever else as its JSON."""
    if isinstance(value, bool):
        return 2, value
    if isinstance(value, int | float):
        return 0, value
    if isinstance(value, str):
        return 1, value
    return 3, msgspec.json.encode(value, order="deterministic")


def _format_step(step: str) -> str:
    kind, rest = step[0], step[2:]
    if kind == "f":
        return f".{rest}"
    if kind == "i":
        return f"[{rest}]"
    if kind == "v":
        return f"[={rest}]"
    keys = msgspec.json.decode(rest)
    return f"[{','.join(f'{name}={msgspec.json.encode(keys[name]).decode()}' for name in sorted(keys))}]"
