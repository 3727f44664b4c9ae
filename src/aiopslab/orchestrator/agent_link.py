"""The orchestrator's view of an agent: it is sent a state and answers in time, or fails in a known way."""

import json
import traceback
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

from aiopslab.orchestrator.models import Tool
from aiopslab.orchestrator.parser import MAX_RESPONSE_CHARS
from aiopslab.utils import AIOpsLabError

_MAX_COUNT = 10**15
_MAX_MESSAGE_CHARS = 2000
_MAX_SETTINGS_CHARS = 20_000


class AgentFailed(AIOpsLabError):
    """The agent raised, or answered with something other than text; its session is over."""


class AgentTimedOut(AgentFailed):
    """The agent did not answer in time."""


class AgentGone(AgentFailed):
    """The agent's process ended, or the agent ended itself, while a call to it was pending."""


class AgentGaveUp(AgentFailed):
    """The agent ends its session without an answer. It is judged like one that reached its limit."""


class AgentNotStarted(AgentFailed):
    """The agent could not be started: an unknown name, no such program, no key, an unreachable endpoint."""


@dataclass(frozen=True)
class Usage:
    """Tokens and cost that an agent reports, counted from its start."""

    in_tokens: int
    out_tokens: int
    cost_usd: float | None = None
    cached_tokens: int | None = None
    """The part of `in_tokens` that was read from a provider's cache."""


class AgentLink(ABC):
    """One agent for the length of one session. Every method ends within the agent's timeout."""

    name: str

    async def start(self) -> None:  # noqa: B027 (most agents need no start)
        """Start the agent ahead of its session, so that errors are known before a world is prepared. Idempotent.

        Raises `AgentNotStarted`.
        """

    @abstractmethod
    async def init(
        self, problem: str, instructions: str, apis: dict[str, str], tools: Sequence[Tool] = ()
    ) -> None:
        """Pass the problem to the agent, where that is the link's job. `tools` are the actions for function calling.

        Raises as `get_action` does.
        """

    @abstractmethod
    async def get_action(self, state: str) -> str:
        """Return the agent's answer to an observation.

        Raises `AgentTimedOut`, `AgentGone`, `AgentGaveUp`, or `AgentFailed` for every other failure of the agent; a keyboard interrupt
        passes through.
        """

    @abstractmethod
    def usage(self) -> Usage | None:
        """Return the agent's usage up to its latest answer, or None if it reports none."""

    def settings(self) -> dict[str, Any]:
        """Return what the agent says about itself for the record, such as its model and the version of its prompt."""
        return {}

    def keep_last_words(self, journal: Path, draft: str) -> bool:
        """Have a line appended to the session's journal if this process is killed; return whether that is possible."""
        return False

    @abstractmethod
    async def close(self) -> None:
        """Release the agent and end everything that was started for it. Idempotent."""


def truncate(text: str, limit_chars: int = _MAX_MESSAGE_CHARS) -> str:
    """Return the text, cut to a number of characters."""
    return (
        text
        if len(text) <= limit_chars
        else f"{text[:limit_chars]}… ({len(text) - limit_chars} more characters)"
    )


def check_response(name: str, answer: object) -> str:
    """Return the answer as text of bounded length; raises `AgentFailed` if it is not text.

    A cut answer stays longer than the parser accepts, so that it is refused as too long and never parsed in part.
    """
    if not isinstance(answer, str):
        raise AgentFailed(
            f"The agent {name} answered with {_add_article(type(answer).__name__)}; get_action must return its "
            "response as text (str)."
        )
    return truncate(answer, MAX_RESPONSE_CHARS)


def parse_usage(reported: object) -> Usage | None:
    """Return the usage that an agent reports as a mapping or an object; None if it is invalid."""
    tokens_in = _parse_count(_get_field(reported, "in_tokens", "input_tokens", "prompt_tokens"))
    tokens_out = _parse_count(_get_field(reported, "out_tokens", "output_tokens", "completion_tokens"))
    if tokens_in is None and tokens_out is None:
        return None
    return Usage(
        tokens_in or 0,
        tokens_out or 0,
        _parse_cost(_get_field(reported, "cost_usd")),
        _parse_count(_get_field(reported, "cached_tokens")),
    )


def parse_settings(reported: object) -> dict[str, Any]:
    """Return the settings that an agent reports as a mapping; empty if they are no JSON, or too long."""
    if not isinstance(reported, Mapping):
        return {}
    try:
        text = json.dumps(dict(reported))
    except (TypeError, ValueError, RecursionError):
        return {}
    settings: dict[str, Any] = json.loads(text) if len(text) <= _MAX_SETTINGS_CHARS else {}
    return settings


def _get_field(reported: object, *names: str) -> object:
    for name in names:
        value: Any = reported.get(name) if isinstance(reported, Mapping) else getattr(reported, name, None)
        if value is not None:
            return value
    return None


def _parse_count(value: object) -> int | None:
    return int(value) if _is_number(value) else None


def _parse_cost(value: object) -> float | None:
    return float(value) if _is_number(value) else None


def _is_number(value: object) -> TypeGuard[int | float]:
    """Whether it is a plausible count or cost; NaN and infinity fail the comparison."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _MAX_COUNT


def _add_article(noun: str) -> str:
    if noun == "NoneType":
        return "nothing (None)"
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def format_error(error: BaseException) -> str:
    """Return an exception's class and text, and the line of code that raised it; its `__str__` may itself fail."""
    try:
        text = truncate(str(error))
    except Exception:
        text = "(its text cannot be shown)"
    what = f"{type(error).__name__}: {text}" if text else type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return what
    return f"{what} ({frames[-1].filename}, line {frames[-1].lineno}, in {frames[-1].name})"
