"""The process of an agent in Python: finds the agent and passes messages between it and the harness.

    python -c … SPEC MODEL    # SPEC as for ``--agent``, MODEL may be empty

It speaks the protocol of every agent that is a program (``SubprocessAgent``), and announces itself. It holds no world, no answer and
no judge, and loads none of their code. What the agent prints goes to standard error.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
from dataclasses import asdict
from typing import IO, TYPE_CHECKING, Any

from aiopslab.agents.lookup import find_agent
from aiopslab.orchestrator import check_response, format_error, parse_settings, parse_usage
from aiopslab.orchestrator.models import Tool
from aiopslab.utils import AIOpsLabError

if TYPE_CHECKING:
    from asyncio import Runner


class Host:
    """An agent, and the event loop on which all its coroutines run."""

    def __init__(self, agent: Any, name: str) -> None:
        self._agent = agent
        self._name = name
        self._runner: Runner | None = None

    def answer(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Return the answer to a message, None if it needs none."""
        if message["type"] == "problem":
            if callable(take_tools := getattr(self._agent, "init_tools", None)):
                self._wait_for(take_tools([Tool(**tool) for tool in message.get("tools", ())]))
            if callable(introduce := getattr(self._agent, "init_context", None)):
                self._wait_for(introduce(message["description"], message["instructions"], message["actions"]))
            return None
        if message["type"] != "state":
            return None
        function = getattr(self._agent, "get_action", self._agent)
        answer = {"action": check_response(self._name, self._wait_for(function(message["state"])))}
        usage = self._read_usage()
        return answer | ({"usage": usage} if usage is not None else {})

    def read_settings(self) -> dict[str, Any]:
        """Return the agent's settings; empty if it has none or fails to report them."""
        try:
            settings = getattr(self._agent, "settings", None)
            return parse_settings(settings() if callable(settings) else settings)
        except Exception:
            return {}

    def _wait_for(self, value: object) -> object:
        """Return a value; one that is awaitable is awaited."""
        if not inspect.isawaitable(value):
            return value
        if self._runner is None:
            import asyncio  # most agents need none

            self._runner = asyncio.Runner()

        async def wait() -> object:
            return await value

        return self._runner.run(wait())

    def _read_usage(self) -> dict[str, Any] | None:
        """Return the agent's usage; None if it has none or fails to report it."""
        try:
            usage = getattr(self._agent, "usage", None)
            found = parse_usage(usage() if callable(usage) else usage)
        except Exception:
            return None
        return None if found is None else asdict(found)


def main() -> None:
    """Find the agent of the command line and serve it until the harness ends the session."""
    spec, model = sys.argv[1:3]
    # The agent prints to standard output as it likes, and may read standard input: the messages use copies of both.
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    try:
        name, agent = find_agent(spec, model or None)
        if callable(check := getattr(agent, "check", None)):
            check()
    except AIOpsLabError as error:
        _send(replies, {"error": str(error)})
        return
    except Exception as error:
        _send(replies, {"error": f"The agent {spec} cannot be started: {format_error(error)}"})
        return
    host, failure = Host(agent, name), ""
    _send(replies, {"ready": name, "settings": host.read_settings()})
    for line in requests:
        message = json.loads(line)
        if message["type"] == "end":
            return
        try:
            answer = None if failure else host.answer(message)
        except Exception as error:
            failure = format_error(error)
            answer = None
        if failure and message["type"] == "state":
            answer = {"error": failure}
        if answer is not None:
            _send(replies, answer)


def _send(replies: IO[bytes], message: dict[str, Any]) -> None:
    replies.write(json.dumps(message).encode() + b"\n")
    replies.flush()
