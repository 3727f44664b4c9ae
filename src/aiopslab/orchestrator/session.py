"""What happened between an agent and one problem: every answer, every observation, and how the system was after each.

Times are of the world's own clock. What the host's clock said stands apart, in ``wall`` fields, because it is never the
same twice; nothing else here depends on it.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal
from uuid import NAMESPACE_URL, uuid5

from aiopslab.utils.status import AIOpsLabError

if TYPE_CHECKING:
    from aiopslab.cloud.declared import Declared
    from aiopslab.orchestrator.agent_link import Usage
    from aiopslab.orchestrator.evaluation.health import Health

Ending = Literal[
    "submitted",
    "step limit",
    "time limit",
    "agent error",
    "agent timed out",
    "agent gone",
    "interrupted",
    "harness timed out",
    "harness error",
]


WALL: Final = "wall"
"""Where the host's clock has its say, in records and in results."""
DIGITS: Final = 6
"""Differences of times are told to the microsecond; what is beyond comes from how numbers are kept."""


class NotOver(AIOpsLabError):
    """A session was asked for what it has only at its end."""


@dataclass(frozen=True)
class Step:
    """One turn: what the agent answered, what came of it, and how the system was then."""

    number: int
    response: str
    api_name: str
    """The action; empty when none could be read from the answer."""
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    observation: str
    valid: bool
    """Whether an action was performed, or a submission taken."""
    at_s: float
    """When the action began, in simulated seconds since the session did."""
    took_s: float
    """How long it took, in simulated seconds."""
    health: Health
    changed: dict[str, str]
    """What became of declared objects in this turn: ``added``, ``removed`` or ``changed``, by place and name."""
    in_tokens: int | None
    """What the agent says this turn has used; None when it does not say."""
    out_tokens: int | None
    wall_s: float
    """How long the agent thought, by the host's clock."""


class SessionItem(dict[str, str]):
    """One thing that was said: ``role``, ``assistant`` or ``env``, and ``content``; by key as in records, or by attribute."""

    @property
    def role(self) -> str:
        return self["role"]

    @property
    def content(self) -> str:
        return self["content"]

    def model_dump(self) -> dict[str, str]:
        """As a plain dict."""
        return dict(self)


@dataclass
class Session:
    """One agent at one problem."""

    problem_id: str
    agent_name: str
    seed: int
    episode: int
    """Which one it is of those that its orchestrator has run."""
    began_s: float
    ended_s: float
    max_steps: int
    steps: list[Step] = field(default_factory=list)
    solution: Any = None
    ending: Ending | None = None
    """How it ended; None while it goes on."""
    why: str = ""
    """More about an ending that was nobody's wish, in a sentence."""
    health: Health | None = None
    """How the system was when it began; None when nobody looked."""
    declared: Declared = field(default_factory=dict)
    """And what was declared there."""
    usage: Usage | None = None
    """What the agent says that it has used in all; None when it does not say."""
    wall_began: float = 0.0
    """By the host's clock, in seconds since 1970."""
    wall_ended: float = 0.0
    wall_agent_s: float = 0.0
    """How long the agent has thought in all, by the host's clock."""
    results: dict[str, Any] = field(default_factory=dict)
    """What it was worth; empty until it is judged."""
    record: dict[str, Any] | None = None
    """What is kept of it; None until it is over."""

    @property
    def session_id(self) -> str:
        """Made from what tells one session of an orchestrator from another, so that it is the same in every run."""
        told = f"{self.problem_id} {self.seed} {self.agent_name} {self.episode}"
        return str(uuid5(NAMESPACE_URL, told))

    @property
    def duration_s(self) -> float:
        """How long it took, in simulated seconds."""
        return round(self.ended_s - self.began_s, DIGITS)

    @property
    def trace(self) -> list[dict[str, str]]:
        """What was said, in turns; each a ``SessionItem``."""
        said: list[dict[str, str]] = []
        for step in self.steps:
            said.append(SessionItem(role="assistant", content=step.response))
            said.append(SessionItem(role="env", content=step.observation))
        return said

    history = trace
    """The public release's name."""

    def to_dict(self) -> dict[str, Any]:
        """What its record says, for scripts to change as they like; raises ``NotOver`` while there is none."""
        if self.record is None:
            raise NotOver(
                "The session is not over, so there is no record of it yet. Await start_problem() first."
            )
        return deepcopy(self.record)
