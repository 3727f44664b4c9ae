"""``sleep`` and ``timeout`` for real bash that count the seconds of a world which is served on a clock of its own.

Seconds of the host would be other seconds of the world on every machine, and under every load. So both tell, by a
file named after their process, how long they wait, and are woken when so much of the world's time has passed.
"""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from typing import Final

# A file appears whole, under its last name. Reading a pipe waits until somebody opens its other end.
SLEEP: Final = """#!/bin/sh
mkfifo {waits}/$$.pipe && echo "$1" >{waits}/$$.draft && mv {waits}/$$.draft {waits}/$$.sleep
read -r _ <{waits}/$$.pipe
exit 0
"""
# To the genuine one a time of 0 means never; an alarm is what its own clock would send it.
TIMEOUT: Final = """#!/bin/sh
echo "$1" >{waits}/$$.draft && mv {waits}/$$.draft {waits}/$$.timeout
shift
exec /usr/bin/timeout 0 "$@"
"""
COUNTS_SECONDS: Final = re.compile(r"-timeout=1?\ds\b|kubectl wait (?!.*--timeout)")
"""A client that is to give up soon counts by the host's clock, and cannot be told otherwise."""
TRIES_AGAIN: Final = re.compile(r"kubectl drain .*--timeout")
"""And one that meanwhile tries again every few seconds must find the world so many seconds later."""


class Waiting:
    """Who waits for which moment of the world."""

    def __init__(self, folder: Path, commands: Path) -> None:
        self._folder = folder
        self._folder.mkdir()
        self._due: dict[str, float] = {}
        for name, script in (("sleep", SLEEP), ("timeout", TIMEOUT)):
            (commands / name).write_text(script.format(waits=folder))
            (commands / name).chmod(0o755)

    def left_s(self, now: float) -> float:
        """How long until somebody is to be woken; those whose moment has come are, and then it is nothing."""
        for name in sorted(path.name for path in self._folder.iterdir()):
            if name.endswith((".sleep", ".timeout")) and name not in self._due:
                self._due[name] = now + float((self._folder / name).read_text())
        over = [name for name, due in self._due.items() if due - now < 1e-6]
        for name in over:
            self._wake(name)
        return 0.0 if over else min((due - now for due in self._due.values()), default=float("inf"))

    def release(self) -> None:
        """Wake whoever still waits."""
        self.left_s(0.0)
        for name in list(self._due):
            self._wake(name)

    def _wake(self, name: str) -> None:
        pid, _, kind = name.partition(".")
        del self._due[name]
        (self._folder / name).unlink()
        if kind == "sleep":
            pipe = self._folder / f"{pid}.pipe"
            try:
                os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
            except OSError:  # it was ended while it slept
                pass
            pipe.unlink()
        elif _is_timeout(pid):
            os.kill(int(pid), signal.SIGALRM)


def _is_timeout(pid: str) -> bool:
    """Whether it still runs: another process may have its number by now."""
    try:
        return Path(f"/proc/{pid}/comm").read_text() == "timeout\n"
    except (FileNotFoundError, ProcessLookupError):
        return False
