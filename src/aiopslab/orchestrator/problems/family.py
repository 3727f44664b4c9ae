"""Families of problems: one application, its faults, and the tasks for each fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from difflib import get_close_matches
from functools import partial
from typing import Any

from aiopslab.apps import Application, Names, NoOtherNames
from aiopslab.generators.fault import Fault
from aiopslab.orchestrator.tasks import TASKS, Task
from aiopslab.orchestrator.tasks.base import SOAK_S

Instance = Fault | tuple[Fault, ...]
"""The faults of one problem: one, several at once, or none."""


@dataclass(frozen=True)
class Family:
    """One problem for each task and each instance; instances are numbered from 1."""

    name: str
    app: Callable[[], Application]
    instances: tuple[Instance, ...]
    tasks: tuple[type[Task], ...] = TASKS
    ids: str = "{family}-{task}-{number}"
    soak_s: float = SOAK_S

    def __post_init__(self) -> None:
        """Raise ``ValueError`` for a fault whose target the application does not have."""
        app = self.app()
        known = [component.name for component in app.components]
        for fault in (fault for instance in self.instances for fault in get_faults(instance)):
            missing = [name for name in _get_components(fault) if name not in known]
            if missing:
                near = get_close_matches(missing[0], known, cutoff=0.5)
                hint = f"Did you mean '{near[0]}'?" if near else f"It has: {', '.join(known)}."
                raise ValueError(
                    f"Family '{self.name}' has a fault at '{missing[0]}', which {app.name} does not have. {hint}"
                )

    def iter_problems(self) -> Iterator[tuple[str, str, Callable[..., Task]]]:
        """Yield each problem's id, the type of its task, and a function that creates it; ``other_names=True`` renames components."""
        for task in self.tasks:
            for number, instance in enumerate(self.instances, start=1):
                pid = self.ids.format(family=self.name, task=task.task_type, number=number)
                yield pid, task.task_type, partial(self._make, pid, task, instance)

    def _make(self, pid: str, task: type[Task], instance: Instance, other_names: bool = False) -> Task:
        app, faults = self.app(), get_faults(instance)
        if other_names:
            known = [component.name for component in app.components]
            app = app.use_other_names()
            faults = tuple(_rename(fault, known, app.names) for fault in faults)
        problem = task(app, faults)
        problem.id = pid
        problem.soak_s = self.soak_s
        return problem


def get_faults(instance: Instance) -> tuple[Fault, ...]:
    """Return the faults of an instance."""
    return (instance,) if isinstance(instance, Fault) else instance


def _rename(fault: Fault, known: Sequence[str], names: Names) -> Fault:
    """Return a fault with the other names of the components in its parameters."""

    def rename(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(rename, value))
        return names.rename(value) if value in known else value

    if not is_dataclass(fault):
        raise NoOtherNames(f"the target of the fault {fault.name}, which is no dataclass")
    return replace(fault, **{field.name: rename(getattr(fault, field.name)) for field in fields(fault)})


def _get_components(fault: Fault) -> tuple[str, ...]:
    return fault.truth.component, *fault.truth.also_at_fault, *fault.truth.also_right
