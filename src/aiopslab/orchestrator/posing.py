"""A problem that stands ready: staged in its world, with a host for the agent, its actions, and what it will be told."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiopslab.orchestrator.actions import ActionSet, TaskActions
from aiopslab.orchestrator.actions.action_set import SUBMIT
from aiopslab.orchestrator.actions.registry import Action
from aiopslab.orchestrator.evaluation.health import Health, Watch
from aiopslab.orchestrator.redaction import Redactor, secrets_of
from aiopslab.orchestrator.tasks import Task
from simcloud.world.policies import POLICIES

if TYPE_CHECKING:
    from aiopslab.cloud.declared import Declared
    from aiopslab.cloud.environment import Environment
    from simcloud.world.terminal import Terminal


@dataclass(frozen=True)
class Prompt:
    """What an agent is told before it begins."""

    description: str
    instructions: str
    actions: Mapping[str, str]
    """The documentation of each action, by name."""


@dataclass(frozen=True)
class Posed:
    """A problem, ready for one session."""

    task: Task
    environment: Environment
    actions: ActionSet
    terminal: Terminal
    prompt: Prompt
    expected: Any
    """The right answer, for the record."""
    watch: Watch
    """Tells how the system is."""
    health: Health
    """How it is when the agent comes."""
    declared: Declared
    """And what is declared there."""

    def redactor(self) -> Redactor:
        """Blanks what lets somebody in here, and the host's own keys."""
        return Redactor((*self.terminal.secrets, *secrets_of(os.environ)))


def pose(task: Task) -> Posed:
    """Open the agent's host at a problem that has been staged, and say what there is to do."""
    environment = task.environment
    own = (task.actions or TaskActions)(environment, POLICIES[task.policy])
    actions = ActionSet(own, task.offered)
    documentation = {**actions.docs, SUBMIT: Action.of(getattr(task, SUBMIT), SUBMIT).documentation}
    prompt = Prompt(task.get_task_description(), task.get_instructions(), documentation)
    watch = Watch(environment)
    return Posed(
        task,
        environment,
        actions,
        own.terminal,
        prompt,
        task.expected(),
        watch,
        watch.now(),
        environment.read_declared(),
    )
