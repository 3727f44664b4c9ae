"""Virtual time: kernel, tasks, events, queues, named random streams, pacing along the wall clock."""

from typing import TYPE_CHECKING, Any

from simcloud.sim.errors import Closed, InvariantBroken, Livelock, SimulationError, TaskFailed, TimedOut
from simcloud.sim.invariants import Invariants
from simcloud.sim.kernel import Kernel
from simcloud.sim.pacer import Pacer
from simcloud.sim.sync import Condition, Event, Queue, Semaphore, first_of, gather
from simcloud.sim.task import Cancelled, Dropped, Task, Timer

if TYPE_CHECKING:
    from simcloud.sim.determinism import NotDeterministic, check_determinism

__all__ = [
    "Cancelled",
    "Closed",
    "Condition",
    "Dropped",
    "Event",
    "InvariantBroken",
    "Invariants",
    "Kernel",
    "Livelock",
    "NotDeterministic",
    "Pacer",
    "Queue",
    "Semaphore",
    "SimulationError",
    "Task",
    "TaskFailed",
    "TimedOut",
    "Timer",
    "check_determinism",
    "first_of",
    "gather",
]


def __getattr__(name: str) -> Any:
    """The determinism check is loaded when asked for: no world needs it."""
    if name in ("NotDeterministic", "check_determinism"):
        from simcloud.sim import determinism

        return getattr(determinism, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
