"""Things that must hold all along, checked at intervals while a world runs.

An invariant is a function that returns None when all is well, or a sentence about what is not. A
broken one fails the run at the virtual time it was noticed.
"""

from __future__ import annotations

from collections.abc import Callable

from simcloud.sim.errors import InvariantBroken
from simcloud.sim.kernel import Kernel

Check = Callable[[], str | None]


class Invariants:
    """The invariants of one world, checked every ``interval_s`` virtual seconds and on demand."""

    def __init__(self, kernel: Kernel, interval_s: float = 5.0) -> None:
        self._kernel = kernel
        self._interval_s = interval_s
        self._checks: dict[str, Check] = {}
        kernel.call_later(interval_s, self._tick)

    def add(self, name: str, check: Check) -> None:
        """Hold ``check`` from now on; its name stands in the error when it breaks."""
        if name in self._checks:
            raise ValueError(f"there is an invariant '{name}' already; choose another name")
        self._checks[name] = check

    def verify(self) -> None:
        """Check all of them now."""
        for name, check in self._checks.items():
            broken = check()
            if broken is not None:
                raise InvariantBroken(name, self._kernel.now, broken)

    def _tick(self, _argument: object) -> None:
        self.verify()
        self._kernel.call_later(self._interval_s, self._tick)
