"""Finds the common lines of two files, with the same choices as GNU diff.

Lines are numbers here: equal numbers are equal lines. The shortest edit script is found by searching from both ends
at once and dividing at the meeting point (Myers).
"""

from __future__ import annotations

from collections.abc import Callable

from simcloud.userland.commands.text.diffs.boundaries import settle
from simcloud.userland.commands.text.diffs.discarded_lines import KEEP, droppable

Pay = Callable[[int], None]
_COST_LIMIT = 4096
"""Edit steps after which the search accepts the best point reached so far."""

_STEPS_PER_TURN = 16
_UNREACHED = 1 << 60


def mark_changes(one: list[int], two: list[int], minimal: bool, pay: Pay) -> tuple[bytearray, bytearray]:
    """For each line of both sequences whether it is changed (deleted or inserted)."""
    marks = (bytearray(len(one) + 1), bytearray(len(two) + 1))
    dropped = (
        [bytearray(len(one)), bytearray(len(two))] if minimal else [droppable(one, two), droppable(two, one)]
    )
    kept: list[list[int]] = []
    for side, drops in enumerate(dropped):
        kept.append([number for number, verdict in enumerate(drops) if verdict == KEEP])
        for number, verdict in enumerate(drops):
            marks[side][number] = verdict != KEEP
    matcher = _Matcher([one[n] for n in kept[0]], [two[n] for n in kept[1]], minimal, pay)
    deleted, inserted = matcher.run()
    for number in deleted:
        marks[0][kept[0][number]] = 1
    for number in inserted:
        marks[1][kept[1][number]] = 1
    settle(one, marks[0], marks[1])
    settle(two, marks[1], marks[0])
    return marks


class _Matcher:
    def __init__(self, one: list[int], two: list[int], minimal: bool, pay: Pay) -> None:
        self._one = one
        self._two = two
        self._minimal = minimal
        self._pay = pay
        size = len(one) + len(two) + 3
        self._base = len(two) + 1
        self._forward = [0] * size
        self._backward = [0] * size
        limit = 1
        while size:
            limit, size = limit << 1, size >> 2
        self._limit = max(_COST_LIMIT, limit)

    def run(self) -> tuple[list[int], list[int]]:
        """The positions that are in no common subsequence: of the first and of the second sequence."""
        deleted: list[int] = []
        inserted: list[int] = []
        pending = [(0, len(self._one), 0, len(self._two), self._minimal)]
        while pending:
            left, right, top, bottom, minimal = pending.pop()
            left, right, top, bottom = self._trim(left, right, top, bottom)
            if left == right:
                inserted += range(top, bottom)
            elif top == bottom:
                deleted += range(left, right)
            else:
                x, y, low_minimal, high_minimal = self._middle(left, right, top, bottom, minimal)
                pending.append((x, right, y, bottom, high_minimal))
                pending.append((left, x, top, y, low_minimal))
        return deleted, inserted

    def _trim(self, left: int, right: int, top: int, bottom: int) -> tuple[int, int, int, int]:
        one, two = self._one, self._two
        while left < right and top < bottom and one[left] == two[top]:
            left, top = left + 1, top + 1
        while left < right and top < bottom and one[right - 1] == two[bottom - 1]:
            right, bottom = right - 1, bottom - 1
        return left, right, top, bottom

    def _middle(
        self, left: int, right: int, top: int, bottom: int, minimal: bool
    ) -> tuple[int, int, bool, bool]:
        """A point on a shortest path, found where searches from both corners meet.

        Diagonals are numbered x - y; each search keeps how far it got on each. With it, whether the parts
        before and after the point must be searched to the end as well.
        """
        one, two, forward, backward, base = self._one, self._two, self._forward, self._backward, self._base
        lowest, highest = left - bottom, right - top
        start, goal = left - top, right - bottom
        f_low = f_high = start
        b_low = b_high = goal
        odd = (start - goal) & 1
        forward[base + start] = left
        backward[base + goal] = right
        cost = 0
        while True:
            cost += 1
            self._pay(1 + cost // _STEPS_PER_TURN)
            if f_low > lowest:
                f_low -= 1
                forward[base + f_low - 1] = -1
            else:
                f_low += 1
            if f_high < highest:
                f_high += 1
                forward[base + f_high + 1] = -1
            else:
                f_high -= 1
            for diagonal in range(f_high, f_low - 1, -2):
                at = base + diagonal
                below, above = forward[at - 1], forward[at + 1]
                x = above if below < above else below + 1
                y = x - diagonal
                while x < right and y < bottom and one[x] == two[y]:
                    x, y = x + 1, y + 1
                forward[at] = x
                if odd and b_low <= diagonal <= b_high and backward[at] <= x:
                    return x, y, True, True
            if b_low > lowest:
                b_low -= 1
                backward[base + b_low - 1] = _UNREACHED
            else:
                b_low += 1
            if b_high < highest:
                b_high += 1
                backward[base + b_high + 1] = _UNREACHED
            else:
                b_high -= 1
            for diagonal in range(b_high, b_low - 1, -2):
                at = base + diagonal
                below, above = backward[at - 1], backward[at + 1]
                x = below if below < above else above - 1
                y = x - diagonal
                while left < x and top < y and one[x - 1] == two[y - 1]:
                    x, y = x - 1, y - 1
                backward[at] = x
                if not odd and f_low <= diagonal <= f_high and x <= forward[at]:
                    return x, y, True, True
            if not minimal and cost >= self._limit:
                return self._best_so_far(
                    (left, right, top, bottom), range(f_high, f_low - 1, -2), range(b_high, b_low - 1, -2)
                )

    def _best_so_far(
        self, box: tuple[int, int, int, int], f_diagonals: range, b_diagonals: range
    ) -> tuple[int, int, bool, bool]:
        """The point that one of the searches brought furthest."""
        left, right, top, bottom = box
        furthest, forward_x = -1, left
        for diagonal in f_diagonals:
            x = min(self._forward[self._base + diagonal], right)
            if x - diagonal > bottom:
                x = bottom + diagonal
            if furthest < 2 * x - diagonal:
                furthest, forward_x = 2 * x - diagonal, x
        nearest, backward_x = _UNREACHED, right
        for diagonal in b_diagonals:
            x = max(left, self._backward[self._base + diagonal])
            if x - diagonal < top:
                x = top + diagonal
            if 2 * x - diagonal < nearest:
                nearest, backward_x = 2 * x - diagonal, x
        if (right + bottom) - nearest < furthest - (left + top):
            return forward_x, furthest - forward_x, True, False
        return backward_x, nearest - backward_x, False, True
