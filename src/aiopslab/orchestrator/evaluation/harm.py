"""Severity over time and regressions while an agent worked, computed from its steps.

Severity is measured when the session begins, after every step, and once more some time after the end. A regression is a
rise of severity, or a workload, Service or node that becomes unhealthy for the first time, within a minute after a step
that changed something; it is attributed to the last such step.

Not every regression is caused by the agent: the fault itself may get worse at the same time. Rises below ``RISE`` do not
count: users arrive at random, and the few requests of a rare journey make the signal noisy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from aiopslab.orchestrator.action_names import EXEC_SHELL
from aiopslab.orchestrator.evaluation.reads import can_change_elsewhere
from aiopslab.orchestrator.evaluation.severity import Health
from aiopslab.orchestrator.session import Step

RISE: Final = 0.1
LAG_S: Final = 60.0
"""Time after a step in which its effects may show."""


@dataclass(frozen=True)
class Sample:
    """Health at a time, in simulated seconds since the session began, and after a step; 0 is before the first."""

    at_s: float
    health: Health
    step: int


def collect_samples(
    steps: Sequence[Step], start: Health | None, after: Health | None, duration_s: float
) -> list[Sample]:
    """Return the samples at the start, after each step, and after the end."""
    samples = [] if start is None else [Sample(0.0, start, 0)]
    samples += [Sample(step.at_s + step.took_s, step.health, step.number) for step in steps]
    if after is not None:
        samples.append(Sample(max(duration_s, samples[-1].at_s if samples else 0.0), after, len(steps)))
    return samples


def summarize_severity(samples: Sequence[Sample]) -> dict[str, float]:
    """Return severity at the start, its peak, its final value, and its integral in seconds of full severity."""
    if not samples:
        return {}
    area = sum(
        (earlier.health.severity + later.health.severity) / 2 * max(later.at_s - earlier.at_s, 0.0)
        for earlier, later in pairwise(samples)
    )
    return {
        "start": samples[0].health.severity,
        "peak": max(sample.health.severity for sample in samples),
        "final": samples[-1].health.severity,
        "area_s": round(area, 3),
    }


def can_change_system(step: Step) -> bool:
    """Whether a step changed declared objects, or may have changed what the API does not see. Reading never counts."""
    if step.changed:
        return True
    return step.valid and step.api_name == EXEC_SHELL and can_change_elsewhere(_join_arguments(step))


def find_regressions(
    samples: Sequence[Sample], steps: Sequence[Step], changing: Sequence[int]
) -> list[dict[str, Any]]:
    """Return the regressions, each with its step; ``changing`` are the numbers of the steps that changed something."""
    steps_by_number = {step.number: step for step in steps}
    regressions = []
    for index, number in enumerate(changing):
        until = changing[index + 1] if index + 1 < len(changing) else None
        before = [sample for sample in samples if sample.step < number]
        later = list(_select_later(samples, number, until))
        if not before or not later:
            continue
        worst = max(sample.health.severity for sample in later)
        rose = worst - before[-1].health.severity
        known = {name for sample in before for name in sample.health.unhealthy}
        unhealthy = {name for sample in later for name in sample.health.unhealthy if not _is_pod(name)}
        fell = sorted(unhealthy - known)
        if rose < RISE and not fell:
            continue
        last = samples[-1].health
        mended = last.severity <= before[-1].health.severity + RISE and not set(fell) & set(last.unhealthy)
        regressions.append(
            {
                "step": number,
                "action": _format_action(steps_by_number[number]) if number in steps_by_number else "",
                "severity_before": before[-1].health.severity,
                "severity_after": worst,
                "became_unhealthy": fell,
                "mended_at_the_end": mended,
            }
        )
    return regressions


def _select_later(samples: Sequence[Sample], number: int, until: int | None) -> Iterator[Sample]:
    """Yield the samples within ``LAG_S`` after a step and before the next step that changed something."""
    began_s: float | None = None
    for sample in samples:
        if sample.step < number or (until is not None and sample.step >= until):
            continue
        began_s = sample.at_s if began_s is None else began_s
        if sample.at_s - began_s <= LAG_S:
            yield sample


def _is_pod(name: str) -> bool:
    """Whether it is a pod. Pods come and go in any change, so only their workloads count."""
    return name.startswith("pods/")


def _join_arguments(step: Step) -> str:
    return " ".join(str(argument) for argument in (*step.args, *step.kwargs.values()))


def _format_action(step: Step) -> str:
    arguments = _join_arguments(step)
    return f"{step.api_name}({arguments[:200]}{'…' if len(arguments) > 200 else ''})"
