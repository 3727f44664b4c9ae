"""One recorded run of a scenario, in a process of its own: what the determinism check compares.

Every kernel made meanwhile reports its steps, wake-ups and draws; what the scenario returns or
yields are its observations. Each becomes one line of JSON on standard output, as it happens.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, BinaryIO

from msgspec.json import encode

import simcloud.sim.kernel
from simcloud.sim.hostwatch import Watch, actor, is_library, place
from simcloud.sim.kernel import EXPIRED, Kernel

Scenario = Callable[[int], Iterable[str | bytes] | str | bytes | None]


def caller() -> str:
    """Where the world's own code stands that led to this call; empty if the kernel itself did."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_library(frame.f_code.co_filename):
        if frame.f_code is Kernel._loop.__code__:
            return ""
        frame = frame.f_back
    return "" if frame is None else place(frame)


class Recorder:
    """Writes down what happens in every kernel made while it is installed."""

    def __init__(self, output: BinaryIO) -> None:
        self._output: BinaryIO | None = output
        self.kernels: list[Kernel] = []
        self.observations = 0
        os.register_at_fork(before=output.flush, after_in_child=self._fall_silent)

    @property
    def now(self) -> float:
        """The virtual time of the newest world."""
        return self.kernels[-1].now if self.kernels else 0.0

    def write(self, kind: str, time: float, *facts: object) -> None:
        """One record; kinds are step, wake, draw, observation, failure, end, culprits."""
        if self._output is None:
            return
        try:
            record = encode((kind, time, *facts))
        except UnicodeEncodeError:  # bytes of the world that are not text
            record = encode((kind, time, *map(legible, facts)))
        self._output.write(record + b"\n")

    def adopt(self, kernel: Kernel) -> None:
        """Record this kernel from its beginning."""
        self.kernels.append(kernel)
        world = "" if len(self.kernels) == 1 else f"world {len(self.kernels)}: "
        kernel.trace_to(lambda time, path: self.write("step", time, world + path))
        kernel.streams.record_to(partial(self._draw, kernel, world))
        kernel.ready = RecordedReady(partial(self._wake, kernel, world))

    def observe(self, observation: str | bytes) -> None:
        """Record what the scenario shows."""
        if isinstance(observation, bytes):
            observation = observation.decode("utf-8", "surrogateescape")
        if not isinstance(observation, str):
            raise TypeError(f"a scenario shows text or bytes, not {type(observation).__name__}")
        self.observations += 1
        self.write("observation", self.now, self.observations, observation)

    def _fall_silent(self) -> None:
        """A copy of the world is not the world that is compared."""
        sys.setprofile(None)
        self._output = None

    def _draw(self, kernel: Kernel, world: str, stream: str, value: object) -> None:
        self.write("draw", kernel.now, world + actor(kernel), stream, repr(value), caller())

    def _wake(self, kernel: Kernel, world: str, path: str) -> None:
        self.write("wake", kernel.now, world + actor(kernel), path, caller())


def legible(fact: object) -> object:
    """A fact without lone surrogates."""
    return fact.encode("utf-8", "backslashreplace").decode() if isinstance(fact, str) else fact


class RecordedReady(deque[tuple[Any, float, Any]]):
    """A kernel's queue of what is ready, which tells who was added."""

    def __init__(self, wake: Callable[[str], None]) -> None:
        super().__init__()
        self._wake = wake

    def append(self, entry: tuple[Any, float, Any], /) -> None:
        """Add a wake-up. Those of timers are not recorded, because the following step is."""
        if entry[2] is not EXPIRED:
            self._wake(entry[0].path)
        super().append(entry)


def load(target: str) -> Scenario:
    """The function that ``path/to/file.py:function`` names."""
    filename, _, function = target.rpartition(":")
    path = Path(filename).resolve()
    root, name = path.parent, path.stem
    while (root / "__init__.py").exists():
        root, name = root.parent, f"{root.name}.{name}"
    sys.path.append(str(root))
    module: ModuleType | None = None
    if importlib.util.find_spec(name) is not None:
        module = importlib.import_module(name)
    if module is None or module.__file__ is None or Path(module.__file__).resolve() != path:
        module = load_file(path)  # another module goes by that name
    scenario: Scenario = getattr(module, function)
    return scenario


def load_file(path: Path) -> ModuleType:
    """Import a file that no import statement would find."""
    spec = importlib.util.spec_from_file_location(f"scenario_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def run(target: str, seed: int, recorder: Recorder) -> None:
    """Run the scenario and record what it shows."""
    shown = load(target)(seed)
    if isinstance(shown, Iterable) and not isinstance(shown, str | bytes):
        for observation in shown:
            recorder.observe(observation)
    elif shown is not None:
        recorder.observe(shown)


def main() -> int:
    """Record one run; the last lines say how it ended and, of a watched one, what was noted."""
    parser = argparse.ArgumentParser(
        description="Record one run of a scenario; used by the determinism check."
    )
    parser.add_argument("target", help="path/to/file.py:function")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--watch", action="store_true", help="note uses of the host's clock and randomness")
    options = parser.parse_args()
    # What the scenario prints must not end up among the records.
    with os.fdopen(os.dup(1), "wb") as output:
        os.dup2(2, 1)
        recorder = Recorder(output)
        watch = Watch(recorder.kernels)
        simcloud.sim.kernel.made = recorder.adopt
        if options.watch:
            watch.install()
        try:
            run(options.target, options.seed, recorder)
            recorder.write("end", recorder.now)
        except Exception as error:
            traceback.print_exc()
            recorder.write("failure", recorder.now, f"{type(error).__name__}: {error}")
        finally:
            sys.setprofile(None)
        recorder.write("culprits", recorder.now, watch.culprits, watch.suspects)
    return 0


if __name__ == "__main__":
    sys.exit(main())
