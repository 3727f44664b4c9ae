"""Go's ``sort.Sort``.

It is not stable, and with an inconsistent order its result depends on its exact steps; ``--sort-by`` has both (equal
times, missing fields). So the steps are the same: insertion sort up to a dozen items, otherwise quicksort with median
pivots that detects and breaks patterns, and heapsort for the worst case.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

_Item = TypeVar("_Item")

_FEW = 12
_INCREASING, _DECREASING, _UNKNOWN = 1, 2, 0


def go_sorted(items: list[_Item], less: Callable[[_Item, _Item], bool]) -> list[_Item]:
    """The items in the order in which Go's sort leaves them."""
    sorter = _Sorter(list(items), less)
    sorter.sort(0, len(items), len(items).bit_length())
    return sorter.items


class _Sorter(Generic[_Item]):
    def __init__(self, items: list[_Item], less: Callable[[_Item, _Item], bool]) -> None:
        self.items = items
        self._of = less

    def _less(self, i: int, j: int) -> bool:
        return self._of(self.items[i], self.items[j])

    def _swap(self, i: int, j: int) -> None:
        self.items[i], self.items[j] = self.items[j], self.items[i]

    def sort(self, low: int, high: int, patience: int) -> None:
        """Sort from ``low`` up to ``high``; ``patience`` is how many bad pivots are borne."""
        balanced = partitioned = True
        while True:
            length = high - low
            if length <= _FEW:
                self._insertion(low, high)
                return
            if patience == 0:
                self._heap(low, high)
                return
            if not balanced:
                self._break_patterns(low, high)
                patience -= 1
            pivot, hint = self._pivot(low, high)
            if hint == _DECREASING:
                self._reverse(low, high)
                pivot = (high - 1) - (pivot - low)
                balanced = partitioned = True
                hint = _INCREASING
            if balanced and partitioned and hint == _INCREASING and self._nearly_sorted(low, high):
                return
            if low > 0 and not self._less(low - 1, pivot):
                low = self._partition_equal(low, high, pivot)
                continue
            middle, partitioned = self._partition(low, high, pivot)
            left, right = middle - low, high - middle
            balanced = min(left, right) >= length // 8
            if left < right:
                self.sort(low, middle, patience)
                low = middle + 1
            else:
                self.sort(middle + 1, high, patience)
                high = middle

    def _insertion(self, low: int, high: int) -> None:
        for i in range(low + 1, high):
            j = i
            while j > low and self._less(j, j - 1):
                self._swap(j, j - 1)
                j -= 1

    def _heap(self, first: int, last: int) -> None:
        high = last - first
        for i in range((high - 1) // 2, -1, -1):
            self._sift(i, high, first)
        for i in range(high - 1, -1, -1):
            self._swap(first, first + i)
            self._sift(0, i, first)

    def _sift(self, root: int, high: int, first: int) -> None:
        while (child := 2 * root + 1) < high:
            if child + 1 < high and self._less(first + child, first + child + 1):
                child += 1
            if not self._less(first + root, first + child):
                return
            self._swap(first + root, first + child)
            root = child

    def _partition(self, low: int, high: int, pivot: int) -> tuple[int, bool]:
        self._swap(low, pivot)
        i, j = low + 1, high - 1
        while i <= j and self._less(i, low):
            i += 1
        while i <= j and not self._less(j, low):
            j -= 1
        if i > j:
            self._swap(j, low)
            return j, True
        self._swap(i, j)
        i, j = i + 1, j - 1
        while True:
            while i <= j and self._less(i, low):
                i += 1
            while i <= j and not self._less(j, low):
                j -= 1
            if i > j:
                break
            self._swap(i, j)
            i, j = i + 1, j - 1
        self._swap(j, low)
        return j, False

    def _partition_equal(self, low: int, high: int, pivot: int) -> int:
        self._swap(low, pivot)
        i, j = low + 1, high - 1
        while True:
            while i <= j and not self._less(low, i):
                i += 1
            while i <= j and self._less(low, j):
                j -= 1
            if i > j:
                return i
            self._swap(i, j)
            i, j = i + 1, j - 1

    def _nearly_sorted(self, low: int, high: int) -> bool:
        """Try a few steps of insertion sort; return whether they were enough."""
        i = low + 1
        for _ in range(5):
            while i < high and not self._less(i, i - 1):
                i += 1
            if i == high:
                return True
            if high - low < 50:
                return False
            self._swap(i, i - 1)
            if i - low >= 2:
                for j in range(i - 1, 0, -1):
                    if not self._less(j, j - 1):
                        break
                    self._swap(j, j - 1)
            if high - i >= 2:
                for j in range(i + 1, high):
                    if not self._less(j, j - 1):
                        break
                    self._swap(j, j - 1)
        return False

    def _break_patterns(self, low: int, high: int) -> None:
        length = high - low
        if length < 8:
            return
        random, modulus = length, 1 << length.bit_length()
        at = low + (length // 4) * 2 - 1
        for i in range(3):
            random ^= (random << 13) & 0xFFFFFFFFFFFFFFFF
            random ^= random >> 7
            random ^= (random << 17) & 0xFFFFFFFFFFFFFFFF
            other = random & (modulus - 1)
            if other >= length:
                other -= length
            self._swap(at + i, low + other)

    def _pivot(self, low: int, high: int) -> tuple[int, int]:
        length = high - low
        i, j, k = low + length // 4, low + length // 4 * 2, low + length // 4 * 3
        self._swaps = 0
        if length >= 8:
            if length >= 50:
                i, j, k = self._adjacent(i), self._adjacent(j), self._adjacent(k)
            j = self._median(i, j, k)
        if self._swaps == 0:
            return j, _INCREASING
        return j, _DECREASING if self._swaps == 12 else _UNKNOWN

    def _adjacent(self, at: int) -> int:
        return self._median(at - 1, at, at + 1)

    def _median(self, a: int, b: int, c: int) -> int:
        a, b = self._order(a, b)
        b, c = self._order(b, c)
        a, b = self._order(a, b)
        return b

    def _order(self, a: int, b: int) -> tuple[int, int]:
        if self._less(b, a):
            self._swaps += 1
            return b, a
        return a, b

    def _reverse(self, low: int, high: int) -> None:
        self.items[low:high] = self.items[low:high][::-1]
