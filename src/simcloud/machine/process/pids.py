"""The process numbers of a machine or container."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Final

MAX_PID: Final = 4_194_304


class PidSpace:
    """Hands out process numbers. Threads and short-lived processes of the past have used some up."""

    def __init__(self, forks_per_s: float = 0.0, used: int = 0, memory: int = 0) -> None:
        self.forks_per_s = forks_per_s
        self.used = used
        self._taken: deque[tuple[int, int]] = deque(maxlen=memory)
        """How many short-lived processes there had been when a number was handed out, and ``used`` before."""

    def count(self, age_s: float) -> int:
        """How many numbers were handed out, at an age of the machine or container."""
        return self.used + int(age_s * self.forks_per_s)

    def take(self, age_s: float, taken: Mapping[int, object]) -> int:
        """Hand out the next number that no process has; they start over when they run out."""
        forks = int(age_s * self.forks_per_s)
        if not self._taken or self._taken[-1][0] != forks:
            self._taken.append((forks, self.used))
        self.used += 1
        while (pid := self.count(age_s) % MAX_PID) in taken or not pid:
            self.used += 1
        return pid

    def find_fork(self, count: int) -> int:
        """Return the number of the ``count``-th short-lived process, which no other process has."""
        used = next((used for forks, used in self._taken if forks >= count), self.used)
        return (used + count) % MAX_PID
