"""What a session was worth: the task's own judgement, and beside it what it took and what harm was done.

The task's keys come first and are never renamed. Everything that needs no world (conduct, tokens, harm over time) is worked
out from the steps alone, so that ``evaluate_record`` gives the same of a record that was written long ago. What the
host's clock said stands apart under ``wall``.

An author's own ``Metric`` adds keys. One that fails, or that wants a key that is taken, costs a sentence under
``metric_errors`` and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields
from typing import Any, Final

from aiopslab.orchestrator.agent_link import Usage
from aiopslab.orchestrator.evaluation.conduct import conduct, tokens
from aiopslab.orchestrator.evaluation.footprint import changes_beyond_need, error_budget, footprint
from aiopslab.orchestrator.evaluation.harm import may_change, regressions, samples, severity_over_time
from aiopslab.orchestrator.evaluation.health import WINDOW_S, Health, health
from aiopslab.orchestrator.evaluation.judge import Case, judge_reasoning
from aiopslab.orchestrator.models import ChatModel
from aiopslab.orchestrator.session import WALL, Session, Step
from aiopslab.orchestrator.tasks import Task

Metric = Callable[[Task, Session], Mapping[str, Any]]
"""An author's own: what it returns is added to the results."""

WORDS: Final = 300
"""What is kept of another's error."""


def evaluate(
    task: Task,
    session: Session,
    judge: ChatModel | None = None,
    *,
    within: AbstractContextManager[None] | None = None,
) -> dict[str, Any]:
    """All results of a session that has ended, in the world that it ended in. Time passes there.

    With a ``judge``, a language model reads the trajectory and says what it thinks of the reasoning.
    ``within`` bounds what is done in the world.
    """
    with within or nullcontext():
        results = _measured(task, session)
    if judge is not None:
        results |= judge_reasoning(judge, _case(task, session, results))
    return results | _own_metrics(task, session, results)


def _measured(task: Task, session: Session) -> dict[str, Any]:
    environment = task.environment
    left = footprint(environment, session)
    beyond_need = changes_beyond_need(environment, session, left, task.faults)
    judged = dict(task.eval(session.solution, session.trace, session.duration_s) or {})
    changing = sorted(left.acting | {step.number for step in session.steps if may_change(step)})
    if changing:
        # What was done last has had no time to show.
        environment.run_for(max(session.ended_s + WINDOW_S - environment.now, 0.0))
    after = health(environment)
    harm = {
        **_harm(session.steps, session.health, after, changing, session.duration_s),
        "changes_beyond_need": beyond_need,
        "error_budget": error_budget(environment, session.began_s, session.ended_s),
    }
    wall_s = session.wall_ended - session.wall_began
    measured = {
        **conduct(session.steps),
        **tokens(session.steps, session.usage),
        "simulated_s": session.duration_s,
        "harm": harm,
        WALL: _wall(wall_s, session.wall_agent_s),
    }
    return judged | {name: value for name, value in measured.items() if name not in judged}


def evaluate_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """The results of a recorded session, worked out anew as far as no world is needed; the rest as it was recorded."""
    known = dict(record.get("results") or {})
    old = known.get("harm") or {}
    steps = [_step(one) for one in record.get("steps") or ()]
    changing = old.get("changing_steps")
    if changing is None:
        changing = [step.number for step in steps if may_change(step)]
    simulated_s = float(record["simulated"]["duration_s"])
    measured = {
        **conduct(steps),
        **tokens(steps, _recorded_usage(record)),
        "simulated_s": simulated_s,
        "harm": {
            **old,
            **_harm(steps, _health(record.get("health")), _health(old.get("after")), changing, simulated_s),
        },
    }
    wall = record.get(WALL) or {}
    if "session_s" in wall:
        measured[WALL] = _wall(wall["session_s"], wall.get("agent_s", 0.0))
    return known | measured


def _harm(
    steps: Sequence[Step],
    start: Health | None,
    after: Health | None,
    changing: Sequence[int],
    simulated_s: float,
) -> dict[str, Any]:
    seen = samples(steps, start, None, simulated_s)
    seen_later = samples(steps, start, after, simulated_s)
    return {
        "severity": severity_over_time(seen),
        "after": None if after is None else _as_mapping(after),
        "changing_steps": list(changing),
        "regressions": regressions(seen_later, steps, changing),
    }


def _case(task: Task, session: Session, results: Mapping[str, Any]) -> Case:
    truth = {"answer": task.expected(), "faults": [fault.truth for fault in task.faults]}
    success = results.get("success")
    return Case(
        task.get_task_description(),
        truth,
        session.solution,
        success if isinstance(success, bool) else None,
        session.trace,
    )


def _wall(wall_s: float, agent_s: float) -> dict[str, float]:
    return {"wall_s": wall_s, "agent_wall_s": agent_s, "framework_wall_s": max(wall_s - agent_s, 0.0)}


def _own_metrics(task: Task, session: Session, results: Mapping[str, Any]) -> dict[str, Any]:
    added: dict[str, Any] = {}
    errors: list[str] = []
    for metric in task.metrics:
        name = getattr(metric, "__name__", type(metric).__name__)
        try:
            told = dict(metric(task, session))
        except Exception as error:
            errors.append(f"The metric {name} failed: {type(error).__name__}: {error}"[:WORDS])
            continue
        taken = sorted(str(key) for key in told if key in results or key in added)
        if taken:
            errors.append(
                f"The metric {name} gave {', '.join(taken)}, which is taken; nothing of it was added. Name it otherwise."
            )
            continue
        added |= told
    return added | ({"metric_errors": errors} if errors else {})


def _step(told: Mapping[str, Any]) -> Step:
    """A step of a record, be it of an older version that kept less or of a newer one that keeps more."""
    known: dict[str, Any] = {field.name: told.get(field.name) for field in fields(Step)}
    known |= {
        "args": tuple(told.get("args") or ()),
        "kwargs": told.get("kwargs") or {},
        "health": _health(told["health"]),
        "changed": told.get("changed") or {},
        "wall_s": 0.0,
    }
    return Step(**known)


def _health(told: Mapping[str, Any] | None) -> Health | None:
    if told is None:
        return None
    return Health(told["severity"], told["failed"], told["slow"], tuple(told["unhealthy"]))


def _as_mapping(now: Health) -> dict[str, Any]:
    return {
        "severity": now.severity,
        "failed": now.failed,
        "slow": now.slow,
        "unhealthy": list(now.unhealthy),
    }


def _recorded_usage(record: Mapping[str, Any]) -> Usage | None:
    """What an agent had said that it used."""
    results = record.get("results") or {}
    if results.get("tokens_estimated") is not False:
        return None
    return Usage(results["in_tokens"], results["out_tokens"], results.get("cost_usd"))
