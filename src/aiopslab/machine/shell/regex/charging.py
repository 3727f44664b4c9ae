"""Paying for the work that searching takes, beyond what reading the line already paid for."""

from __future__ import annotations

from collections.abc import Callable

from aiopslab.machine.shell.regex.compile import Match, Regex

# Backtracking is slow: so many of its steps cost a turn.
STEPS_A_TURN = 100
# Searching a long line again and again is quadratic at worst: so many bytes ahead cost a turn.
BYTES_A_TURN = 1 << 18

Search = Callable[[bytes, int], Match | None]


def paid_search(regex: Regex, spend_turn: Callable[[int], None]) -> Search:
    """Searching with a pattern, as ``regex.search`` does, at the caller's expense."""
    if regex.bounded and not regex.backtracks:
        return regex.search

    def search(line: bytes, start: int) -> Match | None:
        if start and len(line) - start >= BYTES_A_TURN:
            spend_turn((len(line) - start) // BYTES_A_TURN)
        steps = regex.steps
        found = regex.search(line, start)
        if regex.steps != steps:
            spend_turn((regex.steps - steps) // STEPS_A_TURN)
        return found

    return search
