"""Recorded sessions: what was typed at a genuine cluster, when, and what came back."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from datetime import datetime
from math import ceil, floor
from pathlib import Path
from typing import Any

from tests.simcloud.server.kubernetes import golden
from tests.simcloud.server.kubernetes.golden.normalise import lines

GOLDEN = Path(next(iter(golden.__path__)))
UNRECORDED_S = 0.1
"""How long a line is taken to have lasted where that was not written down."""

BETWEEN_S = 0.003
"""From the end of a line to the next, when nobody waited."""

TO_SCHEDULED_S = 0.07
"""From typing ``kubectl run`` to the event of the pod's being scheduled."""

NAMESPACE_S = 5.0
"""How long a namespace takes to go."""

EVENT_NAME = re.compile(r'name"?: "?([a-z0-9-]+)\.([0-9a-f]{16})\b')


@dataclass(frozen=True)
class Typed:
    """What a line printed and how it ended."""

    stdout: str
    stderr: str
    exit: int | str

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)


@dataclass(frozen=True)
class Line:
    """One recorded line; ``at_s`` is when it was typed, in seconds since the first of its session."""

    n: int
    cmd: str
    stdin: str
    told: Typed
    at_s: float
    took_s: float
    second: float
    """The recorded time of day, in seconds since 1970."""


def read(path: Path) -> list[Line]:
    """The lines of a session, at the moments at which they were typed."""
    recorded = [json.loads(text) for text in path.read_text().splitlines()]
    first, free_at, found = _moment(recorded[0]), 0.0, []
    known = _known_moments(recorded)
    for each in recorded:
        at_s = _begun(_moment(each) - _waited_s(each) - first, free_at, known.get(each["n"], 0.0) - first)
        took_s = each.get("took_s", UNRECORDED_S)
        free_at = at_s + took_s + BETWEEN_S
        told = Typed(each["stdout"], each["stderr"], each["exit"])
        found.append(Line(each["n"], each["cmd"], each["stdin"] or "", told, at_s, took_s, _moment(each)))
    return _ended_before_the_next(found)


def _begun(second: float, free_at: float, known_s: float) -> float:
    """When within its second a line began.

    Times were noted to the second. A line begins when the one before it has ended, unless somebody paused in
    between; pauses were whole seconds.
    """
    if second <= known_s < second + 1:
        return known_s
    if free_at < second:
        pause_s = ceil(second - free_at)
        return free_at + pause_s if second - free_at > 0.1 else second
    return min(free_at, second + 0.999)


def _waited_s(recorded: dict[str, Any]) -> float:
    """How long before its time a line was typed: where durations were not recorded, times are those of the ends."""
    if "took_s" in recorded:
        return 0.0
    if recorded["cmd"].startswith("kubectl delete ns"):
        return NAMESPACE_S
    limit = re.search(r"--timeout=(\d+)s", recorded["cmd"])
    return float(limit[1]) if limit and "timed out" in recorded["stderr"] else 0.0


def _ended_before_the_next(lines: list[Line]) -> list[Line]:
    """Lines that were put too late within their second are moved back to where they fit."""
    found = lines[-1:]
    for line in reversed(lines[:-1]):
        latest_s = found[-1].at_s - line.took_s - BETWEEN_S
        earliest_s = floor(line.at_s)
        found.append(replace(line, at_s=max(earliest_s, min(line.at_s, latest_s))))
    return found[::-1]


def _known_moments(recorded: list[dict[str, Any]]) -> dict[int, float]:
    """When lines that made pods were typed: events bear the moment of their making in their names."""
    made: dict[str, float] = {}
    for each in recorded:
        for name, moment in EVENT_NAME.findall(each["stdout"]):
            made[name] = min(made.get(name, 1e12), int(moment, 16) / 1e9)
    found = {}
    for each in recorded:
        pod = re.match(r"kubectl run (\S+)", each["cmd"])
        if pod and pod[1] in made:
            found[each["n"]] = made[pod[1]] - TO_SCHEDULED_S
    return found


def _moment(recorded: dict[str, Any]) -> float:
    return datetime.fromisoformat(recorded["t"]).timestamp()


def difference(line: Line, ours: Typed) -> str:
    """What the recording prints and we do not, and the other way round."""
    told = [f"--- {line.n}: {line.cmd} (exit {line.told.exit}, ours {ours.exit})"]
    for name in ("stdout", "stderr"):
        theirs, mine = lines(line.told[name]), lines(ours[name])
        told.extend(f"-{text}" for text in _without(theirs, mine))
        told.extend(f"+{text}" for text in _without(mine, theirs))
    return "\n".join(told)


def _without(some: list[str], others: list[str]) -> list[str]:
    """The texts of one list that the other does not have, or not as often."""
    left = list(others)
    found = []
    for text in some:
        if text in left:
            left.remove(text)
        else:
            found.append(text)
    return found
