"""What all classical agents share: which tasks they answer, and how they submit a ranking."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from typing import ClassVar, Final

from aiopslab.agents.classical.telemetry import NoTelemetry, Steps
from aiopslab.agents.floors import Floor, Form
from aiopslab.utils import AIOpsLabError

COMPONENTS: Final = re.compile(r"^Components[^:\n]*: (.+)$", re.MULTILINE)
TASK_NAMES: Final[Mapping[Form, str]] = {"yes or no": "detection", "components": "localization"}


class NotItsTask(AIOpsLabError):
    """An algorithm does not answer this kind of task; the message says which one it answers."""


class ClassicalAgent(Floor):
    """Base class of agents that decide by an algorithm on telemetry, for one kind of task.

    A task of another kind ends the session as ``agent error`` before the first action: no answer is better than one that the
    algorithm did not give.
    """

    answers: ClassVar[Form]
    """The form of answer that the algorithm gives."""

    def init_context(self, problem: str, instructions: str, actions: Mapping[str, str]) -> None:
        """Read the form of the answer, the namespace and the components; raises ``NotItsTask``."""
        super().init_context(problem, instructions, actions)
        if self.form != self.answers:
            raise NotItsTask(
                f"This algorithm answers {TASK_NAMES[self.answers]} tasks only. Choose another agent for this problem."
            )
        found = COMPONENTS.search(problem)
        self.components: Sequence[str] = found.group(1).split(", ") if found else ()


class Localizer(ClassicalAgent):
    """Base class of agents that rank components. ``NAME:3`` submits the first three names instead of one."""

    answers = "components"

    def __init__(self, names: str = "1") -> None:
        super().__init__()
        if not names.isdecimal():
            raise AIOpsLabError(f"The number of names to submit must be a number, not '{names}'.")
        self.names = int(names)

    def work(self) -> Generator[str, str, None]:
        """Rank the components and submit the first; none if there is no telemetry or nothing deviates."""
        try:
            ranking = yield from self.rank()
        except NoTelemetry:
            ranking = []
        yield f"Ranking: {', '.join(ranking) or 'none'}.\n{self.submit({'components': ranking[: self.names]})}"

    def rank(self) -> Steps[list[str]]:
        """Return the components, the most likely cause first."""
        raise NotImplementedError
