"""Which rows of a store came by one receiver: several write to one store, and each knows only of its own.

Rows that came one after the other are one run, so a receiver that is alone has a single one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice


class Received:
    """Rows in runs, in the order in which they came; ``count`` is how many they are."""

    def __init__(self) -> None:
        self.count = 0
        self._runs: list[range] = []

    def note(self, start: int, stop: int) -> None:
        """The rows from ``start`` up to before ``stop`` came, later than all that are known."""
        self.count += stop - start
        if self._runs and self._runs[-1].stop == start:
            start = self._runs.pop().start
        self._runs.append(range(start, stop))

    def forget_before(self, row: int) -> None:
        """The store has dropped the rows before that one."""
        for run in self.within(0, row):
            self.count -= len(run)
        del self._runs[: self._first_after(row)]
        if self._runs and self._runs[0].start < row:
            self._runs[0] = range(row, self._runs[0].stop)

    def within(self, low: int, high: int) -> Iterator[range]:
        """The runs from one row up to before another, cut off there."""
        for run in islice(self._runs, self._first_after(low), None):
            if run.start >= high:
                return
            yield range(max(run.start, low), min(run.stop, high))

    def __contains__(self, row: int) -> bool:
        return any(self.within(row, row + 1))

    def _first_after(self, row: int) -> int:
        """How many runs end before that row."""
        return bisect_right(self._runs, row, key=lambda run: run.stop)
