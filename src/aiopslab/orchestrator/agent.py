"""Links every supported kind of agent to the orchestrator.

An agent is an object with `get_action(state)`, plain or async; a function of the state, plain or async; a class of either
that needs no arguments; or a program that speaks JSON lines (`SubprocessAgent`). docs/agents.md shows each.

A script that creates an agent object also passes it the problem, as scripts for the public release do
(`agent.init_context(...)`). So the link calls `init_context` only on agents that it creates itself, from a class or a
command, and on those linked with `introduce`.
"""

import asyncio
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from aiopslab.orchestrator.agent_link import (
    AgentFailed,
    AgentGone,
    AgentLink,
    AgentNotStarted,
    AgentTimedOut,
    Usage,
    check_response,
    format_error,
    parse_settings,
    parse_usage,
    truncate,
)
from aiopslab.orchestrator.agent_runners import LoopRunner, ThreadRunner, WorkTimedOut
from aiopslab.orchestrator.models import Tool
from aiopslab.orchestrator.subprocess_agent import SubprocessAgent

__all__ = [
    "AgentFailed", "AgentGone", "AgentLink", "AgentNotStarted", "AgentTimedOut", "SubprocessAgent", "Usage", "link",
]  # fmt: skip


def link(
    agent: object, name: str, *, timeout_s: float, introduce: bool = False, shared_loop: bool = False
) -> AgentLink:
    """Return a link to an agent of any kind; raises `AgentFailed` if the object is not an agent.

    With `introduce`, the link also passes the problem to the object's `init_context`.
    With `shared_loop`, an async agent runs on the caller's loop, because it may hold resources that live there.
    """
    if isinstance(agent, AgentLink):
        return agent  # a custom link, such as a person at a keyboard
    if isinstance(agent, SubprocessAgent):
        return agent.link(name, timeout_s=timeout_s)
    if not _is_agent(agent):
        raise AgentFailed(
            f"{truncate(repr(agent), 80)} is not an agent. An agent is an object with get_action(state), a function of the "
            "state, or SubprocessAgent([command, …])."
        )
    on_loop = shared_loop and not inspect.isclass(agent) and _is_async(agent)
    runner = LoopRunner() if on_loop else ThreadRunner(f"agent {name}")
    return _LocalLink(agent, name, timeout_s, runner, introduce)


class _LocalLink(AgentLink):
    """An agent in this process: in a thread of its own, or on the caller's loop."""

    def __init__(
        self, agent: Any, name: str, timeout_s: float, runner: ThreadRunner | LoopRunner, introduce: bool
    ) -> None:
        self.name = name
        self._agent = agent
        self._is_class = inspect.isclass(agent)
        self._introduce = introduce or self._is_class
        self._timeout_s = timeout_s
        self._runner = runner
        self._usage: Usage | None = None
        self._settings: dict[str, Any] = {}

    async def init(
        self, problem: str, instructions: str, apis: dict[str, str], tools: Sequence[Tool] = ()
    ) -> None:
        if self._is_class:
            await self._instantiate()
        if callable(getattr(self._agent, "init_tools", None)):
            await self._run(lambda: self._agent.init_tools(tools), "finish init_tools")
        if self._introduce and callable(getattr(self._agent, "init_context", None)):
            await self._run(
                lambda: self._agent.init_context(problem, instructions, apis), "finish init_context"
            )
        self._settings = await self._run(self._read_settings, "report its settings")

    async def get_action(self, state: str) -> str:
        if self._is_class:
            await self._instantiate()
        function = getattr(self._agent, "get_action", self._agent)
        answer = check_response(self.name, await self._run(lambda: function(state), "answer"))
        self._usage = await self._run(self._read_usage, "report its usage")
        return answer

    def usage(self) -> Usage | None:
        return self._usage

    def settings(self) -> dict[str, Any]:
        return self._settings

    async def close(self) -> None:
        self._runner.close()

    async def _instantiate(self) -> None:
        self._agent = await self._run(self._agent, "start")
        self._is_class = False
        if not _is_agent(self._agent):
            raise AgentFailed(
                f"The class given as the agent {self.name} makes no agents: its objects have no get_action(state)."
            )

    async def _run(self, work: Callable[[], object], what: str) -> Any:
        """Run work of the agent; `what` completes "The agent did not" if it times out."""
        try:
            return await self._runner.run(work, self._timeout_s)
        except WorkTimedOut:
            raise AgentTimedOut(
                f"The agent {self.name} did not {what} within {self._timeout_s:g} s. Make it faster, or increase its timeout."
            ) from None
        except SystemExit as error:
            raise AgentGone(f"The agent {self.name} ended itself with exit code {error.code}.") from error
        except (KeyboardInterrupt, asyncio.CancelledError):
            raise
        except BaseException as error:
            raise AgentFailed(f"The agent {self.name} raised {format_error(error)}") from error

    def _read_usage(self) -> Usage | None:
        """Return the agent's usage; None if it has none or fails to report it."""
        try:
            usage = getattr(self._agent, "usage", None)
            if inspect.iscoroutinefunction(usage):
                return None
            return parse_usage(usage() if callable(usage) else usage)
        except Exception:
            return None

    def _read_settings(self) -> dict[str, Any]:
        """Return the agent's settings; empty if it has none or fails to report them."""
        try:
            settings = getattr(self._agent, "settings", None)
            if inspect.iscoroutinefunction(settings):
                return {}
            return parse_settings(settings() if callable(settings) else settings)
        except Exception:
            return {}


def _is_agent(agent: object) -> bool:
    return callable(agent) or callable(getattr(agent, "get_action", None))


def _is_async(agent: object) -> bool:
    function = getattr(agent, "get_action", agent)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)
