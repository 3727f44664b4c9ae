"""The base class of problems: an application, its faults, a task for the agent, and the evaluation of its answer.

A problem is an instance of a task. A family creates its problems from an application and faults, ``DetectionTask(app,
faults)``. The papers instead write a class that extends a task, sets ``self.app`` and ``self.ans`` in ``__init__``, and
overrides ``start_workload`` and ``inject_fault``. Both kinds are staged, run and judged alike.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, Final

from aiopslab.apps import Application
from aiopslab.generators.fault import Fault, GroundTruth
from aiopslab.generators.workload import RATE
from aiopslab.orchestrator.action_names import DEFAULT
from aiopslab.orchestrator.tasks.prompts import describe, instruct
from aiopslab.utils import AIOpsLabError, InvalidSubmissionError
from simcloud.world import POLICIES

if TYPE_CHECKING:
    from aiopslab.cloud import Environment
    from aiopslab.orchestrator.actions import TaskActions
    from aiopslab.orchestrator.session import Session

Metric = Callable[["Task", "Session"], Mapping[str, Any]]
"""An author's own metric; its return value is added to the results."""

SOAK_S: Final = 60.0
"""Time from the fault to the session, in which symptoms spread and alerts begin to fire."""


class NoAnswer(AIOpsLabError):
    """The author of a problem did not define its right answer."""


class Task(ABC):
    """One problem. Staging sets ``environment``, then calls ``start_workload`` and ``inject_fault``."""

    task_type: ClassVar[str]
    goal: ClassVar[str]
    """The agent's task, in a sentence or two."""
    example: ClassVar[str]
    """A submission of the right form, with made-up content."""

    id: str = ""
    app: Application
    environment: Environment
    faults: tuple[Fault, ...] = ()
    ans: Any = None
    """The right answer, where it does not follow from the faults."""
    rate: float = RATE
    """Users' requests per second."""
    soak_s: float = SOAK_S
    policy: str = "admin"
    """The agent's permissions: the name of one of ``cloud.policies``."""
    actions: type[TaskActions] | str | None = None
    """The class of the agent's actions, or its name in the entry points ``aiopslab.actions``; None for ``TaskActions``."""
    offered: tuple[str, ...] = DEFAULT
    """Names of the actions that the agent has besides ``submit``."""
    metrics: tuple[Metric, ...] = ()
    """The author's own metrics."""

    def __init__(self, app: Application, faults: Sequence[Fault] = ()) -> None:
        self.app = app
        self.faults = tuple(faults)

    def start_workload(self) -> None:  # noqa: B027 (most problems need no other load than the users')
        """Start load besides the users', which never stops. Does nothing unless overridden."""

    def inject_fault(self) -> None:
        """Inject the faults."""
        for fault in self.faults:
            fault.inject(self.environment)

    def recover_fault(self) -> None:
        """Repair the faults, as a good engineer would."""
        for fault in reversed(self.faults):
            fault.recover(self.environment)

    def get_task_description(self) -> str:
        """Return the agent's description of the problem."""
        return describe(self.app, self.goal, POLICIES[self.policy])

    def get_instructions(self) -> str:
        """Return the agent's instructions on how to answer."""
        return instruct(self.example)

    @cached_property
    def results(self) -> dict[str, Any]:
        """The results of ``eval``, and what an author's own ``eval`` adds."""
        return {}

    def add_result(self, key: str, value: Any) -> None:
        """Add a key to the results, in an author's own ``eval``."""
        self.results[key] = value

    @abstractmethod
    def get_expected(self) -> Any:
        """Return the right answer, for records."""

    @abstractmethod
    def eval(self, soln: Any, trace: list[dict[str, str]], duration: float) -> dict[str, Any]:
        """Judge a solution and return the results.

        ``soln`` is what ``submit`` returned, None without a submission; ``trace`` is the conversation, ``duration`` its
        length in simulated seconds.
        """

    def take_submission(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Return the solution from the arguments of an agent's ``submit``; raises ``InvalidSubmissionError``."""
        submit: Any = getattr(self, "submit")  # noqa: B009 (each task has its own signature, which is its documentation)
        try:
            bound = signature(submit).bind(*args, **kwargs)
        except TypeError:
            raise InvalidSubmissionError(
                f"submit was called with the wrong arguments. Call it as {self.example}"
            ) from None
        return submit(*bound.args, **bound.kwargs)

    @property
    def truths(self) -> tuple[GroundTruth, ...]:
        """The ground truth of each fault; raises ``NoAnswer`` when the author has to define it."""
        if self.breaks and not self.faults:
            raise NoAnswer(
                f"Problem '{self.id or type(self).__name__}' injects its own fault and does not define the right answer. "
                "Set self.ans in its __init__."
            )
        return tuple(fault.truth for fault in self.faults)

    @property
    def breaks(self) -> bool:
        """Whether this problem injects a fault at all."""
        return bool(self.faults) or type(self).inject_fault is not Task.inject_fault
