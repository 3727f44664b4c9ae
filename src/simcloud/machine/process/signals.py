"""Signals: their numbers, their names, and what they do to a process that does not handle them."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Final, Literal


class Signal(IntEnum):
    """The signals of Linux on x86-64, by number."""

    HUP = 1
    INT = 2
    QUIT = 3
    ILL = 4
    TRAP = 5
    ABRT = 6
    BUS = 7
    FPE = 8
    KILL = 9
    USR1 = 10
    SEGV = 11
    USR2 = 12
    PIPE = 13
    ALRM = 14
    TERM = 15
    STKFLT = 16
    CHLD = 17
    CONT = 18
    STOP = 19
    TSTP = 20
    TTIN = 21
    TTOU = 22
    URG = 23
    XCPU = 24
    XFSZ = 25
    VTALRM = 26
    PROF = 27
    WINCH = 28
    IO = 29
    PWR = 30
    SYS = 31

    @classmethod
    def parse(cls, text: str) -> Signal | None:
        """A signal from ``9``, ``KILL``, ``SIGKILL`` or ``sigkill``; None when there is no such one."""
        name = text.upper().removeprefix("SIG")
        if name.isdigit():
            return next((signal for signal in cls if signal == int(name)), None)
        return cls.__members__.get(name)


IGNORED_BY_DEFAULT: Final = frozenset({Signal.CHLD, Signal.CONT, Signal.URG, Signal.WINCH})
STOPPING: Final = frozenset({Signal.STOP, Signal.TSTP, Signal.TTIN, Signal.TTOU})
UNCATCHABLE: Final = frozenset({Signal.KILL, Signal.STOP})

Handler = Callable[[Signal], None]
Disposition = Handler | Literal["default", "ignore"]


class Signals:
    """How one process answers signals. ``on`` sets it; the process layer asks it."""

    __slots__ = ("_dispositions",)

    def __init__(self, inherited: Signals | None = None) -> None:
        # A child keeps what its parent ignores; handlers are not inherited.
        self._dispositions: dict[Signal, Disposition] = (
            {} if inherited is None else {s: d for s, d in inherited._dispositions.items() if d == "ignore"}
        )

    def on(self, signal: Signal, disposition: Disposition) -> None:
        """Call a handler at that signal, or ``"ignore"`` it, or go back to the ``"default"``."""
        if signal in UNCATCHABLE:
            return
        if disposition == "default":
            self._dispositions.pop(signal, None)
        else:
            self._dispositions[signal] = disposition

    def disposition(self, signal: Signal) -> Disposition:
        """What a signal will do."""
        return self._dispositions.get(signal, "default")
