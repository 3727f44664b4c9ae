"""Results of a session: the task's own evaluation, then its cost and the harm that was done.

The task's keys come first and are never renamed. Everything that needs no world (conduct, tokens, harm over time) is
computed from the steps alone, so that ``evaluate_record`` gives the same for an old record. Everything that depends on the
host's clock is under ``wall``.

An author's own ``Metric`` adds keys. A metric that fails, or that returns an existing key, only adds a message under
``metric_errors``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields
from typing import Any, Final

from aiopslab.orchestrator.agent_link import Usage
from aiopslab.orchestrator.evaluation.conduct import count_conduct, count_tokens
from aiopslab.orchestrator.evaluation.footprint import (
    compute_error_budget,
    find_changes_beyond_need,
    find_footprint,
)
from aiopslab.orchestrator.evaluation.harm import (
    can_change_system,
    collect_samples,
    find_regressions,
    summarize_severity,
)
from aiopslab.orchestrator.evaluation.judge import Case, judge_diagnosis, judge_reasoning
from aiopslab.orchestrator.evaluation.severity import WINDOW_S, Health, health
from aiopslab.orchestrator.models import ChatModel
from aiopslab.orchestrator.session import WALL, Session, Step
from aiopslab.orchestrator.tasks import IncidentTask, Task
from aiopslab.utils import load_extensions

ERROR_CHARS: Final = 300
"""Maximum length of a metric's error message."""


def evaluate(
    task: Task,
    session: Session,
    judge: ChatModel | None = None,
    *,
    within: AbstractContextManager[None] | None = None,
) -> dict[str, Any]:
    """Return all results of a session that has ended, measured in its world, where simulated time passes meanwhile.

    With a ``judge``, a language model rates the reasoning in the trajectory, and judges the diagnosis of an incident.
    ``within`` limits the time spent in the world.
    """
    with within or nullcontext():
        results = _measure(task, session)
    if judge is not None:
        if isinstance(task, IncidentTask) and session.solution is not None:
            results |= judge_diagnosis(judge, session.solution["diagnosis"], task.get_expected()["diagnosis"])
            results["success"] = all(
                results[key] for key in ("repaired", "components_correct", "diagnosis_correct")
            )
        results |= judge_reasoning(judge, _build_case(task, session, results))
    return results | _compute_own_metrics(task, session, results)


def _measure(task: Task, session: Session) -> dict[str, Any]:
    environment = task.environment
    footprint = find_footprint(environment, session)
    beyond_need = find_changes_beyond_need(environment, session, footprint, task.faults)
    verdict = dict(task.eval(session.solution, session.trace, session.duration_s) or {})
    changing = sorted(footprint.acting | {step.number for step in session.steps if can_change_system(step)})
    if changing:
        # Effects of the last steps need time to show.
        environment.run_for(max(session.ended_s + WINDOW_S - environment.now, 0.0))
    # A prepared world may be ahead of a session without steps.
    after = health(environment) if session.steps else session.health
    harm = {
        **_measure_harm(session.steps, session.health, after, changing, session.duration_s),
        "changes_beyond_need": beyond_need,
        "error_budget": compute_error_budget(environment, session.began_s, session.ended_s),
    }
    wall_s = session.wall_ended - session.wall_began
    measured = {
        **count_conduct(session.steps),
        **count_tokens(session.steps, session.usage),
        "simulated_s": session.duration_s,
        "harm": harm,
        WALL: _split_wall_time(wall_s, session.wall_agent_s),
    }
    return verdict | {name: value for name, value in measured.items() if name not in verdict}


def evaluate_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the results of a recorded session: recomputed where no world is needed, the rest as recorded."""
    known = dict(record.get("results") or {})
    old = known.get("harm") or {}
    steps = [parse_step(step) for step in record.get("steps") or ()]
    changing = old.get("changing_steps")
    if changing is None:
        changing = [step.number for step in steps if can_change_system(step)]
    simulated_s = float(record["simulated"]["duration_s"])
    measured = {
        **count_conduct(steps),
        **count_tokens(steps, _parse_usage(record)),
        "simulated_s": simulated_s,
        "harm": {
            **old,
            **_measure_harm(
                steps,
                _parse_health(record.get("health")),
                _parse_health(old.get("after")),
                changing,
                simulated_s,
            ),
        },
    }
    wall = record.get(WALL) or {}
    if "session_s" in wall:
        measured[WALL] = _split_wall_time(wall["session_s"], wall.get("agent_s", 0.0))
    return known | measured


def _measure_harm(
    steps: Sequence[Step],
    start: Health | None,
    after: Health | None,
    changing: Sequence[int],
    simulated_s: float,
) -> dict[str, Any]:
    samples = collect_samples(steps, start, None, simulated_s)
    samples_with_after = collect_samples(steps, start, after, simulated_s)
    return {
        "severity": summarize_severity(samples),
        "after": None if after is None else _format_health(after),
        "changing_steps": list(changing),
        "regressions": find_regressions(samples_with_after, steps, changing),
    }


def _build_case(task: Task, session: Session, results: Mapping[str, Any]) -> Case:
    truth = {"answer": task.find_expected(), "faults": [fault.truth for fault in task.faults]}
    success = results.get("success")
    return Case(
        task.get_task_description(),
        truth,
        session.solution,
        success if isinstance(success, bool) else None,
        session.trace,
    )


def _split_wall_time(wall_s: float, agent_s: float) -> dict[str, float]:
    return {"wall_s": wall_s, "agent_wall_s": agent_s, "framework_wall_s": max(wall_s - agent_s, 0.0)}


def _compute_own_metrics(task: Task, session: Session, results: Mapping[str, Any]) -> dict[str, Any]:
    added: dict[str, Any] = {}
    errors: list[str] = []
    for metric in (*task.metrics, *(metric for _, metric in load_extensions("aiopslab.metrics"))):
        name = getattr(metric, "__name__", type(metric).__name__)
        try:
            values = dict(metric(task, session))
        except Exception as error:
            errors.append(f"The metric {name} failed: {type(error).__name__}: {error}"[:ERROR_CHARS])
            continue
        taken = sorted(str(key) for key in values if key in results or key in added)
        if taken:
            errors.append(
                f"The metric {name} returned existing keys ({', '.join(taken)}), so none of its values were added. "
                "Rename them."
            )
            continue
        added |= values
    return added | ({"metric_errors": errors} if errors else {})


def parse_step(recorded: Mapping[str, Any]) -> Step:
    """Return a step of a record, also of an older version with fewer fields or a newer one with more."""
    known: dict[str, Any] = {field.name: recorded.get(field.name) for field in fields(Step)}
    known |= {
        "args": tuple(recorded.get("args") or ()),
        "kwargs": recorded.get("kwargs") or {},
        "health": _parse_health(recorded["health"]),
        "changed": recorded.get("changed") or {},
        "wall_s": 0.0,
    }
    return Step(**known)


def _parse_health(recorded: Mapping[str, Any] | None) -> Health | None:
    if recorded is None:
        return None
    return Health(recorded["severity"], recorded["failed"], recorded["slow"], tuple(recorded["unhealthy"]))


def _format_health(measured: Health) -> dict[str, Any]:
    return {
        "severity": measured.severity,
        "failed": measured.failed,
        "slow": measured.slow,
        "unhealthy": list(measured.unhealthy),
    }


def _parse_usage(record: Mapping[str, Any]) -> Usage | None:
    """Return the usage that the agent reported; None if the recorded counts are estimates."""
    results = record.get("results") or {}
    if results.get("tokens_estimated") is not False:
        return None
    return Usage(
        results["in_tokens"], results["out_tokens"], results.get("cost_usd"), results.get("cached_tokens")
    )
