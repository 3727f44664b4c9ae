"""Checks whether a scenario is deterministic: runs it in fresh processes and reports the first difference.

Three runs are compared record by record while they run: two that should not differ at all (except for the time, the
process and the time zone) and one with another ``PYTHONHASHSEED``, which changes every order by hash. Records are not
stored, so a run may be long. In one of the runs every use of the host's clock or randomness is noted, with its line
and its task; it fails the check even if it caused no difference this time.

The check cannot detect a difference that reaches no step, wake-up, draw or observation, or a clock that a compiled
library reads by itself without visible effect.
"""

from __future__ import annotations

import argparse
import importlib.util
import inspect
import os
import shlex
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from msgspec.json import decode

from simcloud.sim.errors import SimulationError
from simcloud.sim.recording import Scenario

Record = list[Any]

EXCERPT: Final = 80
"""The most characters of a differing line that a report shows."""

BY_HASH: Final = (
    "Runs with the same PYTHONHASHSEED agree, one with another does not: "
    "the order of a set, or a hash() of text, reaches the world there."
)
BY_HOST: Final = "Two runs alike in seed and PYTHONHASHSEED differ: something of the host reaches the world."
BY_WHAT_ELSE: Final = (
    " No clock and no random source of the host was used; look for id(), sets and sorts of objects that "
    "are ordered by address, the time zone, and files or variables of the host."
)


@dataclass
class Report:
    """The result of the check.

    ``culprits`` are uses of the host's clock or randomness by a running world; ``suspects`` are those
    made while it was built or driven, reported only if they may explain a difference.
    """

    target: str
    seed: int
    steps: int = 0
    draws: int = 0
    observations: int = 0
    difference: str | None = None
    cause: str = ""
    culprits: list[str] = field(default_factory=list)
    suspects: list[str] = field(default_factory=list)

    @property
    def deterministic(self) -> bool:
        """Whether all runs were the same and the host kept out of them."""
        return self.difference is None and not self.culprits

    @property
    def replay(self) -> str:
        """The command that runs this check again."""
        command = [sys.executable, "-m", "simcloud.sim.determinism", self.target, "--seed", str(self.seed)]
        return shlex.join(command)

    def __str__(self) -> str:
        name = f"{self.target} with seed {self.seed}"
        counts = f"steps {self.steps}, draws {self.draws}, observations {self.observations}"
        if self.deterministic:
            return f"{name} is deterministic; the same in every run: {counts}"
        lines = [f"{name} is not deterministic."]
        if self.difference is not None:
            lines += [self.difference, f"The same in every run until there: {counts}.", self.cause]
        if self.culprits:
            lines.append("While the world ran, its code used the host's clock or randomness:")
            lines += [f"  {culprit}" for culprit in self.culprits]
        if self.suspects:
            lines.append("While the world was built or driven, these were used:")
            lines += [f"  {suspect}" for suspect in self.suspects]
        lines.append(f"Replay: {self.replay}")
        return "\n".join(lines)


class NotDeterministic(SimulationError):
    """The scenario is not deterministic; the message has the first difference and, if known, its cause."""

    def __init__(self, report: Report) -> None:
        super().__init__(str(report))
        self.report = report


def check_determinism(scenario: Scenario | str, seed: int = 0) -> Report:
    """Run a scenario in fresh processes and compare; raises ``NotDeterministic`` on a difference.

    The scenario is a function at the top of a module (or ``"module:function"``, or
    ``"path/to/file.py:function"``) that takes a seed, builds and runs a world, and returns or yields
    what it observes, as text or bytes. Raises ``SimulationError`` when the scenario itself fails.
    """
    report = Report(locate(scenario), seed)
    with ExitStack() as runs:
        watched = runs.enter_context(Run(report.target, seed, hash_seed=1, time_zone="UTC0", watch=True))
        twin = runs.enter_context(Run(report.target, seed, hash_seed=1, time_zone="XST-5:45"))
        other_hash = runs.enter_context(Run(report.target, seed, hash_seed=2, time_zone="UTC0"))
        compare(report, watched, twin, other_hash)
    if not report.deterministic:
        raise NotDeterministic(report)
    return report


def locate(scenario: Scenario | str) -> str:
    """The ``path/to/file.py:function`` of a scenario, which a fresh process can load."""
    if isinstance(scenario, str):
        module, _, function = scenario.rpartition(":")
        filename: str | None = module
        if not module.endswith(".py"):
            filename = origin(module)
        if filename is None or not Path(filename).is_file():
            raise ValueError(f"no scenario '{scenario}'; write module:function or path/to/file.py:function")
    else:
        filename, function = inspect.getfile(scenario), scenario.__qualname__
    if not function.isidentifier():
        raise ValueError(f"fresh processes cannot find '{function}': it must stand at the top of a module")
    path = Path(filename).resolve()
    return f"{path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}:{function}"


def origin(module: str) -> str | None:
    """The file of a module that can be imported here."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    return None if spec is None else spec.origin


class Run:
    """A process that runs the scenario and gives its records line by line."""

    def __init__(self, target: str, seed: int, hash_seed: int, time_zone: str, watch: bool = False) -> None:
        command = [sys.executable, "-P", "-m", "simcloud.sim.recording", target, "--seed", str(seed)]
        environment = {
            "PYTHONHASHSEED": str(hash_seed),
            "PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path),
            "TZ": time_zone,
        }
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the run)
        self._process = subprocess.Popen(
            command + ["--watch"] * watch,
            env=os.environ | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._said,
        )
        assert self._process.stdout is not None
        self._records = self._process.stdout
        self.next_line = self._records.readline

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.stop()
        self._process.wait()
        self._records.close()
        self._said.close()

    def stop(self) -> None:
        """End it; its records do not matter any more."""
        self._process.kill()

    def last_record(self) -> Record:
        """Let it run to its end; what it says then."""
        line = b""
        for following in self._records:
            line = following
        if not line:
            raise self.death()
        return parse(line)

    def death(self) -> SimulationError:
        """It ended without saying how."""
        said = self.read_output()
        return SimulationError(f"the scenario's process died with status {self._process.returncode}\n{said}")

    def read_output(self) -> str:
        """Return the end of the output of the process, after it has ended."""
        self._process.wait()
        self._said.seek(0)
        return self._said.read()[-4000:].decode("utf-8", "replace")


def compare(report: Report, watched: Run, twin: Run, other_hash: Run) -> None:
    """Read all three to the first difference, or to their end, and fill in the report."""
    counts = {b"step": 0, b"wake": 0, b"draw": 0, b"obse": 0}
    while True:
        line, twin_line, other_line = watched.next_line(), twin.next_line(), other_hash.next_line()
        if not line == twin_line == other_line:
            break
        kind = line[2:6]
        if kind not in counts:
            break
        counts[kind] += 1
    report.steps, report.draws, report.observations = counts[b"step"], counts[b"draw"], counts[b"obse"]
    if line != twin_line:
        report.difference, report.cause = describe(line, twin_line), BY_HOST
    elif line != other_line:
        report.difference, report.cause = describe(line, other_line), BY_HASH
    twin.stop()
    other_hash.stop()
    if not line:
        raise watched.death()
    _, _, report.culprits, suspects = watched.last_record()
    if report.difference is None and line.startswith(b'["failure"'):
        raise SimulationError(f"the scenario itself failed with {parse(line)[2]}\n{watched.read_output()}")
    if report.cause == BY_HOST:
        report.suspects = suspects
        if not report.culprits and not suspects:
            report.cause += BY_WHAT_ELSE


def parse(line: bytes) -> Record:
    """A record; a process that ended without a word gives that as one."""
    record: Record = decode(line) if line else ["death", 0.0]
    return record


def describe(line: bytes, other_line: bytes) -> str:
    """One sentence about two records that should be equal."""
    record, other = parse(line), parse(other_line)
    if record[0] == other[0] == "observation":
        return describe_observations(record, other)
    return f"One run went on with {sentence(record)}; another with {sentence(other)}."


def describe_observations(record: Record, other: Record) -> str:
    """The first line in which two observations of the same number differ."""
    _, time, number, text = record
    pairs = zip_longest(text.split("\n"), other[3].split("\n"))
    line, pair = next(
        ((line, pair) for line, pair in enumerate(pairs, 1) if pair[0] != pair[1]), (0, ("", ""))
    )
    if not line:
        return f"Observation {number} was made at {time:.6f} s in one run and at {other[1]:.6f} s in another."
    one, another = (excerpt(side) if side is not None else "missing" for side in pair)
    return (
        f"Line {line} of observation {number}, at {time:.6f} s, is {one} in one run and {another} in another."
    )


def sentence(record: Record) -> str:
    """What a record stands for, in words."""
    kind, time, *facts = record
    match kind:
        case "step":
            what = f"a step of task {facts[0]}"
        case "wake":
            what = f"{facts[0]} making task {facts[1]} ready{at(facts[2])}"
        case "draw":
            what = f"{facts[0]} drawing {facts[2]} from the stream '{facts[1]}'{at(facts[3])}"
        case "observation":
            what = f"observation {facts[0]}, {excerpt(facts[1])}"
        case "failure":
            what = f"a failure of the scenario, {facts[0]}"
        case "end":
            what = "its end"
        case _:
            return "the death of its process"
    return f"{what}, at {time:.6f} s"


def at(site: str) -> str:
    """Where in the code, if known."""
    return f" ({site})" if site else ""


def excerpt(text: str) -> str:
    """The beginning of a text, in quotes."""
    return repr(text if len(text) <= EXCERPT else text[:EXCERPT] + "...")


def main() -> int:
    """Check a scenario from the command line."""
    parser = argparse.ArgumentParser(description="Check that a scenario is the same every time it runs.")
    parser.add_argument("target", help="module:function or path/to/file.py:function")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    try:
        print(check_determinism(options.target, options.seed))
    except (SimulationError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
