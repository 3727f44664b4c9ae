"""A language model that is told no secrets: what an agent printed of its keys does not leave this process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from aiopslab.orchestrator.models import ChatModel, Message, Reply
from aiopslab.orchestrator.redaction import Redactor


class DiscreetModel:
    """Another model, to which everything is said without what is secret in it."""

    def __init__(self, model: ChatModel, redactor: Redactor) -> None:
        self._model = model
        self._redactor = redactor

    @property
    def name(self) -> str:
        """The other one's."""
        return self._model.name

    def complete(self, messages: Sequence[Message]) -> Reply:
        """Ask the other one; raises what that raises."""
        return self._model.complete(
            [replace(one, content=self._redactor.text(one.content)) for one in messages]
        )
