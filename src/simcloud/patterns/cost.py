"""Paying for the work that searching takes, beyond what reading the line already paid for."""

from __future__ import annotations

from collections.abc import Callable

from simcloud.patterns.compile import Match, Regex

# Backtracking is slow: so many of its steps cost a turn.
STEPS_A_TURN = 100
# Searching a long line again and again is quadratic at worst: so many bytes ahead cost a turn.
BYTES_A_TURN = 1 << 18
# A long line may match at each of its bytes: so many searches further on in a line cost a turn.
SEARCHES_A_TURN = 4

Search = Callable[[bytes, int], Match | None]


def paid_search(regex: Regex, spend_turn: Callable[[int], None]) -> Search:
    """Searching with a pattern, as ``regex.search`` does, at the caller's expense."""
    quick = regex.bounded and not regex.backtracks
    further = 0

    def search(line: bytes, start: int) -> Match | None:
        nonlocal further
        if start:
            further += 1
            if further % SEARCHES_A_TURN == 0:
                spend_turn(1)
        if quick:
            return regex.search(line, start)
        if start and len(line) - start >= BYTES_A_TURN:
            spend_turn((len(line) - start) // BYTES_A_TURN)
        steps = regex.steps
        found = regex.search(line, start)
        if regex.steps != steps:
            spend_turn((regex.steps - steps) // STEPS_A_TURN)
        return found

    return search
