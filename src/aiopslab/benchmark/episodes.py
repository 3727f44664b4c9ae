"""Finished episodes of a benchmark, as the store keeps them and reports read them.

An episode is one session of one agent on one problem. Its verdict is ``success``: whether the problem was solved; None if the session
could not be judged, because the agent failed or because the harness did. A failed agent has not solved its problem; a failed
harness says nothing about the agent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from aiopslab.orchestrator.evaluation import list_programs

WORKER_DIED: Final = "worker died"
"""Ending of an episode whose worker process was lost each time that it was tried."""
HARNESS_ENDINGS: Final = ("harness error", "harness timed out", WORKER_DIED)
"""Endings for which the agent is not to blame: such episodes count neither for nor against it."""
HEALTHY: Final = "none"
"""The family of problems without a fault."""


class EpisodeKey(NamedTuple):
    """What identifies an episode within a run."""

    agent: str
    problem: str
    seed: int
    repeat: int


@dataclass(frozen=True)
class Facts:
    """What reports group problems by."""

    task: str
    app: str
    family: str
    """The fault that was injected; ``none`` for a healthy system."""
    layer: str
    difficulty: str


@dataclass(frozen=True)
class Action:
    """One step of an agent, as far as reports count it."""

    name: str
    """The action; empty when none could be parsed from the answer."""
    is_valid: bool
    programs: tuple[str, ...] = ()
    """Programs of a shell command, such as ``kubectl get``."""


@dataclass(frozen=True)
class Episode:
    """One finished episode."""

    agent: str
    problem: str
    seed: int
    repeat: int
    facts: Facts
    ending: str
    why: str = ""
    success: bool | None = None
    model: str = ""
    """The language model that the agent reports; empty if it reports none."""
    steps: int = 0
    in_tokens: int = 0
    out_tokens: int = 0
    cost_usd: float | None = None
    """None if the agent does not report it."""
    simulated_s: float = 0.0
    wall_s: float = 0.0
    agent_s: float = 0.0
    began: float = 0.0
    """Start on the host's clock, in seconds since 1970."""
    record: str = ""
    """Path of the session record, relative to the folder of the store; empty if there is none."""
    results: Mapping[str, Any] = field(default_factory=dict)
    actions: Sequence[Action] = ()

    @property
    def key(self) -> EpisodeKey:
        return EpisodeKey(self.agent, self.problem, self.seed, self.repeat)

    @property
    def is_counted(self) -> bool:
        """Whether it counts for or against the agent."""
        return self.ending not in HARNESS_ENDINGS

    @property
    def is_solved(self) -> bool:
        return self.success is True

    @property
    def is_healthy(self) -> bool:
        """Whether nothing was wrong with the system, so that an alarm is false."""
        return self.facts.family == HEALTHY


def build_episode(key: EpisodeKey, facts: Facts, result: Mapping[str, Any], record: str) -> Episode:
    """Return the episode for what ``run_episode`` returned; ``record`` is the path for the store."""
    results, session = result["results"], result["session"]
    return Episode(
        *key,
        facts=facts,
        ending=result["ending"],
        why=result["why"],
        success=results.get("success"),
        model=str(session["agent_settings"].get("model", "")),
        steps=len(session["steps"]),
        in_tokens=results.get("in_tokens", 0),
        out_tokens=results.get("out_tokens", 0),
        cost_usd=results.get("cost_usd"),
        simulated_s=session["simulated"]["duration_s"],
        wall_s=session["wall"]["session_s"],
        agent_s=session["wall"]["agent_s"],
        began=session["start_time"],
        record=record,
        results=session["results"],
        actions=[build_action(step) for step in session["steps"]],
    )


def build_action(step: Mapping[str, Any]) -> Action:
    """Return the action of a recorded step."""
    line = step["args"][0] if step["args"] else step["kwargs"].get("command", "")
    is_shell = step["api_name"] == "exec_shell" and isinstance(line, str)
    return Action(step["api_name"], step["valid"], tuple(list_programs(line)) if is_shell else ())
