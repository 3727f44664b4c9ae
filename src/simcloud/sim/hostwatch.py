"""Watches for the host's clock and randomness reaching into a world.

A profile function sees every call of a function written in C, however it was imported, without
replacing anything; what Python's own modules do on the way (``uuid``, ``secrets``, ``random``) is
followed back to the line that asked for it. Slow: for the determinism check only.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from sysconfig import get_path
from types import FrameType, ModuleType
from typing import Any, Final

from simcloud.sim.kernel import Kernel

SIM: Final = str(Path(__file__).parent) + os.sep
STDLIB: Final = get_path("stdlib") + os.sep
IMPORT: Final = "<frozen importlib."

HOST_FUNCTIONS: Final = {
    f"{module}.{name}"
    for module, names in {
        "time": "time time_ns monotonic monotonic_ns perf_counter perf_counter_ns process_time "
        "process_time_ns thread_time thread_time_ns clock_gettime clock_gettime_ns sleep",
        "posix": "urandom getrandom getpid times",
        "_uuid": "generate_time_safe",
    }.items()
    for name in names.split()
}
HOST_DATES: Final = {"now", "utcnow", "today"}
DRAWS: Final = {"random", "getrandbits"}
HOST_NAMES: Final = {name.partition(".")[2] for name in HOST_FUNCTIONS} | HOST_DATES | DRAWS

NOW_UNLESS: Final = {"gmtime": 1, "localtime": 1, "ctime": 1, "asctime": 1, "strftime": 2}
"""Conversions that take the present time when they are given fewer arguments than this."""

GLOBAL_RANDOM: Final = random.random.__self__  # type: ignore[attr-defined]  # a method of a hidden instance
SEED_CODE: Final = random.Random.seed.__code__

MOST_CULPRITS: Final = 100
"""Maximum number of different places that are noted."""


@cache
def is_library(filename: str) -> bool:
    """Whether a file is Python's own or this package's: not where a reader would look for a cause."""
    if filename.startswith((SIM, "<frozen ")):
        return True
    return filename.startswith(STDLIB) and "site-packages" not in filename and "dist-packages" not in filename


@cache
def relative_path(filename: str) -> str:
    """Return a path relative to the working directory, if it is below it."""
    path = Path(filename)
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def place(frame: FrameType) -> str:
    """``file:line`` of a frame."""
    return f"{relative_path(frame.f_code.co_filename)}:{frame.f_lineno}"


def actor(kernel: Kernel) -> str:
    """Return the name of the running task, or of the driver."""
    return f"task {kernel.current.path}" if kernel.current is not None else "the driver"


@dataclass
class Noted:
    """When something was used first, and how often."""

    first: str
    times: int = 1

    def __str__(self) -> str:
        return self.first if self.times == 1 else f"{self.first} first, {self.times} times in all"


class Watch:
    """Notes every use of the host's clock or randomness, with the line and the task it came from."""

    def __init__(self, kernels: list[Kernel]) -> None:
        self._kernels = kernels
        self._unseeded: dict[int, random.Random] = {}
        self._inside: dict[str, Noted] = {}
        self._outside: dict[str, Noted] = {}

    def install(self) -> None:
        """Watch from now on, to the end of the process."""
        for name, enough in NOW_UNLESS.items():
            setattr(time, name, self._counting(f"time.{name}()", getattr(time, name), enough))
        sys.setprofile(self._profile)

    @property
    def culprits(self) -> list[str]:
        """What was used while a world ran: never right."""
        return [f"{text}{noted}" for text, noted in self._inside.items()]

    @property
    def suspects(self) -> list[str]:
        """What was used while a world was built or driven: harmless unless it gets into it."""
        return [f"{text}{noted}" for text, noted in self._outside.items()]

    def _counting(self, name: str, convert: Callable[..., Any], enough: int) -> Callable[..., Any]:
        def count_use(*args: Any) -> Any:
            if len(args) < enough or args[-1] is None:
                self._note(name, sys._getframe(1))
            return convert(*args)

        return count_use

    def _profile(self, frame: FrameType, event: str, called: Any) -> None:
        if event == "c_call":
            if called.__name__ in HOST_NAMES:
                self._judge(called.__name__, getattr(called, "__self__", None), frame)
        elif frame.f_code is SEED_CODE and event == "call":
            self._note_seed(frame.f_locals["self"], frame.f_locals["a"])

    def _note_seed(self, stream: random.Random, seed: object) -> None:
        if seed is None:
            self._unseeded[id(stream)] = stream  # kept, so that its id stays its own
        else:
            self._unseeded.pop(id(stream), None)

    def _judge(self, name: str, owner: object, frame: FrameType) -> None:
        if isinstance(owner, ModuleType):
            if f"{owner.__name__}.{name}" in HOST_FUNCTIONS:
                self._note(f"{owner.__name__}.{name}()".replace("posix.", "os."), frame)
        elif isinstance(owner, type):
            if issubclass(owner, date) and name in HOST_DATES:
                self._note(f"datetime.{owner.__name__}.{name}()", frame)
        elif owner is GLOBAL_RANDOM:
            self._note(f"random.{name}()", frame)
        elif id(owner) in self._unseeded:
            self._note(f"random.Random().{name}(), of a stream without a seed", frame)

    def _note(self, what: str, frame: FrameType | None) -> None:
        by_way_of = ""
        while frame is not None and is_library(frame.f_code.co_filename):
            if frame.f_code.co_filename.startswith(IMPORT):
                return  # a module of Python's own sets itself up
            if not frame.f_code.co_filename.startswith(SIM):
                by_way_of = f"{frame.f_globals.get('__name__')}.{frame.f_code.co_qualname}()"
            frame = frame.f_back
        if frame is None:
            return
        if by_way_of:
            what = f"{by_way_of.replace('random.Random.', 'random.')}, which calls {what}"
        self._count(f"{what}, at {place(frame)} in {frame.f_code.co_name}")

    def _count(self, text: str) -> None:
        running = next((kernel for kernel in self._kernels if kernel.running), None)
        noted = self._outside if running is None else self._inside
        if running is not None:
            text += f", in {actor(running)}"
        if text in noted:
            noted[text].times += 1
        elif len(noted) < MOST_CULPRITS:
            noted[text] = Noted("" if running is None else f", at {running.now:.6f} s")
