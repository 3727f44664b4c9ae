"""A family of problems: one application, some ways to break it, and the tasks that are posed for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from aiopslab.generators.fault.base import Fault
from aiopslab.orchestrator.tasks import TASKS, Task
from aiopslab.orchestrator.tasks.base import SOAK_S
from aiopslab.service.apps.base import Application

Instance = Fault | tuple[Fault, ...]
"""What is wrong in one problem: a fault, several at once, or none."""


@dataclass(frozen=True)
class Family:
    """Its problems are all tasks for all instances; instances count from one."""

    name: str
    app: Callable[[], Application]
    instances: tuple[Instance, ...]
    tasks: tuple[type[Task], ...] = TASKS
    ids: str = "{family}-{task}-{number}"
    soak_s: float = SOAK_S

    def problems(self) -> Iterator[tuple[str, str, Callable[[], Task]]]:
        """Of each problem the id, the type of its task, and how it is made."""
        for task in self.tasks:
            for number, instance in enumerate(self.instances, start=1):
                pid = self.ids.format(family=self.name, task=task.task_type, number=number)
                yield pid, task.task_type, partial(self._make, pid, task, instance)

    def _make(self, pid: str, task: type[Task], instance: Instance) -> Task:
        made = task(self.app(), (instance,) if isinstance(instance, Fault) else instance)
        made.id = pid
        made.soak_s = self.soak_s
        return made
