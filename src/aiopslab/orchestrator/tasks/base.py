"""What a problem is: an application, what goes wrong with it, a task for the agent, and the judgement of its answer.

A problem is an instance of a task. Families make theirs of an application and faults, ``DetectionTask(app, faults)``; in the
papers' manner a class extends a task, sets ``self.app`` and ``self.ans`` in ``__init__``, and says itself what
``start_workload`` and ``inject_fault`` do. Both are staged, run and judged alike.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, Final

from aiopslab.apps.base import Application
from aiopslab.generators.fault.base import Fault, GroundTruth
from aiopslab.generators.workload.shapes import RATE
from aiopslab.orchestrator.default_actions import DEFAULT
from aiopslab.orchestrator.tasks.wording import description, instructions
from aiopslab.utils.status import AIOpsLabError, InvalidSubmissionError
from simcloud.world.policies import POLICIES

if TYPE_CHECKING:
    from aiopslab.cloud.environment import Environment
    from aiopslab.orchestrator.actions import TaskActions
    from aiopslab.orchestrator.evaluation import Metric

SOAK_S: Final = 60.0
"""From the fault to the session: time for the trouble to spread and for alerts to notice."""


class NoAnswer(AIOpsLabError):
    """The author of a problem did not say what its right answer is."""


class Task(ABC):
    """One problem. Staging sets ``environment``, then calls ``start_workload`` and ``inject_fault`` there."""

    task_type: ClassVar[str]
    goal: ClassVar[str]
    """What the agent is to do, in a sentence or two."""
    example: ClassVar[str]
    """A submission of the right form, with made-up content."""

    id: str = ""
    app: Application
    environment: Environment
    faults: tuple[Fault, ...] = ()
    ans: Any = None
    """The right answer, where it does not follow from the faults."""
    rate: float = RATE
    """How many requests users send a second."""
    soak_s: float = SOAK_S
    policy: str = "admin"
    """What the agent may do at its terminal: the name of one of ``cloud.policies``."""
    actions: type[TaskActions] | None = None
    """Where the agent's actions come from, where that is not ``TaskActions``."""
    offered: tuple[str, ...] = DEFAULT
    """Those of them that the agent has besides ``submit``."""
    metrics: tuple[Metric, ...] = ()
    """The author's own: what they return is added to the results."""

    def __init__(self, app: Application, faults: Sequence[Fault] = ()) -> None:
        self.app = app
        self.faults = tuple(faults)

    def start_workload(self) -> None:  # noqa: B027 (most problems want nothing more than the users)
        """Send load besides the users', who come and go all the time. Unless overridden: none."""

    def inject_fault(self) -> None:
        """Break it."""
        for fault in self.faults:
            fault.inject(self.environment)

    def recover_fault(self) -> None:
        """Repair it, as a good engineer would."""
        for fault in reversed(self.faults):
            fault.recover(self.environment)

    def get_task_description(self) -> str:
        """What the agent is told of its situation."""
        return description(self.app, self.goal, POLICIES[self.policy])

    def get_instructions(self) -> str:
        """What the agent is told of how to answer."""
        return instructions(self.example)

    @cached_property
    def results(self) -> dict[str, Any]:
        """What ``eval`` has found: the usual judgement, and what an author's own ``eval`` adds."""
        return {}

    def add_result(self, key: str, value: Any) -> None:
        """Add to the results, in an author's own ``eval``."""
        self.results[key] = value

    @abstractmethod
    def expected(self) -> Any:
        """The right answer, for records."""

    @abstractmethod
    def eval(self, soln: Any, trace: list[dict[str, str]], duration: float) -> dict[str, Any]:
        """Judge a solution as ``submit`` returned it, None when nothing was submitted.

        ``trace`` is the conversation, ``duration`` how many simulated seconds it took.
        """

    def take_submission(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The solution, of the arguments that an agent called ``submit`` with; raises ``InvalidSubmissionError``."""
        submit: Any = getattr(self, "submit")  # noqa: B009 (each task has its own signature, which is its documentation)
        try:
            bound = signature(submit).bind(*args, **kwargs)
        except TypeError:
            raise InvalidSubmissionError(
                f"submit was called with the wrong arguments. Call it like this: {self.example}"
            ) from None
        return submit(*bound.args, **bound.kwargs)

    @property
    def truths(self) -> tuple[GroundTruth, ...]:
        """What is wrong, of each fault; raises ``NoAnswer`` when only the author could know."""
        if self.breaks and not self.faults:
            raise NoAnswer(
                f"Problem '{self.id or type(self).__name__}' breaks something by itself and does not say what the right "
                "answer is. Set self.ans in its __init__."
            )
        return tuple(fault.truth for fault in self.faults)

    @property
    def breaks(self) -> bool:
        """Whether anything is wrong at all in this problem."""
        return bool(self.faults) or type(self).inject_fault is not Task.inject_fault
