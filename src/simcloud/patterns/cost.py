"""Charges the work of a search, beyond what reading the line has already cost."""

from __future__ import annotations

from collections.abc import Callable

from simcloud.patterns.compile import Match, Regex

# Backtracking steps that cost one turn.
STEPS_A_TURN = 100
# Repeated searches of a long line are quadratic at worst: remaining bytes that cost one turn.
BYTES_A_TURN = 1 << 18
# A long line may match at each of its bytes: further searches in a line that cost one turn.
SEARCHES_A_TURN = 4

Search = Callable[[bytes, int], Match | None]


def meter_search(regex: Regex, spend_turn: Callable[[int], None]) -> Search:
    """Return a function that searches like ``regex.search`` and charges its cost in turns."""
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
