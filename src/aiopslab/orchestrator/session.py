"""Sessions: every answer, every observation, and the system's health after each step.

Times are simulated. Fields that depend on the host's clock begin with ``wall``; no other field depends on it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal
from uuid import NAMESPACE_URL, uuid5

from aiopslab.utils import NotAvailable

if TYPE_CHECKING:
    from aiopslab.cloud import Declared, State
    from aiopslab.orchestrator.agent_link import Usage
    from aiopslab.orchestrator.evaluation.severity import Health

Ending = Literal[
    "submitted",
    "step limit",
    "time limit",
    "agent error",
    "agent timed out",
    "agent gone",
    "gave up",
    "interrupted",
    "cut off",
    "harness timed out",
    "harness error",
]


WALL: Final = "wall"
"""Key of everything in records and results that depends on the host's clock."""
DIGITS: Final = 6
"""Time differences are rounded to microseconds, which removes floating-point noise."""


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

    @classmethod
    def model_validate(cls, item: Mapping[str, str]) -> SessionItem:
        """Return a message from a mapping with ``role`` and ``content``."""
        return cls(role=str(item["role"]), content=str(item["content"]))

    def model_dump(self) -> dict[str, str]:
        """Return a plain dict."""
        return dict(self)


@dataclass
class Session:
    """One agent's work on one problem. An orchestrator fills it; scripts may also fill one by hand, with ``add`` and setters."""

    problem_id: str = ""
    agent_name: str = "agent"
    seed: int = 0
    episode: int = 1
    """Number of this session among those of its orchestrator."""
    began_s: float = 0.0
    ended_s: float = 0.0
    max_steps: int = 0
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
    state: State = field(default_factory=dict)
    """The configuration of nodes and the accounts of databases when it began."""
    usage: Usage | None = None
    """Total usage that the agent reports; None when it reports none."""
    agent_settings: dict[str, Any] = field(default_factory=dict)
    """What the agent reports about itself, such as its model and the version of its prompt."""
    wall_began: float = 0.0
    """By the host's clock, in seconds since 1970."""
    wall_ended: float = 0.0
    wall_agent_s: float = 0.0
    """Total thinking time of the agent, in wall time."""
    results: dict[str, Any] = field(default_factory=dict)
    """The evaluation; empty until the session is judged."""
    transactions: list[dict[str, Any]] | None = None
    """The transactions; None without transactional no-regression."""
    record: dict[str, Any] | None = None
    """The record; None until the session is over."""
    problem: Any = None
    """The problem, a task; None in a session that a script has filled."""
    results_dir: Path | str | None = None
    """The folder of ``to_json`` and ``from_json``; None for the default."""
    loaded_id: str = ""
    """The id of a session that was read from a file."""
    added: list[tuple[int, SessionItem]] = field(default_factory=list)
    """Messages that a script has added, each with the number of messages before it."""

    @property
    def session_id(self) -> str:
        """A UUID made of problem, seed, agent and episode, so that it is the same in every run."""
        if self.loaded_id:
            return self.loaded_id
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
        for place, item in self.added:
            messages.insert(place, item)
        return messages

    history = trace
    """The public release's name."""

    @property
    def pid(self) -> str:
        """The problem's id, under the public release's name."""
        return self.problem_id

    @property
    def start_time(self) -> float | None:
        """When it began, by the host's clock; None before."""
        return self.wall_began or None

    @property
    def end_time(self) -> float | None:
        """When it ended, by the host's clock; None before."""
        return self.wall_ended or None

    def set_problem(self, problem: Any, pid: str | None = None) -> None:
        """Set the problem and its id."""
        self.problem, self.problem_id = problem, pid or ""

    def set_solution(self, solution: Any) -> None:
        """Set the agent's answer."""
        self.solution = solution

    def set_results(self, results: Mapping[str, Any]) -> None:
        """Set the results."""
        self.results = dict(results)

    def set_agent(self, agent_name: str) -> None:
        """Set the agent's name."""
        self.agent_name = agent_name

    def add(self, item: Mapping[str, str] | Iterable[Mapping[str, str]] | None) -> None:
        """Add a message or several to the conversation; raises ``TypeError``."""
        if isinstance(item, Mapping):
            self.added.append((len(self.trace), SessionItem.model_validate(item)))
        elif isinstance(item, list | tuple):
            for message in item:
                self.add(message)
        elif item:
            raise TypeError(f"A message has a role and a content; {type(item).__name__} is none.")

    def clear(self) -> None:
        """Remove all messages."""
        self.steps.clear()
        self.added.clear()

    def start(self) -> None:
        """Note the time at which the session begins."""
        self.wall_began = time.time()

    def end(self) -> None:
        """Note the time at which the session ends."""
        self.wall_ended = time.time()

    def get_duration(self) -> float:
        """Return the duration in simulated seconds, or in real ones for a session that a script has filled."""
        return self.duration_s or self.wall_ended - self.wall_began

    def to_dict(self) -> dict[str, Any]:
        """Return a copy of the record; before the session is over, what is known of it."""
        if self.record is not None:
            return deepcopy(self.record)
        return {
            "agent": self.agent_name,
            "session_id": self.session_id,
            "problem_id": self.problem_id,
            "start_time": self.start_time,
            "end_time": self.end_time,
            "trace": [dict(item) for item in self.trace],
            "results": dict(self.results),
        }

    def to_json(self) -> Path:
        """Write ``to_dict`` to a file of the folder, and return its path; an orchestrator does this by itself."""
        folder = self._get_folder()
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.session_id}_{self.start_time}.json"
        path.write_text(json.dumps(self.to_dict(), indent=1))
        return path

    def from_json(self, filename: str) -> None:
        """Read a session from a file of the folder."""
        data = json.loads((self._get_folder() / filename).read_text())
        self.loaded_id, self.problem_id, self.agent_name = (
            data[key] for key in ("session_id", "problem_id", "agent")
        )
        self.wall_began, self.wall_ended = data["start_time"] or 0.0, data["end_time"] or 0.0
        self.clear()
        self.add(data["trace"])
        self.results = data["results"]

    def _get_folder(self) -> Path:
        from aiopslab.paths import RESULTS_DIR  # loads YAML, which sessions do not need

        return Path(self.results_dir or RESULTS_DIR)

    def to_wandb(self) -> None:
        """Log ``to_dict`` to Weights & Biases; raises ``NotAvailable`` if the package ``wandb`` is not installed."""
        try:
            wandb = import_module("wandb")
        except ImportError:
            raise NotAvailable(
                "Weights & Biases needs the package wandb: install it, or leave USE_WANDB unset."
            ) from None
        wandb.log(self.to_dict())
