"""Dotted paths into documents, with the traversal of arrays that queries use.

``leaves`` returns every value that a path reaches: an array on the way stands for each of its documents, and for a
single element where the path has an index. A missing value is ``MISSING``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final


class _Missing:
    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING: Final = _Missing()
MAX_DEPTH: Final = 100
"""MongoDB's own limit on nesting."""


@lru_cache(maxsize=4096)
def split(path: str) -> tuple[str, ...]:
    """Return the parts of a dotted path."""
    return tuple(path.split("."))


def leaves(value: Any, parts: Sequence[str], at: int = 0) -> Iterator[Any]:
    """Yield all values at a path, arrays on the way opened; a last array is given as it is."""
    while at < len(parts):
        if value.__class__ is dict:
            value = value.get(parts[at], MISSING)
            at += 1
            if value is MISSING:
                yield MISSING
                return
        elif value.__class__ is list:
            yield from _through_array(value, parts, at)
            return
        else:
            yield MISSING
            return
    yield value


def _through_array(array: list[Any], parts: Sequence[str], at: int) -> Iterator[Any]:
    part = parts[at]
    if part.isdigit() and int(part) < len(array):
        yield from leaves(array[int(part)], parts, at + 1)
    for element in array:
        if element.__class__ is dict:
            yield from leaves(element, parts, at)


def spread(value: Any) -> Iterator[Any]:
    """Return the candidates of a comparison: the elements of an array and the array itself, or the value."""
    if value.__class__ is list:
        yield from value
    yield value


def plain_get(document: Any, parts: Sequence[str]) -> Any:
    """Return the one value at a path without going through arrays, or MISSING."""
    for part in parts:
        if document.__class__ is dict:
            document = document.get(part, MISSING)
        elif document.__class__ is list and part.isdigit() and int(part) < len(document):
            document = document[int(part)]
        else:
            return MISSING
        if document is MISSING:
            return MISSING
    return document
