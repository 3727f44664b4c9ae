"""The protocol of a language model: messages in, one text and its token counts out.

This module knows no provider. A model that cannot answer raises ``ModelFailed`` with a message that holds no key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from aiopslab.orchestrator.redaction import Redactor
from aiopslab.utils import AIOpsLabError


class ModelFailed(AIOpsLabError):
    """The model did not answer; the message says why and what to do."""


class NoText(ModelFailed):
    """The model's answer contains no text."""


@dataclass(frozen=True)
class Message:
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Reply:
    """A model's text, and its token counts where the model reports them."""

    text: str
    in_tokens: int | None = None
    out_tokens: int | None = None


class ChatModel(Protocol):
    """A language model with a chat interface."""

    @property
    def name(self) -> str:
        """The model's name, for records."""

    def complete(self, messages: Sequence[Message]) -> Reply:
        """Answer a conversation; raises ``ModelFailed``."""


class RedactingModel:
    """Passes conversations to another model with secrets redacted: an agent may have printed its keys."""

    def __init__(self, model: ChatModel, redactor: Redactor) -> None:
        self._model = model
        self._redactor = redactor

    @property
    def name(self) -> str:
        """The other model's name."""
        return self._model.name

    def complete(self, messages: Sequence[Message]) -> Reply:
        """Answer a redacted conversation; raises what the other model raises."""
        return self._model.complete(
            [replace(message, content=self._redactor.redact(message.content)) for message in messages]
        )


class ScriptedModel:
    """Answers with the given texts in order, and raises errors among them: for tests and demonstrations offline."""

    def __init__(self, answers: Sequence[str | Exception], name: str = "scripted") -> None:
        self.name = name
        self.asked: list[tuple[Message, ...]] = []
        """Every conversation that it was given."""
        self._answers = list(answers)

    def complete(self, messages: Sequence[Message]) -> Reply:
        """Return the next text; raises ``ModelFailed`` when there is none left."""
        self.asked.append(tuple(messages))
        if len(self.asked) > len(self._answers):
            raise ModelFailed(
                f"The scripted model has {len(self._answers)} answers and was asked for another. Add more answers."
            )
        answer = self._answers[len(self.asked) - 1]
        if isinstance(answer, Exception):
            raise answer
        return Reply(answer)
