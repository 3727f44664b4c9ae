"""A limit on the work of one command.

Commands run one after the other, so one counter is enough: the server refills it after each command, loops burn it,
and an empty counter ends the command as ``maxTimeMS`` would.
"""

from __future__ import annotations

from typing import Final

from simcloud.datastores.mongodb.failures import MongoFailure

STEPS: Final = 1_000_000


class Fuel:
    """The steps that a command may still take."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = STEPS


_TANK: Final = Fuel()


def refill() -> None:
    """Reset the counter for the next command."""
    _TANK.left = STEPS


def count_steps() -> int:
    """Return the number of steps that the command has taken."""
    return STEPS - _TANK.left


def burn(steps: int = 1) -> None:
    """Use up steps; end the command when none are left."""
    _TANK.left -= steps
    if _TANK.left < 0:
        raise MongoFailure(50, "operation exceeded time limit")
