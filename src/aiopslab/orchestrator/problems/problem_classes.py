"""Problems as classes, as the public AIOpsLab release writes them: ``ScalePodSocialNetDetection()``.

The problems themselves are those of a family; a class only gives one of its tasks a name.
"""

from __future__ import annotations

from typing import Any

from aiopslab.orchestrator.problems.family import Family, get_faults
from aiopslab.orchestrator.tasks import Task


def define_class(prefix: str, family: Family, task: type[Task]) -> Any:
    """Return a class for a family's problems of one task, named after both; its argument is the faulty service."""

    def __init__(self: Task, faulty_service: str | None = None) -> None:  # noqa: N807 (it becomes the class's own)
        number = _find_instance(family, faulty_service)
        faults = get_faults(family.instances[number - 1])
        task.__init__(self, family.app(), faults)
        self.id = family.ids.format(family=family.name, task=task.task_type, number=number)
        self.soak_s = family.soak_s

    name = f"{prefix}{task.__name__.removesuffix('Task')}"
    about = f"The problems {family.name}, {task.task_type}."
    return type(name, (task,), {"__init__": __init__, "__doc__": about})


def _find_instance(family: Family, faulty_service: str | None) -> int:
    """Return the number of the instance with a fault at a service, of the first if none is given; raises ``ValueError``."""
    services = [get_faults(instance)[0].truth.component for instance in family.instances]
    if faulty_service is None:
        return 1
    if faulty_service not in services:
        raise ValueError(
            f"{family.name} has no problem at '{faulty_service}'. It has: {', '.join(services)}."
        )
    return services.index(faulty_service) + 1
