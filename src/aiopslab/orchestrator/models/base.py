"""What a language model is to us: messages in, one text out, and what that used.

Nothing here knows who makes models. A model that cannot answer raises ``ModelFailed`` with a sentence that holds no key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from aiopslab.utils.status import AIOpsLabError


class ModelFailed(AIOpsLabError):
    """No answer came; the sentence says why and what to do."""


class NoText(ModelFailed):
    """An answer came, and there was nothing in it."""


@dataclass(frozen=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Reply:
    """What a model wrote, and how many tokens it read and wrote, where it says so."""

    text: str
    in_tokens: int | None = None
    out_tokens: int | None = None


class ChatModel(Protocol):
    """A model that one can talk to."""

    @property
    def name(self) -> str:
        """Which one it is, for records."""

    def complete(self, messages: Sequence[Message]) -> Reply:
        """Answer a conversation; raises ``ModelFailed``."""
