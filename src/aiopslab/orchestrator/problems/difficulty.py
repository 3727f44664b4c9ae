"""The structural difficulty of a problem: how far its cause is from its symptoms, and how much else looks suspicious."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from aiopslab.generators.fault.declared import DeclaredFault

if TYPE_CHECKING:
    from aiopslab.apps import Application
    from aiopslab.generators.fault import Fault
    from aiopslab.orchestrator.tasks import Task

Rating = Literal["easy", "medium", "hard"]
MEDIUM: Final = 4
HARD: Final = 7
"""The scores from which a problem is rated so."""
HIDDEN: Final = 2
"""What a cause counts that no object of the faulty component shows."""
UNSTEADY: Final = 3
"""What a cause counts whose symptoms change while one looks."""
UNSTEADY_COURSES: Final = ("cascading", "growing", "intermittent", "partial")
"""The courses that count so. What was latent has broken by the time of the session, and what is correlated shows everywhere at once."""


@dataclass(frozen=True)
class Difficulty:
    """What makes a problem hard."""

    ill: int
    """Components that look ill: the faulty ones and all through which users reach them."""
    distance: int
    """Calls from the front door to the faulty component, the farthest."""
    decoys: int
    """Innocent changes around the fault."""
    visible: bool
    """Whether the faulty component's own objects show the cause."""
    steady: bool
    faults: int

    @property
    def score(self) -> int:
        """Return the sum of what makes it hard."""
        hidden = 0 if self.visible else HIDDEN
        unsteady = 0 if self.steady else UNSTEADY
        several = 3 * max(self.faults - 1, 0)
        return self.distance + self.ill // 3 + self.decoys // 3 + hidden + unsteady + several

    @property
    def rating(self) -> Rating:
        """Return easy, medium or hard."""
        return "hard" if self.score >= HARD else "medium" if self.score >= MEDIUM else "easy"


def measure_difficulty(task: Task) -> Difficulty:
    """Return the difficulty of a problem, from its faults, its noise and the application's topology."""
    paths = [find_path(task.app, fault.truth.component) for fault in task.faults]
    return Difficulty(
        len({name for path in paths for name in path}),
        max((len(path) - 1 for path in paths), default=0),
        len(task.noise.before) + len(task.noise.after),
        all(map(_is_visible, task.faults)),
        all(fault.course not in UNSTEADY_COURSES for fault in task.faults),
        len(task.faults),
    )


def _is_visible(fault: Fault) -> bool:
    """Whether the cause is in an object that bears the faulty component's name."""
    return isinstance(fault, DeclaredFault) and any(part[1] == fault.target for part in fault.concerned)


def find_path(app: Application, component: str) -> list[str]:
    """Return the shortest way of calls from the front door to a component; only the component if there is none."""
    start = app.front_door.service
    came_from: dict[str, str] = {start: ""}
    waiting = deque([start])
    while waiting:
        name = waiting.popleft()
        for called in app.component(name).calls:
            if called not in came_from:
                came_from[called] = name
                waiting.append(called)
    path, name = [component], component
    while came_from.get(name):
        name = came_from[name]
        path.append(name)
    return path
