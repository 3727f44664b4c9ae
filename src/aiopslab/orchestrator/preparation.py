"""Prepares a problem for a session: deploy the application, inject the fault, open the agent's terminal, write the prompt.

``get_baseline_key`` and ``get_fault_key`` identify what problems have in common, so that those with equal keys can share
a prepared world.
"""

from __future__ import annotations

import asyncio
import inspect
import math
import os
from collections.abc import Coroutine, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from aiopslab.apps import INGRESS, ORIGINAL
from aiopslab.generators import Change, OperationFailed, at_site
from aiopslab.orchestrator.action_names import EXEC_SHELL, SUBMIT
from aiopslab.orchestrator.actions.registry import Action
from aiopslab.orchestrator.evaluation.severity import Health, HealthMonitor
from aiopslab.orchestrator.models import Tool
from aiopslab.orchestrator.redaction import Redactor, find_secrets
from aiopslab.orchestrator.tasks import Task
from aiopslab.utils import AIOpsLabError, ProgressCallback, ignore_progress, pause_garbage_collection
from simcloud.world import POLICIES

if TYPE_CHECKING:
    from aiopslab.cloud import Declared, Environment, IncidentSite, SessionTerminal, State
    from aiopslab.cloud.kubernetes import KubernetesOptions, KubernetesSite
    from aiopslab.orchestrator.actions import ActionSet
    from aiopslab.orchestrator.transactions import TransactionOptions, Transactions

STEP_S: Final = 5.0
"""Sessions begin at a multiple of this after their baseline. Injecting a fault takes seconds and fractions of them: without
this, the time at which a session begins would reveal whether a fault was injected, and which."""
NOISY_STEP_S: Final = 30.0
"""The same for problems with noise, which takes longer."""


class NotAvailable(AIOpsLabError):
    """A problem cannot be posed on a cloud; the message says what the cloud lacks."""


def explain_unavailable(task: Task, cluster: KubernetesOptions) -> str:
    """Return what the problem needs and a real cluster lacks; empty if it can be posed there."""
    from aiopslab.cloud.kubernetes import list_capabilities

    if task.app.deploys_itself:
        return "an application with manifests or a chart"
    if task.app.names is not ORIGINAL:
        return "images that are built for other names"
    needed = dict.fromkeys(need for fault in task.faults for need in fault.needs)
    if task.entry == INGRESS:
        needed["ingress"] = None
    if type(task).start_workload is not Task.start_workload:
        needed["load"] = None
    capabilities = list_capabilities(cluster)
    return " and ".join(need for need in needed if need not in capabilities)


@pause_garbage_collection()
def deploy(
    task: Task,
    seed: int,
    tell: ProgressCallback = ignore_progress,
    *,
    epoch_s: float | None = None,
    scrape_s: float = 15.0,
) -> Environment:
    """Deploy the problem's application, with users on it, and return the environment once it has settled.

    ``epoch_s`` is the Unix time at which the world starts, if it is not the usual one; ``scrape_s`` the time between two samples
    of a metric.
    """
    tell("loading the cloud")
    from aiopslab.cloud import Environment  # loads the whole cloud, which is first needed here
    from simcloud.machine import EPOCH_S

    environment = Environment(
        task.app,
        seed,
        rate=task.rate,
        entry=task.entry,
        scrape_s=scrape_s,
        tell=tell,
        epoch_s=EPOCH_S if epoch_s is None else epoch_s,
    )
    _settle(task, environment)
    return environment


def deploy_on_cluster(
    task: Task, seed: int, options: KubernetesOptions, tell: ProgressCallback = ignore_progress
) -> KubernetesSite:
    """Do the same on a cluster that others run. The caller must ``close`` the site.

    Raises ``NotAvailable`` if the problem needs what the cluster lacks, ``NoAccess`` and ``ClusterFailed``; then nothing is left there.
    """
    from aiopslab.cloud.kubernetes import KubernetesSite

    if missing := explain_unavailable(task, options):
        raise NotAvailable(
            f"{task.id} is not available on this cluster: it needs {missing}. "
            "aiopslab list --cloud kubernetes lists the problems that are."
        )
    site = KubernetesSite(task.app, options, seed, rate=task.rate, tell=tell)
    try:
        _settle(task, site)
    except BaseException:
        site.close()
        raise
    return site


def _settle(task: Task, environment: IncidentSite) -> None:
    policy = POLICIES[task.policy]
    environment.admit(policy)  # the agent's account is part of the baseline
    if environment.is_live:
        environment.terminal(policy)  # a pod, which is part of the baseline too
    environment.settle()
    environment.terminal(policy)  # install SSH keys before any node can fail


@pause_garbage_collection()
def stage(task: Task, environment: IncidentSite, tell: ProgressCallback = ignore_progress) -> None:
    """Start the problem's own load, inject its fault, and let the soak time pass, in a world that has settled."""
    task.environment = environment
    began_s = environment.now
    with at_site(environment):
        complete(task.start_workload())
        make_noise(environment, task.noise.before)
        _inject(task, environment)
        environment.mark_injected()
        make_noise(environment, task.noise.after)
    soak_s = task.soak_s if environment.soak_s is None else environment.soak_s
    environment.run_with_progress(soak_s, "letting time pass before the session begins", tell)
    make_noise(environment, task.noise.late)
    environment.write_off()
    step_s = NOISY_STEP_S if task.noise.before else STEP_S
    steps = math.ceil((environment.now - began_s) / step_s)
    environment.run_until(began_s + steps * step_s)
    environment.hand_over()


def _inject(task: Task, environment: IncidentSite) -> None:
    environment.faults = task.faults
    try:
        task.inject_fault()
    except OperationFailed as error:
        if not environment.is_live:
            raise
        reason = str(error).strip().splitlines()[-1]
        raise NotAvailable(f"The fault of {task.id} cannot be injected on this cluster: {reason}") from error


def complete(result: Coroutine[Any, Any, None] | None) -> None:
    """Run the coroutine of an author's ``async def start_workload`` to its end, also if the caller has a running event loop."""
    if inspect.iscoroutine(result):
        with ThreadPoolExecutor(1) as thread:
            thread.submit(copy_context().run, asyncio.run, result).result()


def make_noise(environment: IncidentSite, changes: Iterable[Change]) -> None:
    """Let other teams make innocent changes, one after the other."""
    for change in changes:
        with environment.innocently():
            for line in change.lines:
                with suppress(OperationFailed):  # a team meets the fault, too
                    environment.operate(line)
            environment.run_for(change.pause_s)


def get_baseline_key(task: Task, seed: int) -> tuple[object, ...]:
    """Return a key of the problem's baseline. Problems with equal keys have equal baselines."""
    kind = type(task.app)
    own = {name: value for name, value in vars(task.app).items() if not hasattr(kind, name)}
    return (
        kind.__module__,
        kind.__qualname__,
        repr(sorted(own.items())),
        task.app.names is ORIGINAL,
        seed,
        task.rate,
        task.policy,
        task.entry,
    )


def get_fault_key(task: Task, seed: int) -> tuple[object, ...]:
    """Return a key of the staged problem. A task that overrides its own staging shares its key with no other."""
    kind = type(task)
    usual = kind.start_workload is Task.start_workload and kind.inject_fault is Task.inject_fault
    what: object = (repr(task.faults), repr(task.noise), task.soak_s) if usual else task.id
    return *get_baseline_key(task, seed), what


@dataclass(frozen=True)
class Prompt:
    """The texts that an agent gets before it begins."""

    description: str
    instructions: str
    actions: Mapping[str, str]
    """The documentation of each action, by name."""


@dataclass(frozen=True)
class PreparedProblem:
    """A problem that is ready for one session."""

    task: Task
    environment: IncidentSite
    actions: ActionSet
    terminal: SessionTerminal
    prompt: Prompt
    expected: Any
    """The right answer, for the record."""
    health_monitor: HealthMonitor
    health: Health
    """The system's health when the session begins."""
    declared: Declared
    """The objects declared when the session begins."""
    state: State
    """The configuration of nodes and the accounts of databases when the session begins."""
    opened_s: float
    """When the session begins, in simulated time."""
    transactions: Transactions | None = None
    """The transactions of the session; None without transactional no-regression."""

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The offered actions and ``submit``, for function calling."""
        submit = Action.of(getattr(self.task, SUBMIT), SUBMIT)
        actions = (*self.actions.actions.values(), submit)
        return tuple(Tool(action.name, action.docstring.text, action.schema) for action in actions)

    def make_redactor(self) -> Redactor:
        """Return a redactor of the agent's credentials and of the host's own keys."""
        return Redactor((*self.terminal.secrets, *find_secrets(os.environ)))


def open_problem(task: Task) -> PreparedProblem:
    """Open the agent's terminal in a staged problem, collect its actions and write its prompt."""
    environment = task.environment
    terminal = environment.terminal(POLICIES[task.policy])
    prompt = Prompt(task.get_task_description(), task.get_instructions(), task.get_available_actions())
    health_monitor = HealthMonitor(environment)
    return PreparedProblem(
        task,
        environment,
        task.action_set,
        terminal,
        prompt,
        task.find_expected(),
        health_monitor,
        health_monitor.measure(),
        environment.read_declared(),
        environment.read_state(),
        environment.now,
    )


def offer_transactions(problem: PreparedProblem, options: TransactionOptions) -> PreparedProblem:
    """Return the problem with the actions of transactions; commands at its terminal run in transactions from now on.

    A problem without the action ``exec_shell`` offers nothing that could change the system, and is returned as it is.
    """
    if EXEC_SHELL not in problem.actions.actions:
        return problem
    from aiopslab.orchestrator.transactions import add_transactions  # loads the cloud

    measure = problem.health_monitor.measure
    actions, transactions = add_transactions(problem.actions, problem.environment, measure, options)
    prompt = replace(problem.prompt, actions={**problem.prompt.actions, **actions.docs})
    return replace(problem, actions=actions, prompt=prompt, transactions=transactions)
