"""Native function calling: the actions are the model's tools, with the schemas of the action registry.

A reply may hold several calls. They are performed one after the other, one step each, and the model is asked again when it
has all results. A reply without a call is passed on as text: the session finds a call in it or explains what is missing.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping, Sequence

from aiopslab.agents.model_agent import ModelAgent
from aiopslab.agents.prompt_files import load_prompts
from aiopslab.agents.registry import agent
from aiopslab.orchestrator.models import ChatModel, Message, Tool, ToolCall

_ESCAPES = str.maketrans({"`": "\\u0060", "<": "\\u003c"})


@agent("toolcall")
class ToolCalling(ModelAgent):
    """A language model that calls the actions as functions; choose the model with --model."""

    prompts = load_prompts("toolcall")

    def __init__(self, model: str | ChatModel) -> None:
        super().__init__(model)
        self._tools: tuple[Tool, ...] = ()
        self._waiting: deque[ToolCall] = deque()
        self._running: ToolCall | None = None

    def init_tools(self, tools: Sequence[Tool]) -> None:
        """Take the actions as tools."""
        self._tools = tuple(tools)

    def build_system(self, problem: str, instructions: str, actions: Mapping[str, str]) -> str:
        """Explain the problem; the tools are documented by their schemas, and texts with calls are not wanted."""
        self._waiting.clear()
        self._running = None
        return self.fill("toolcall", problem=problem)

    def get_action(self, state: str) -> str:
        """Return the next call of the last reply, or ask for the next reply; raises ``ModelFailed``."""
        if self._running is None:
            self.conversation.add(Message("user", state))
        else:
            self.conversation.add(Message("tool", state, tool_call_id=self._running.id))
        thought = ""
        if not self._waiting:
            reply = self.conversation.ask(self._tools)
            self._waiting.extend(reply.tool_calls)
            thought = reply.text
        self._running = self._waiting.popleft() if self._waiting else None
        return thought if self._running is None else format_call(thought, self._running)


def format_call(thought: str, call: ToolCall) -> str:
    """Return a call as a session parses it; the thought is marked as such, so that nothing in it counts as a call."""
    try:
        arguments = json.loads(call.arguments or "{}")
    except ValueError:
        arguments = None
    if isinstance(arguments, dict):
        # Fences and tags inside of arguments must not end the block.
        written = json.dumps({"name": call.name, "arguments": arguments}).translate(_ESCAPES)
    else:
        written = f"{call.name}({call.arguments})"  # the session's error message goes back to the model
    marked = f"<think>{thought.replace('<think>', '').replace('</think>', '')}</think>\n" if thought else ""
    return f"{marked}```json\n{written}\n```"
