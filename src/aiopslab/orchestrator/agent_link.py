"""What the orchestrator sees of an agent, whoever it is: somebody to ask, who answers in time or fails in a known way."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from aiopslab.orchestrator.parser import MAX_RESPONSE_CHARS
from aiopslab.utils.status import AIOpsLabError

_MAX_COUNT = 10**15
_MAX_TOLD_CHARS = 2000


class AgentFailed(AIOpsLabError):
    """The agent raised, or answered with something that is no text; its session is over."""


class AgentTimedOut(AgentFailed):
    """The agent did not answer in time."""


class AgentGone(AgentFailed):
    """The agent's process ended, or the agent ended itself, while it was being asked."""


@dataclass(frozen=True)
class Usage:
    """What an agent says it has used so far, since it began."""

    in_tokens: int
    out_tokens: int
    cost_usd: float | None = None


class AgentLink(ABC):
    """One agent for the length of one session. Every method ends within the agent's time."""

    name: str

    @abstractmethod
    async def init(self, problem: str, instructions: str, apis: dict[str, str]) -> None:
        """Tell the agent what it is about, where the link is the one to tell it.

        Raises as `get_action` does.
        """

    @abstractmethod
    async def get_action(self, state: str) -> str:
        """What the agent answers to an observation.

        Raises `AgentTimedOut`, `AgentGone`, or `AgentFailed` for everything else it does wrong; an interrupt from
        the keyboard passes through.
        """

    @abstractmethod
    def usage(self) -> Usage | None:
        """What the agent has used up to its latest answer, or None if it does not say."""

    @abstractmethod
    async def close(self) -> None:
        """Let the agent go, and end whatever was started for it. It may be called twice."""


def bounded(text: str, limit_chars: int = _MAX_TOLD_CHARS) -> str:
    """The text, cut if it is too long to be kept."""
    return (
        text
        if len(text) <= limit_chars
        else f"{text[:limit_chars]}… ({len(text) - limit_chars} more characters)"
    )


def as_response(name: str, answer: object) -> str:
    """The answer as text that can be kept, or `AgentFailed` if it is something else.

    A flood stays longer than what is parsed, so that it is refused as too long and never read in part.
    """
    if not isinstance(answer, str):
        raise AgentFailed(
            f"The agent {name} answered with {_with_article(type(answer).__name__)}; get_action must return its "
            "response as text (str)."
        )
    return bounded(answer, MAX_RESPONSE_CHARS)


def as_usage(told: object) -> Usage | None:
    """What an agent tells of its usage, as a mapping or an object; None if it makes no sense."""
    tokens_in = _count(_field(told, "in_tokens", "input_tokens", "prompt_tokens"))
    tokens_out = _count(_field(told, "out_tokens", "output_tokens", "completion_tokens"))
    if tokens_in is None and tokens_out is None:
        return None
    return Usage(tokens_in or 0, tokens_out or 0, _cost(_field(told, "cost_usd")))


def _field(told: object, *names: str) -> object:
    for name in names:
        value: Any = told.get(name) if isinstance(told, Mapping) else getattr(told, name, None)
        if value is not None:
            return value
    return None


def _count(value: object) -> int | None:
    return int(value) if _is_number(value) else None


def _cost(value: object) -> float | None:
    return float(value) if _is_number(value) else None


def _is_number(value: object) -> TypeGuard[int | float]:
    """Whether it is a count or a sum that makes sense; NaN and the infinite fail the comparison."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _MAX_COUNT


def _with_article(noun: str) -> str:
    if noun == "NoneType":
        return "nothing (None)"
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"
