"""A simple agent around a language model: what it is told, what it saw lately, and nothing clever.

The conversation is bounded: a long observation is cut in its middle, and when all of it grows too long, the oldest turns
are left out and that is said. What the model has used is counted as it says itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aiopslab.agents.registry import agent
from aiopslab.orchestrator.agent import Usage
from aiopslab.orchestrator.evaluation.trajectory import middle_cut
from aiopslab.orchestrator.models import ChatModel, Message, NoText, OpenAIModel, Reply

OBSERVATION_CHARS: Final = 12_000
HISTORY_CHARS: Final = 120_000
NOTHING: Final = "(no answer)"
LEFT_OUT: Final = "[Earlier turns are left out here, because the conversation was too long.]"


@agent("llm")
class LlmAgent:
    """A language model at an OpenAI-compatible endpoint; --model says which one."""

    def __init__(self, model: str | ChatModel) -> None:
        """Raises ``ModelFailed`` when a model that is named cannot be asked: no package, or no key."""
        if isinstance(model, str):
            model = OpenAIModel(model)
            model.check()
        self._model: ChatModel = model
        self._system = ""
        self._turns: list[Message] = []
        self._in_tokens = self._out_tokens = 0

    def init_context(self, problem: str, instructions: str, actions: Mapping[str, str]) -> None:
        """Everything that is told beforehand is the system's message."""
        documented = "\n\n".join(f"{name}:\n{text}" for name, text in actions.items())
        self._system = f"{problem}\n{instructions}\nThese are your actions:\n\n{documented}\n"
        self._turns.clear()

    def get_action(self, state: str) -> str:
        """Ask the model; raises ``ModelFailed`` when it does not answer.

        Models that reason now and then say nothing at last. That costs a turn, like every answer without an action.
        """
        self._turns.append(Message("user", middle_cut(state, OBSERVATION_CHARS)))
        try:
            reply = self._model.complete([Message("system", self._system), *self._recent()])
        except NoText:
            reply = Reply(NOTHING)
        self._in_tokens += reply.in_tokens or 0
        self._out_tokens += reply.out_tokens or 0
        self._turns.append(Message("assistant", reply.text))
        return reply.text

    def usage(self) -> Usage:
        """What it has used so far."""
        return Usage(self._in_tokens, self._out_tokens)

    def _recent(self) -> list[Message]:
        """The newest turns that fit, beginning with something that was said to the model."""
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
