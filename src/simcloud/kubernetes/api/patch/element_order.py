"""The order of a merged list.

Items of the patch have the order of the patch (or of its ``$setElementOrder``), the others their old order; both are
interleaved so that neither order is violated and, where both items existed before, the earlier one stays earlier.
"""

from __future__ import annotations

from typing import Any

from simcloud.golang import sprint
from simcloud.kubernetes.api.patch.errors import Unclassified, go_type

Identity = tuple[str, Any]
"""What tells items of a list apart: the merge key's value or, of plain values, the value itself."""

_EXACT_SORT = 20
"""Up to this length Go sorts by plain insertion, which shows where the order is not total."""


def no_merge_key(item: Any, merge_key: str) -> Unclassified:
    """The refusal of an item without its key."""
    return Unclassified(f"map: {sprint(item)} does not contain declared merge key: {merge_key}")


def bad_type(wanted: Any, found: Any) -> Unclassified:
    """The refusal of a value that is not of the type of another."""
    return Unclassified(f"expected a {go_type(wanted)}, but received a {go_type(found)}")


def identity(item: Any, merge_key: str) -> Identity:
    """An item's identity in a list with this merge key (none for plain values)."""
    value = item
    if merge_key:
        if not isinstance(item, dict):
            raise bad_type({}, item)
        if merge_key not in item:
            raise no_merge_key(item, merge_key)
        value = item[merge_key]
    if isinstance(value, dict | list):
        raise Unclassified(f"runtime error: comparing uncomparable type {go_type(value)}")
    return type(value).__name__, value


def in_order(merged: list[Any], named: list[Any], before: list[Any], merge_key: str) -> list[Any]:
    """A merged list in its order: ``named`` is the patch's order, ``before`` the list as it was."""
    named_places = _places(named, merge_key)
    before_places = _places(before, merge_key)
    patched = [item for item in merged if identity(item, merge_key) in named_places]
    others = [item for item in merged if identity(item, merge_key) not in named_places]
    return _woven(
        _sort_by_place(others, before_places, merge_key),
        _sort_by_place(patched, named_places, merge_key),
        before_places,
        merge_key,
    )


def _places(order: list[Any], merge_key: str) -> dict[Identity, int]:
    places: dict[Identity, int] = {}
    for place, item in enumerate(order):
        places.setdefault(identity(item, merge_key), place)
    return places


def _sort_by_place(items: list[Any], places: dict[Identity, int], merge_key: str) -> list[Any]:
    """Items by their places. One without a place is, as in the genuine server, before whatever it is compared with."""
    keyed = [(places.get(identity(item, merge_key), -1), item) for item in items]
    if len(keyed) > _EXACT_SORT or all(place >= 0 for place, _ in keyed):
        return [item for _, item in sorted(keyed, key=lambda pair: pair[0])]
    for end in range(1, len(keyed)):
        at = end
        while at and (min(keyed[at][0], keyed[at - 1][0]) < 0 or keyed[at][0] < keyed[at - 1][0]):
            keyed[at - 1], keyed[at] = keyed[at], keyed[at - 1]
            at -= 1
    return [item for _, item in keyed]


def _woven(others: list[Any], patched: list[Any], before: dict[Identity, int], merge_key: str) -> list[Any]:
    """Both lists in one, each in its order; patched items first unless another stood before them."""
    woven: list[Any] = []
    at = 0
    for item in patched:
        place = before.get(identity(item, merge_key), -1)
        while at < len(others) and 0 <= before.get(identity(others[at], merge_key), -1) < place:
            woven.append(others[at])
            at += 1
        woven.append(item)
    return woven + others[at:]
