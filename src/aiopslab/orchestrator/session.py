"""Sessions: every answer, every observation, and the system's health after each step.

Times are simulated. Fields that depend on the host's clock begin with ``wall``; no other field depends on it.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal
from uuid import NAMESPACE_URL, uuid5

from aiopslab.utils import AIOpsLabError

if TYPE_CHECKING:
    from aiopslab.cloud import Declared
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
"""Key of everything in records and results that depends on the host's clock."""
DIGITS: Final = 6
"""Time differences are rounded to microseconds, which removes floating-point noise."""


class NotOver(AIOpsLabError):
    """The record of a session was requested before the session ended."""


@dataclass(frozen=True)
class Step:
    """One step: the agent's answer, the observation, and the system's health afterwards."""

    number: int
    response: str
    api_name: str
    """The action; empty when none could be parsed from the answer."""
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    observation: str
    valid: bool
    """Whether an action was performed, or a submission accepted."""
    at_s: float
    """Start of the action, in simulated seconds since the session began."""
    took_s: float
    """Duration of the action, in simulated seconds."""
    health: Health
    changed: dict[str, str]
    """Declared objects that were ``added``, ``removed`` or ``changed`` in this step, by kind and name."""
    in_tokens: int | None
    """Tokens that the agent reports for this step; None when it reports none."""
    out_tokens: int | None
    wall_s: float
    """Thinking time of the agent, in wall time."""


class SessionItem(dict[str, str]):
    """One message: ``role`` (``assistant`` or ``env``) and ``content``, by key as in records, or by attribute."""

    @property
    def role(self) -> str:
        return self["role"]

    @property
    def content(self) -> str:
        return self["content"]

    def model_dump(self) -> dict[str, str]:
        """Return a plain dict."""
        return dict(self)


@dataclass
class Session:
    """One agent's work on one problem."""

    problem_id: str
    agent_name: str
    seed: int
    episode: int
    """Number of this session among those of its orchestrator."""
    began_s: float
    ended_s: float
    max_steps: int
    steps: list[Step] = field(default_factory=list)
    solution: Any = None
    ending: Ending | None = None
    """How it ended; None while it goes on."""
    why: str = ""
    """Explanation of an abnormal ending, in a sentence."""
    health: Health | None = None
    """The system's health when it began; None when it was not measured."""
    declared: Declared = field(default_factory=dict)
    """The objects declared when it began."""
    usage: Usage | None = None
    """Total usage that the agent reports; None when it reports none."""
    wall_began: float = 0.0
    """By the host's clock, in seconds since 1970."""
    wall_ended: float = 0.0
    wall_agent_s: float = 0.0
    """Total thinking time of the agent, in wall time."""
    results: dict[str, Any] = field(default_factory=dict)
    """The evaluation; empty until the session is judged."""
    record: dict[str, Any] | None = None
    """The record; None until the session is over."""

    @property
    def session_id(self) -> str:
        """A UUID made of problem, seed, agent and episode, so that it is the same in every run."""
        identity = f"{self.problem_id} {self.seed} {self.agent_name} {self.episode}"
        return str(uuid5(NAMESPACE_URL, identity))

    @property
    def duration_s(self) -> float:
        """Duration in simulated seconds."""
        return round(self.ended_s - self.began_s, DIGITS)

    @property
    def trace(self) -> list[dict[str, str]]:
        """The conversation; each message is a ``SessionItem``."""
        messages: list[dict[str, str]] = []
        for step in self.steps:
            messages.append(SessionItem(role="assistant", content=step.response))
            messages.append(SessionItem(role="env", content=step.observation))
        return messages

    history = trace
    """The public release's name."""

    def to_dict(self) -> dict[str, Any]:
        """Return a copy of the record; raises ``NotOver`` while there is none."""
        if self.record is None:
            raise NotOver(
                "The session is not over, so there is no record of it yet. Await start_problem() first."
            )
        return deepcopy(self.record)
