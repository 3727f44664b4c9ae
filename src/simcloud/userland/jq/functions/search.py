"""Functions that search for one value in another."""

from __future__ import annotations

from simcloud.userland.jq.functions.registry import native, refuse_both
from simcloud.userland.jq.output import MAX_DEPTH
from simcloud.userland.jq.paths import index, places_of
from simcloud.userland.jq.run import Run, too_much
from simcloud.userland.jq.tree import Value
from simcloud.userland.jq.values import compare, kind_of


@native("contains", 1)
def contains(run: Run, value: Value, other: Value) -> Value:
    """Whether the other is part of the input, all the way down."""
    if kind_of(value) != kind_of(other):
        refuse_both(value, other, "cannot have their containment checked")
    return _contains(run, value, other, 0)


def _contains(run: Run, value: Value, other: Value, depth: int) -> bool:
    if depth > MAX_DEPTH:
        raise too_much(f"values nested more than {MAX_DEPTH} deep cannot be searched")
    run.spend(1)
    kind = type(value)
    if kind is not type(other):
        return False
    if kind is dict:
        return all(
            key in value and _contains(run, value[key], item, depth + 1) for key, item in other.items()
        )
    if kind is list:
        return all(any(_contains(run, ours, item, depth + 1) for ours in value) for item in other)
    if kind is str:
        return other.partition("\0")[0] in value.partition("\0")[0]
    return compare(value, other, run.spend) == 0


@native("indices", 1)
def indices(run: Run, value: Value, wanted: Value) -> Value:
    """All places where something occurs."""
    if type(value) is list:
        return places_of(value, wanted if type(wanted) is list else [wanted], run)
    if type(value) is str and type(wanted) is str:
        return text_indices(run, value, wanted)
    return index(value, wanted, run)


@native("_strindices", 1)
def text_indices(run: Run, value: Value, wanted: Value) -> Value:
    """All places, in bytes, where one text occurs in another, not overlapping."""
    if type(value) is not str or type(wanted) is not str:
        refuse_both(value, wanted, "cannot be searched, as they are not both strings")
    data, part = value.encode(), wanted.encode()
    run.spend_copy(len(data))
    found: list[Value] = []
    place = data.find(part) if part else -1
    while place >= 0:
        run.spend(1)
        found.append(float(place))
        place = data.find(part, place + len(part))
    return found


@native("index", 1)
def first_index(run: Run, value: Value, wanted: Value) -> Value:
    """The first place where something occurs."""
    return index(indices(run, value, wanted), 0.0, run)


@native("rindex", 1)
def last_index(run: Run, value: Value, wanted: Value) -> Value:
    """The last place where something occurs."""
    last = index(indices(run, value, wanted), {"start": -1.0, "end": None}, run)
    return index(last, 0.0, run)
