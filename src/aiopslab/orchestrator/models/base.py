"""The protocol of a language model: messages and tools in; text, tool calls and token counts out.

This module knows no provider. A model that cannot answer raises ``ModelFailed`` with a message that holds no key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, Protocol

from aiopslab.orchestrator.redaction import Redactor
from aiopslab.utils import AIOpsLabError

CONTEXT_TOKENS: Final = 32_000
"""Context window of a model about which nothing is known."""
REFUSED: Final = "(The model refused to answer.)"
"""Text of a refusal without one."""


class ModelFailed(AIOpsLabError):
    """The model did not answer; the message says why and what to do."""


class NoText(ModelFailed):
    """The model's answer contains neither text nor a tool call. ``reply`` has its token counts, if they are known."""

    def __init__(self, message: str, reply: Reply | None = None) -> None:
        super().__init__(message)
        self.reply = reply


class ContextOverflow(ModelFailed):
    """The conversation is longer than the model's context window. A shorter one may be answered."""


@dataclass(frozen=True)
class Tool:
    """A function that the model may call."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """The JSON schema of its arguments, an object."""


@dataclass(frozen=True)
class ToolCall:
    """A call that the model asks for."""

    id: str
    name: str
    arguments: str
    """The arguments as the model wrote them: a JSON object, unless the model made a mistake."""


@dataclass(frozen=True)
class Message:
    """One message of a conversation. A message of the role ``tool`` is the result of one tool call."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    """The calls in a message of the assistant."""
    tool_call_id: str = ""
    """The call that a message of the role ``tool`` answers."""
    native: Any = None
    """The assistant's message in the provider's own form. It is sent back unchanged, because it may hold signed reasoning."""


@dataclass(frozen=True)
class Reply:
    """A model's text and tool calls, and its token counts where the model reports them."""

    text: str
    in_tokens: int | None = None
    """All input tokens, cached ones included."""
    out_tokens: int | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    cached_tokens: int = 0
    """Input tokens that were read from the provider's cache."""
    cache_write_tokens: int = 0
    """Input tokens that were written to the provider's cache."""
    cost_usd: float | None = None
    """The cost of this reply; None if the model's price is unknown."""
    is_refusal: bool = False
    """Whether the model refused to answer; the text says so."""
    native: Any = None
    """The message in the provider's own form, see ``Message.native``."""

    def to_message(self) -> Message:
        """Return the reply as a message of the conversation."""
        return Message("assistant", self.text, self.tool_calls, native=self.native)


class ChatModel(Protocol):
    """A language model with a chat interface.

    A model may also have ``context_tokens``, the size of its context window, and ``settings``, the parameters that a record
    names.
    """

    @property
    def name(self) -> str:
        """The model's name, for records."""

    def complete(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> Reply:
        """Answer a conversation.

        Raises:
            ModelFailed: there is no answer, and asking again at once would not help: retries are the model's own task.
            ContextOverflow: the conversation is too long.
            NoText: the answer is empty. Another attempt may not be.
        """


class RedactingModel:
    """Passes conversations to another model with secrets redacted: an agent may have printed its keys."""

    def __init__(self, model: ChatModel, redactor: Redactor) -> None:
        self._model = model
        self._redactor = redactor

    @property
    def name(self) -> str:
        """The other model's name."""
        return self._model.name

    def complete(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> Reply:
        """Answer a redacted conversation; raises what the other model raises."""
        redacted = [self._redact(message) for message in messages]
        return self._model.complete(redacted, tools) if tools else self._model.complete(redacted)

    def _redact(self, message: Message) -> Message:
        calls = tuple(
            replace(call, arguments=self._redactor.redact(call.arguments)) for call in message.tool_calls
        )
        content = self._redactor.redact(message.content)
        return replace(message, content=content, tool_calls=calls, native=None)
