"""What can go wrong in a simulation itself, as opposed to in the world it simulates."""

from __future__ import annotations


class SimulationError(Exception):
    """The simulation cannot go on: a defect in the world's code or in how it is driven."""


class TaskFailed(SimulationError):
    """A task raised. The original error is the cause; the run is over."""

    def __init__(self, task: str, time: float, error: BaseException) -> None:
        super().__init__(f"task {task} failed at {time:.6f} s: {type(error).__name__}: {error}")
        self.task = task
        self.time = time


class Livelock(SimulationError):
    """Tasks keep waking each other and virtual time does not move."""

    def __init__(self, task: str, time: float, steps: int) -> None:
        super().__init__(
            f"virtual time stands still at {time:.6f} s after {steps} steps; task {task} ran last. "
            "Somewhere a loop never sleeps"
        )


class InvariantBroken(SimulationError):
    """Something that must hold all along did not."""

    def __init__(self, name: str, time: float, what: str) -> None:
        super().__init__(f"invariant '{name}' is broken at {time:.6f} s: {what}")
        self.name = name


class TimedOut(Exception):
    """A wait took longer than it was allowed to. An ordinary event in a world."""


class Closed(Exception):
    """The queue was closed: nothing more will come, and nothing more is taken."""
