"""A model that says what it was told to say: for tests, examples and demonstrations without a network."""

from __future__ import annotations

from collections.abc import Sequence

from aiopslab.orchestrator.models.base import Message, ModelFailed, Reply


class ScriptedModel:
    """Answers with the given texts, one after another; an error among them is raised in its turn."""

    def __init__(self, answers: Sequence[str | Exception], name: str = "scripted") -> None:
        self.name = name
        self.asked: list[tuple[Message, ...]] = []
        """Every conversation that it was given."""
        self._answers = list(answers)

    def complete(self, messages: Sequence[Message]) -> Reply:
        """The next text; raises ``ModelFailed`` when there is none left."""
        self.asked.append(tuple(messages))
        if len(self.asked) > len(self._answers):
            raise ModelFailed(
                f"The scripted model has {len(self._answers)} answers and was asked for another. Give it more."
            )
        answer = self._answers[len(self.asked) - 1]
        if isinstance(answer, Exception):
            raise answer
        return Reply(answer)
