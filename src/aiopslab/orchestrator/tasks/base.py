"""The base class of problems: an application, its faults, a task for the agent, and the evaluation of its answer.

A problem is an instance of a task. A family creates its problems from an application and faults, ``DetectionTask(app,
faults)``. The papers instead write a class that extends a task, sets ``self.app`` and ``self.ans`` in ``__init__``, and
overrides ``start_workload`` and ``inject_fault``. Both kinds are staged, run and judged alike.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import cached_property
from inspect import signature
from textwrap import dedent
from typing import TYPE_CHECKING, Any, ClassVar, Final

from aiopslab.apps import NODE_PORT, Application
from aiopslab.generators import Noise
from aiopslab.generators.fault import Fault, GroundTruth
from aiopslab.generators.workload import RATE
from aiopslab.orchestrator.action_names import DEFAULT, SUBMIT
from aiopslab.orchestrator.evaluators.quantitative import in_tokens, num_steps_taken, out_tokens
from aiopslab.orchestrator.tasks.prompts import describe, instruct
from aiopslab.service import KubeCtl, get_cloud
from aiopslab.utils import AIOpsLabError, InvalidSubmissionError, SubmissionStatus, find_extension
from simcloud.world import POLICIES

if TYPE_CHECKING:
    from aiopslab.cloud import IncidentSite
    from aiopslab.orchestrator.actions import ActionSet, TaskActions
    from aiopslab.orchestrator.session import Session

Metric = Callable[["Task", "Session"], Mapping[str, Any]]
"""An author's own metric; its return value is added to the results."""

OWN_MODULES: Final = "aiopslab.orchestrator.tasks."
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
    environment: IncidentSite
    faults: tuple[Fault, ...] = ()
    ans: Any = None
    """The right answer, where it does not follow from the faults."""
    rate: float = RATE
    """Users' requests per second."""
    entry: str = NODE_PORT
    """How users enter: ``NODE_PORT``, or ``INGRESS`` for an ingress controller with TLS."""
    soak_s: float = SOAK_S
    seed: int = 0
    """What a drawn problem was drawn from."""
    noise: Noise = Noise()
    """Innocent changes around the fault."""
    policy: str = "admin"
    """The agent's permissions: the name of one of ``cloud.policies``."""
    actions: type[TaskActions] | str | object | None = None
    """The class of the agent's actions, or its name in the entry points ``aiopslab.actions``; None for ``TaskActions``.

    The public release's problems set an object with static methods; the agent gets all of them.
    """
    offered: tuple[str, ...] = DEFAULT
    """Names of the actions that the agent has besides ``submit``."""
    metrics: tuple[Metric, ...] = ()
    """The author's own metrics."""

    _actions: ActionSet | None = None
    _filled: frozenset[str] = frozenset()
    """The results that ``fill_results`` has added."""
    task_desc: str = ""
    """An author's own description, in which ``{app_summary}`` is replaced; empty for the usual one."""
    instructions: str = ""
    """An author's own instructions; empty for the usual ones."""

    def __init__(self, app: Application, faults: Sequence[Fault] = ()) -> None:
        self.app = app
        self.faults = tuple(faults)

    @cached_property
    def namespace(self) -> str:
        """The application's namespace."""
        return self.app.namespace

    @cached_property
    def kubectl(self) -> KubeCtl:
        """A client of the current cloud."""
        return KubeCtl()

    @cached_property
    def faulty_service(self) -> str:
        """The component that is at fault, the first one if there are several; empty if none is."""
        return self.faults[0].truth.component if self.faults else ""

    @property
    def action_set(self) -> ActionSet:
        """The agent's actions; outside a session, those on the current cloud."""
        if "environment" not in vars(self):
            return self._make_actions(get_cloud(type(self).__name__))
        if self._actions is None:
            self._actions = self._make_actions(self.environment)
        return self._actions

    def _make_actions(self, environment: IncidentSite) -> ActionSet:
        from aiopslab.orchestrator.actions import ActionSet, TaskActions  # loads the cloud
        from aiopslab.orchestrator.actions.base import TaskActions as StaticActions

        own: Any = self.actions or TaskActions
        if isinstance(own, str):
            own = find_extension("aiopslab.actions", own)
        if not isinstance(own, type):
            return ActionSet.of_author(own)
        if issubclass(own, StaticActions):
            return ActionSet.of_author(own())
        kind: Any = own
        return ActionSet(kind(environment, POLICIES[self.policy]), self.offered)

    def get_available_actions(self) -> dict[str, str]:
        """Return the documentation of each action, ``submit`` included."""
        from aiopslab.orchestrator.actions import Action

        submit = Action.of(getattr(self, SUBMIT), SUBMIT)
        return {**self.action_set.docs, SUBMIT: submit.documentation}

    def perform_action(self, action_name: str, *args: Any, **kwargs: Any) -> str | SubmissionStatus:
        """Perform an action; raises ``InvalidActionError`` and ``InvalidSubmissionError``."""
        if action_name != SUBMIT:
            return self.action_set.perform(action_name, args, kwargs)
        self.take_submission(args, kwargs)
        return SubmissionStatus.VALID_SUBMISSION

    def start_workload(self) -> Coroutine[Any, Any, None] | None:
        """Start load besides the users', which never stops. Does nothing unless overridden, by a plain or an async method."""
        return None

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
        if self.task_desc:
            return dedent(self.task_desc).replace("{app_summary}", self.app.get_app_summary())
        has_nodes = "environment" not in vars(self) or "node access" in self.environment.capabilities
        return describe(self.app, self.goal, POLICIES[self.policy], self.entry, has_nodes=has_nodes)

    def get_instructions(self) -> str:
        """Return the agent's instructions on how to answer."""
        return dedent(self.instructions) or instruct(self.example)

    @cached_property
    def results(self) -> dict[str, Any]:
        """The results of ``eval``, and what an author's own ``eval`` adds."""
        return {}

    def add_result(self, key: str, value: Any) -> None:
        """Add a key to the results, in an author's own ``eval``."""
        self.results[key] = value

    def fill_results(self, computed: Mapping[str, Any]) -> dict[str, Any]:
        """Add results, except those that an author's own ``eval`` has set before; return all."""
        new = {key: value for key, value in computed.items() if not self.is_set_by_author(key)}
        self.results |= new
        self._filled = frozenset(new)
        return dict(self.results)

    def is_set_by_author(self, key: str) -> bool:
        """Whether an author's own ``eval`` has set a result before it calls the task's."""
        return self.judges_itself and key in self.results and key not in self._filled

    def common_eval(self, trace: Iterable[Any]) -> None:
        """Add the numbers of steps and tokens, for an author's own ``eval``; a session adds them by itself."""
        items = list(trace)
        self.add_result("steps", num_steps_taken(items))
        self.add_result("in_tokens", in_tokens(items))
        self.add_result("out_tokens", out_tokens(items))

    def sys_status_after_recovery(self) -> bool:
        """Whether all containers of the application are ready or completed."""
        pods = self.kubectl.list_pods(self.namespace).items
        return all(map(KubeCtl._pod_is_ready_or_succeeded, pods))

    @property
    def judges_itself(self) -> bool:
        """Whether an author's own ``eval`` judges the answer."""
        return not type(self).eval.__module__.startswith(OWN_MODULES)

    def find_expected(self) -> Any:
        """Return the right answer, or None if only an author's own ``eval`` knows it; raises ``NoAnswer``."""
        try:
            return self.get_expected()
        except NoAnswer:
            if self.judges_itself:
                return None
            raise

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
