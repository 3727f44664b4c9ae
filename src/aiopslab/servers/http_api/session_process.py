"""The part of a served session that runs in the world's process: opens it, takes its steps, shows views, closes its record."""

from __future__ import annotations

import json
import resource
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from aiopslab.env import Start, begin
from aiopslab.orchestrator import (
    Ending,
    HarnessTimedOut,
    Orchestrator,
    Stage,
    Usage,
    build_step,
    format_error,
    shield_harness,
    to_json,
)
from aiopslab.servers.views import describe
from aiopslab.utils import AIOpsLabError

VIEW_BYTES: Final = 8 << 20
LAST_VIEWS: Final = ("summary", "series")
OUT_OF_MEMORY: Final = "The session needed more memory than it may have."


@dataclass(frozen=True)
class SessionSettings:
    """What the server decides about a session before it opens."""

    number: int
    """Makes the session's id differ from others with the same problem, seed and agent."""
    agent: str
    """The agent's name in the record."""
    max_steps: int
    records: Path
    memory_mb: int
    action_timeout_s: float
    names_problem: bool
    """Whether the journal may name the problem: not where an agent runs on the same host."""


@dataclass(frozen=True)
class Opening:
    """A session that has been opened."""

    start: Start
    app: str
    journal: Path
    draft: dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """An answer, and what is known of the agent that gave it."""

    text: str
    wall_s: float = 0.0
    usage: Usage | None = None


@dataclass(frozen=True)
class Reaction:
    """What an answer led to."""

    observation: str
    step: dict[str, Any] | None
    """The step as in the record; None if the framework failed."""
    ending: Ending | None
    """How the session has to end now, or None."""
    why: str = ""


@dataclass(frozen=True)
class Closing:
    """A session that has ended."""

    ending: str
    why: str
    results: dict[str, Any]
    record: Path | None
    record_error: str | None
    views: Mapping[str, bytes] = field(default_factory=dict)
    """The views that stay when the world is gone."""


def open_session(stage: Stage, settings: SessionSettings) -> Opening:
    """Begin a session on the prepared problem of a copy."""
    shield_harness()
    _limit_memory(settings.memory_mb)
    options = {"action_timeout_s": settings.action_timeout_s}
    start = begin(stage, settings.number, settings.records, options)
    orchestrator = _get_orchestrator(stage)
    orchestrator.agent_name = settings.agent
    journal, draft = orchestrator.keep_journal(settings.max_steps, names_problem=settings.names_problem)
    assert stage.problem is not None and journal is not None
    return Opening(start, stage.problem.task.app.name, journal, draft)


def take_step(stage: Stage, answer: Answer, max_steps: int) -> Reaction:
    """Perform the action of an answer. An error of the framework is returned, because the session must still be recorded."""
    orchestrator = _get_orchestrator(stage)
    assert stage.problem is not None
    try:
        step, ending = orchestrator.take_step(answer.text, max_steps, answer.wall_s, answer.usage)
    except HarnessTimedOut as error:
        return Reaction("", None, "harness timed out", str(error))
    except MemoryError:
        _lift_memory_limit()
        return Reaction("", None, "harness error", OUT_OF_MEMORY)
    except Exception as error:
        return Reaction("", None, "harness error", format_error(error))
    shown = stage.problem.make_redactor().redact_value(to_json(build_step(step)))
    return Reaction(step.observation, shown, ending)


def close_session(stage: Stage, ending: Ending, why: str, agent_settings: Mapping[str, Any]) -> Closing:
    """Judge and record the session."""
    orchestrator = _get_orchestrator(stage)
    session = orchestrator.session
    assert session is not None
    session.agent_settings = dict(agent_settings)
    with suppress(Exception):  # a judge that fails is in the record, which is written first
        orchestrator.finish_problem(ending, why)
    record = session.record or {}
    views = _make_last_views(stage)
    stage.environment.close()
    return Closing(
        session.ending or ending,
        record.get("why", why),
        record.get("results", {}),
        orchestrator.record_path,
        orchestrator.record_error,
        views,
    )


def show_view(stage: Stage, what: str, query: Mapping[str, str]) -> tuple[int, bytes]:
    """Return the status and the JSON document of a view."""
    try:
        document = json.dumps(describe(what, _get_orchestrator(stage), query)).encode()
    except AIOpsLabError as error:
        return 400, _encode_error(str(error))
    except Exception as error:
        return 500, _encode_error(f"The view '{what}' failed ({type(error).__name__}). The session goes on.")
    if len(document) > VIEW_BYTES:
        return 413, _encode_error(
            f"The view '{what}' is larger than {VIEW_BYTES >> 20} MiB. Ask for a part of it."
        )
    return 200, document


def _make_last_views(stage: Stage) -> dict[str, bytes]:
    """Return the views of the session's course, which now have the injection and the verdict."""
    shown = {what: show_view(stage, what, {}) for what in LAST_VIEWS}
    return {what: document for what, (status, document) in shown.items() if status == 200}


def _encode_error(message: str) -> bytes:
    return json.dumps({"error": message}).encode()


def _get_orchestrator(stage: Stage) -> Orchestrator:
    assert stage.orchestrator is not None, "no session has begun here"
    return stage.orchestrator


def _limit_memory(memory_mb: int) -> None:
    """Let private writable memory grow by this much, on Linux; more raises ``MemoryError``, or ends the process."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        data_pages = int(statm.read_text().split()[5])
        limit_bytes = data_pages * resource.getpagesize() + (memory_mb << 20)
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (limit_bytes, hard))


def _lift_memory_limit() -> None:
    """Give a session that has failed for want of memory what it needs to be recorded."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
