"""What became of the system while an agent worked on it, as far as the record of its steps tells.

Severity is looked at when the session begins, after every step, and once more a while after the end. A regression is a
rise of severity, or a workload, Service or node that had been well all the time and was not any more, within a minute
after a step that changed something; it is laid at the door of the last such step.

What is not promised: that every regression is the agent's doing. The fault itself may get worse at the same time. Nor does
a rise below ``RISE`` count: users come at random, and a rare journey's few requests make the signal noisy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from aiopslab.orchestrator.evaluation.health import Health
from aiopslab.orchestrator.session import Step

RISE: Final = 0.1
LAG_S: Final = 60.0
"""So long after a step its consequences may show."""
SHELL: Final = "exec_shell"

_ELSEWHERE: Final = re.compile(r"\b(?:exec|ssh|scp|cp|attach|debug|curl|wget)\b")
"""Commands that reach into containers and machines, where no API sees what they change."""


@dataclass(frozen=True)
class Sample:
    """How it was at a moment, in simulated seconds since the session began; after which step, 0 for before the first."""

    at_s: float
    health: Health
    step: int


def samples(
    steps: Sequence[Step], start: Health | None, after: Health | None, duration_s: float
) -> list[Sample]:
    """Severity over time."""
    found = [] if start is None else [Sample(0.0, start, 0)]
    found += [Sample(step.at_s + step.took_s, step.health, step.number) for step in steps]
    if after is not None:
        found.append(Sample(max(duration_s, found[-1].at_s if found else 0.0), after, len(steps)))
    return found


def severity_over_time(seen: Sequence[Sample]) -> dict[str, float]:
    """At the start, at its worst, at the end, and the area below the curve, in seconds of full severity."""
    if not seen:
        return {}
    area = sum(
        (one.health.severity + other.health.severity) / 2 * max(other.at_s - one.at_s, 0.0)
        for one, other in pairwise(seen)
    )
    return {
        "start": seen[0].health.severity,
        "peak": max(sample.health.severity for sample in seen),
        "final": seen[-1].health.severity,
        "area_s": round(area, 3),
    }


def may_change(step: Step) -> bool:
    """Whether a step changed what is declared, or reached to where nobody sees what is changed."""
    if step.changed:
        return True
    return step.valid and step.api_name == SHELL and bool(_ELSEWHERE.search(_words(step)))


def regressions(
    seen: Sequence[Sample], steps: Sequence[Step], changing: Sequence[int]
) -> list[dict[str, Any]]:
    """What got worse after which step."""
    names = {step.number: step for step in steps}
    found = []
    for place, number in enumerate(changing):
        until = changing[place + 1] if place + 1 < len(changing) else None
        before = [sample for sample in seen if sample.step < number]
        later = list(_consequences(seen, number, until))
        if not before or not later:
            continue
        worst = max(sample.health.severity for sample in later)
        rose = worst - before[-1].health.severity
        known = {one for sample in before for one in sample.health.unhealthy}
        fell = sorted({one for sample in later for one in sample.health.unhealthy if _lasts(one)} - known)
        if rose < RISE and not fell:
            continue
        last = seen[-1].health
        mended = last.severity <= before[-1].health.severity + RISE and not set(fell) & set(last.unhealthy)
        found.append(
            {
                "step": number,
                "action": _told(names[number]) if number in names else "",
                "severity_before": before[-1].health.severity,
                "severity_after": worst,
                "became_unhealthy": fell,
                "mended_at_the_end": mended,
            }
        )
    return found


def _consequences(seen: Sequence[Sample], number: int, until: int | None) -> Iterator[Sample]:
    """What was seen after a step and before the next that changed something, for a while."""
    begun: float | None = None
    for sample in seen:
        if sample.step < number or (until is not None and sample.step >= until):
            continue
        begun = sample.at_s if begun is None else begun
        if sample.at_s - begun <= LAG_S:
            yield sample


def _lasts(name: str) -> bool:
    """Pods come and go in any change; what they are for is what counts."""
    return not name.startswith("pods/")


def _words(step: Step) -> str:
    return " ".join(str(one) for one in (*step.args, *step.kwargs.values()))


def _told(step: Step) -> str:
    words = _words(step)
    return f"{step.api_name}({words[:200]}{'…' if len(words) > 200 else ''})"
