"""The answers of the interface, for its description. A field that may be missing is UNSET."""

from __future__ import annotations

from typing import Any, Final, Literal

from msgspec import UNSET, Struct, UnsetType


class Problem(Struct):
    """A problem, without what is wrong in it."""

    id: str
    task: str
    app: str
    difficulty: Literal["easy", "medium", "hard"]
    drawn: bool
    """Whether the seed decides what is wrong."""


class Agent(Struct):
    """An agent that may work on sessions."""

    name: str
    summary: str


class Tool(Struct):
    """An action, for function calling."""

    name: str
    description: str
    parameters: dict[str, Any]
    """A JSON schema."""


class Session(Struct):
    """A session. ``problem`` is there if the caller chose it, or at the end; ``results`` at the end."""

    id: str
    state: Literal["preparing", "open", "ended"]
    seed: int
    agent: str | None
    max_steps: int
    steps: int
    created: float
    ending: str | None
    error: str | None
    task: str | UnsetType = UNSET
    app: str | UnsetType = UNSET
    severity: float | UnsetType | None = UNSET
    pid: int | UnsetType | None = UNSET
    problem: str | UnsetType = UNSET
    why: str | UnsetType = UNSET
    results: dict[str, Any] | UnsetType = UNSET
    record: str | UnsetType | None = UNSET
    description: str | UnsetType | None = UNSET
    instructions: str | UnsetType | None = UNSET
    observation: str | UnsetType | None = UNSET
    actions: list[Tool] | UnsetType | None = UNSET
    token: str | UnsetType = UNSET


class Step(Struct):
    """What an action led to."""

    step: int
    observation: str
    ended: bool
    results: dict[str, Any] | None


class RecordSummary(Struct):
    """A stored record."""

    name: str
    problem: str | None
    agent: str | None
    seed: int | None
    start_time: float | None
    ending: str
    success: bool | None
    steps: int


class Benchmark(Struct):
    """A benchmark below the folder of the results."""

    name: str
    episodes: int
    plan: dict[str, Any]
    settings: dict[str, Any]


class Table(Struct):
    """A table of a report. A cell is a text, a number, a share or an amount with its interval."""

    name: str
    title: str
    header: list[str]
    rows: list[list[Any]]
    note: str
    labels: int


class Report(Struct):
    """The tables of a benchmark."""

    name: str
    episodes: int
    tables: list[Table]


class EpisodeSummary(Struct):
    """An episode of a benchmark, with the name of its record."""

    agent: str
    problem: str
    seed: int
    repeat: int
    ending: str
    success: bool | None
    steps: int
    record: str | None


class Episodes(Struct):
    """Some of the episodes that were found, and the number of all of them."""

    total: int
    episodes: list[EpisodeSummary]


class SimulationResult(Struct):
    """The answer of the public AIOpsLab service."""

    agent: str
    session_id: str
    problem_id: str
    start_time: float
    end_time: float
    trace: list[dict[str, str]]
    results: dict[str, Any]


ANSWERS: Final[dict[str, Any]] = {
    "list_problems": list[Problem],
    "get_problem": Problem,
    "list_agents": list[Agent],
    "create_session": Session,
    "list_sessions": list[Session],
    "get_session": Session,
    "end_session": Session,
    "list_actions": list[Tool],
    "act": Step,
    "list_records": list[RecordSummary],
    "list_benchmarks": list[Benchmark],
    "report_benchmark": Report,
    "list_episodes": Episodes,
    "simulate": SimulationResult,
    "check_health": dict[str, str],
    "list_problem_ids": list[str],
    "list_agent_names": list[str],
}
"""Types of answers, by the name of their handler; other answers are documents of no fixed form."""
