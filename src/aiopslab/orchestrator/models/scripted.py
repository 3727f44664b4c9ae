"""A model that follows a script, for tests and demonstrations offline."""

from __future__ import annotations

from collections.abc import Sequence

from aiopslab.orchestrator.models.base import Message, ModelFailed, Reply, Tool


class ScriptedModel:
    """Answers with the given texts or replies in order, and raises errors among them."""

    def __init__(
        self,
        answers: Sequence[str | Reply | Exception],
        name: str = "scripted",
        context_tokens: int | None = None,
    ) -> None:
        self.name = name
        self.asked: list[tuple[Message, ...]] = []
        """Every conversation that it was given."""
        self.tools: tuple[Tool, ...] = ()
        """The tools that it was given last."""
        if context_tokens is not None:
            self.context_tokens = context_tokens
        self._answers = list(answers)

    def complete(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> Reply:
        """Return the next answer; raises ``ModelFailed`` when there is none left."""
        self.asked.append(tuple(messages))
        self.tools = tuple(tools)
        if len(self.asked) > len(self._answers):
            raise ModelFailed(
                f"The scripted model has {len(self._answers)} answers and was asked for another. Add more answers."
            )
        answer = self._answers[len(self.asked) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Reply) else Reply(answer)
