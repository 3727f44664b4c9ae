"""A bound on the work of one command, whatever a client thinks up.

A command runs to its end before anything else happens, so one counter does for all: the server fills it
after each command, loops burn it, and an empty one ends the command as ``maxTimeMS`` would.
"""

from __future__ import annotations

from typing import Final

from simcloud.datastores.mongodb.failures import MongoFailure

STEPS: Final = 1_000_000


class Fuel:
    """What is left of a command's work."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = STEPS


_TANK: Final = Fuel()


def refill() -> None:
    """What comes next begins anew."""
    _TANK.left = STEPS


def burned() -> int:
    """How many steps the command has taken."""
    return STEPS - _TANK.left


def burn(steps: int = 1) -> None:
    """Use up steps; end the command when none are left."""
    _TANK.left -= steps
    if _TANK.left < 0:
        raise MongoFailure(50, "operation exceeded time limit")
