"""A simple agent around a language model, with a bounded conversation and no further strategy.

A long observation loses its middle. When the conversation gets too long, its oldest turns are dropped and a note says so.
Token counts are the ones that the model reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aiopslab.agents.registry import agent
from aiopslab.orchestrator import Usage
from aiopslab.orchestrator.evaluation import cut_middle
from aiopslab.orchestrator.models import ChatModel, Message, NoText, OpenAIModel, Reply

OBSERVATION_CHARS: Final = 12_000
HISTORY_CHARS: Final = 120_000
NO_ANSWER: Final = "(no answer)"
LEFT_OUT: Final = "[Earlier turns were removed because the conversation was too long.]"


@agent("llm")
class LlmAgent:
    """A language model at an OpenAI-compatible endpoint; choose it with --model."""

    def __init__(self, model: str | ChatModel) -> None:
        """Take a model or its name; raises ``ModelFailed`` if the package or the API key is missing."""
        if isinstance(model, str):
            model = OpenAIModel(model)
            model.check()
        self._model: ChatModel = model
        self._system = ""
        self._turns: list[Message] = []
        self._in_tokens = self._out_tokens = 0

    def init_context(self, problem: str, instructions: str, actions: Mapping[str, str]) -> None:
        """Put problem, instructions and actions into the system message, and forget earlier turns."""
        documentation = "\n\n".join(f"{name}:\n{text}" for name, text in actions.items())
        self._system = f"{problem}\n{instructions}\nThese are your actions:\n\n{documentation}\n"
        self._turns.clear()

    def get_action(self, state: str) -> str:
        """Return the model's reply; raises ``ModelFailed`` when there is none.

        Reasoning models sometimes return no text. That costs a turn, like every reply without an action.
        """
        self._turns.append(Message("user", cut_middle(state, OBSERVATION_CHARS)))
        try:
            reply = self._model.complete([Message("system", self._system), *self._select_recent()])
        except NoText:
            reply = Reply(NO_ANSWER)
        self._in_tokens += reply.in_tokens or 0
        self._out_tokens += reply.out_tokens or 0
        self._turns.append(Message("assistant", reply.text))
        return reply.text

    def usage(self) -> Usage:
        """Return the tokens used so far."""
        return Usage(self._in_tokens, self._out_tokens)

    def _select_recent(self) -> list[Message]:
        """Return the newest turns that fit, starting with a user message."""
        kept: list[Message] = []
        left = HISTORY_CHARS
        for turn in reversed(self._turns):
            left -= len(turn.content)
            if left < 0 and kept:
                break
            kept.append(turn)
        if kept[-1].role == "assistant":
            kept.pop()
        kept.reverse()
        if len(kept) < len(self._turns):
            kept[0] = Message("user", f"{LEFT_OUT}\n\n{kept[0].content}")
        return kept
