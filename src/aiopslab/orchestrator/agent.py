"""From whatever somebody brings as an agent to an `AgentLink`.

Agents are objects with `get_action(state)`, plain or async; functions of the state, plain or async; classes of either
that need no arguments; and programs that speak JSON lines (`SubprocessAgent`). docs/agents.md shows each.

Who makes an agent introduces it: a script that made an object tells it the problem itself, as scripts for the public
release do (`agent.init_context(...)`), so the link tells only those that it made, from a class or a command, and those that it is
asked to introduce.
"""

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

from aiopslab.orchestrator.agent_link import (
    AgentFailed,
    AgentGone,
    AgentLink,
    AgentTimedOut,
    Usage,
    as_response,
    as_usage,
    bounded,
)
from aiopslab.orchestrator.callers_loop import CallersLoop
from aiopslab.orchestrator.own_thread import Overdue, OwnThread
from aiopslab.orchestrator.subprocess_agent import SubprocessAgent

__all__ = [
    "AgentFailed", "AgentGone", "AgentLink", "AgentTimedOut", "SubprocessAgent", "Usage", "link",
]  # fmt: skip


def link(
    agent: object, name: str, *, timeout_s: float, introduce: bool = False, shared_loop: bool = False
) -> AgentLink:
    """A link to an agent of any kind; `AgentFailed` if the object is none.

    With `introduce` an object is told the problem, too, by its `init_context`: whoever links it has not done so.
    On a `shared_loop` an async agent is asked: it may hold something that lives there.
    """
    if isinstance(agent, AgentLink):
        return agent  # somebody who answers in a way of their own, a person at a keyboard
    if isinstance(agent, SubprocessAgent):
        return agent.link(name, timeout_s=timeout_s)
    if not (callable(agent) or callable(getattr(agent, "get_action", None))):
        raise AgentFailed(
            f"{bounded(repr(agent), 80)} is no agent. An agent is an object with get_action(state), a function of the state, "
            "or SubprocessAgent([command, …])."
        )
    lives_here = shared_loop and not inspect.isclass(agent) and _is_async(agent)
    place = CallersLoop() if lives_here else OwnThread(f"agent {name}")
    return _LocalLink(agent, name, timeout_s, place, introduce)


class _LocalLink(AgentLink):
    """An agent in this process: in a thread of its own, or on the loop on which it lives."""

    def __init__(
        self, agent: Any, name: str, timeout_s: float, place: OwnThread | CallersLoop, introduce: bool
    ) -> None:
        self.name = name
        self._agent = agent
        self._is_class = inspect.isclass(agent)
        self._introduce = introduce or self._is_class
        self._timeout_s = timeout_s
        self._place = place
        self._usage: Usage | None = None

    async def init(self, problem: str, instructions: str, apis: dict[str, str]) -> None:
        if self._is_class:
            await self._make()
        if self._introduce and callable(getattr(self._agent, "init_context", None)):
            await self._do(
                lambda: self._agent.init_context(problem, instructions, apis), "taken in its problem"
            )

    async def get_action(self, state: str) -> str:
        if self._is_class:
            await self._make()
        ask = getattr(self._agent, "get_action", self._agent)
        answer = as_response(self.name, await self._do(lambda: ask(state), "answered"))
        self._usage = await self._do(self._read_usage, "told its usage")
        return answer

    def usage(self) -> Usage | None:
        return self._usage

    async def close(self) -> None:
        self._place.close()

    async def _make(self) -> None:
        self._agent = await self._do(self._agent, "been made")
        self._is_class = False
        if not (callable(self._agent) or callable(getattr(self._agent, "get_action", None))):
            raise AgentFailed(
                f"The class given as the agent {self.name} makes no agents: its objects have no get_action(state)."
            )

    async def _do(self, work: Callable[[], object], what: str) -> Any:
        try:
            return await self._place.run(work, self._timeout_s)
        except Overdue:
            raise AgentTimedOut(
                f"The agent {self.name} has not {what} within {self._timeout_s:g} s. Make it answer faster, or give it more time."
            ) from None
        except SystemExit as error:
            raise AgentGone(f"The agent {self.name} ended itself with exit code {error.code}.") from error
        except (KeyboardInterrupt, asyncio.CancelledError):
            raise
        except BaseException as error:
            raise AgentFailed(f"The agent {self.name} raised {_told(error)}") from error

    def _read_usage(self) -> Usage | None:
        """Tolerant: an agent that cannot say what it used is no worse an agent."""
        try:
            told = getattr(self._agent, "usage", None)
            if inspect.iscoroutinefunction(told):
                return None
            return as_usage(told() if callable(told) else told)
        except Exception:
            return None


def _is_async(agent: object) -> bool:
    ask = getattr(agent, "get_action", agent)
    return inspect.iscoroutinefunction(ask) or inspect.iscoroutinefunction(type(ask).__call__)


def _told(error: BaseException) -> str:
    """An exception as its class and its text, whatever its text does."""
    try:
        text = bounded(str(error))
    except Exception:
        text = "(its text cannot be shown)"
    return f"{type(error).__name__}: {text}" if text else f"{type(error).__name__}."
