"""The rows of a store that one receiver has added; several receivers may share a store.

Consecutive rows are one run, so a single receiver has a single run.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice


class RowRuns:
    """Runs of rows in the order of arrival; ``count`` is the number of rows."""

    def __init__(self) -> None:
        self.count = 0
        self._runs: list[range] = []

    def note(self, start: int, stop: int) -> None:
        """Add the rows from ``start`` up to ``stop``, which are newer than all others."""
        self.count += stop - start
        if self._runs and self._runs[-1].stop == start:
            start = self._runs.pop().start
        self._runs.append(range(start, stop))

    def forget_before(self, row: int) -> None:
        """Remove the rows before a row, which the store has dropped."""
        if not self._runs or row <= self._runs[0].start:
            return
        for run in self.within(0, row):
            self.count -= len(run)
        del self._runs[: self._first_after(row)]
        if self._runs and self._runs[0].start < row:
            self._runs[0] = range(row, self._runs[0].stop)

    def within(self, low: int, high: int) -> Iterator[range]:
        """Yield the parts of runs between two rows."""
        for run in islice(self._runs, self._first_after(low), None):
            if run.start >= high:
                return
            yield range(max(run.start, low), min(run.stop, high))

    def __contains__(self, row: int) -> bool:
        return any(self.within(row, row + 1))

    def _first_after(self, row: int) -> int:
        """Return the number of runs that end before a row."""
        return bisect_right(self._runs, row, key=lambda run: run.stop)
