"""Sets of completion indexes, kept and written as intervals: ``1,3-5,7``."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from simcloud.kubernetes.api.objects import Object

INDEX = "batch.kubernetes.io/job-completion-index"

Interval: TypeAlias = tuple[int, int]


class Indexes:
    """An ordered set of indexes. Never changed: additions give a new one."""

    __slots__ = ("_intervals",)

    def __init__(self, intervals: Iterable[Interval] = ()) -> None:
        merged: list[Interval] = []
        for first, last in sorted(intervals):
            if merged and first <= merged[-1][1] + 1:
                merged[-1] = (merged[-1][0], max(merged[-1][1], last))
            else:
                merged.append((first, last))
        self._intervals = merged

    @classmethod
    def parse(cls, text: str, completions: int) -> Indexes:
        """Read the written form; what is out of range is left out."""
        found = []
        for part in text.split(",") if text else ():
            first, _, last = part.partition("-")
            if not first.isdecimal() or (last and not last.isdecimal()):
                continue
            if int(first) < completions:
                found.append((int(first), min(int(last or first), completions - 1)))
        return cls(found)

    def plus(self, indexes: Iterable[int]) -> Indexes:
        """These and some more."""
        return Indexes([*self._intervals, *((index, index) for index in indexes)])

    def union(self, other: Indexes) -> Indexes:
        """Those of both."""
        return Indexes([*self._intervals, *other._intervals])

    def free(self, count: int, completions: int) -> list[int]:
        """The first indexes below a limit that are not in the set."""
        found: list[int] = []
        for first, last in self._gaps(completions):
            found.extend(range(first, min(last, first + count - len(found) - 1) + 1))
            if len(found) >= count:
                break
        return found

    def _gaps(self, completions: int) -> Iterator[Interval]:
        start = 0
        for first, last in self._intervals:
            if start < min(first, completions):
                yield start, min(first, completions) - 1
            start = last + 1
        if start < completions:
            yield start, completions - 1

    def __contains__(self, index: int) -> bool:
        place = bisect_left(self._intervals, index, key=lambda interval: interval[1])
        return place < len(self._intervals) and self._intervals[place][0] <= index

    def __len__(self) -> int:
        return sum(last - first + 1 for first, last in self._intervals)

    def __str__(self) -> str:
        return ",".join(
            str(first) if first == last else f"{first}{',' if last == first + 1 else '-'}{last}"
            for first, last in self._intervals
        )


def index_of(pod: Object) -> int | None:
    """The completion index of a pod, if it has one."""
    text = (pod["metadata"].get("annotations") or {}).get(INDEX, "")
    return int(text) if text.isascii() and text.isdecimal() else None
