"""Executors: what runs the jobs of a benchmark on workers, each with one job at a time.

``pool`` has worker processes on this machine, ``ray_pool`` workers on the machines of a Ray cluster. A worker that dies is removed, and
its job is reported as lost; its user adds another worker.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar

J = TypeVar("J")


class Performer(Protocol):
    """Performs jobs in a worker. Created there, so that it may hold processes and files."""

    def perform(self, job: Any) -> Any:
        """Return the result of a job. Raises ``WorkerBroken`` if this worker can do no further work."""

    def close(self) -> None:
        """End what the performer holds."""


class WorkerBroken(Exception):
    """A process that the worker needs has died. The worker ends, and another one takes its place."""


@dataclass(frozen=True)
class Finished(Generic[J]):
    """The end of a job: its result, a traceback if it raised an error, or neither if its worker died."""

    job: J
    result: Any = None
    error: str = ""
    is_lost: bool = False


class Worker(ABC, Generic[J]):
    """A worker as its executor sees it."""

    def __init__(self) -> None:
        self.job: J | None = None
        self.last: J | None = None
        """The job that it has or had last, which decides what world it holds."""

    @abstractmethod
    def start(self, job: J) -> None:
        """Give it a job."""


class Executor(ABC, Generic[J]):
    """Some workers. Use it as a context manager."""

    def __init__(self, size: int) -> None:
        self._size = size

    @property
    @abstractmethod
    def workers(self) -> Sequence[Worker[J]]:
        """The workers that are alive, as far as is known."""

    @property
    def running(self) -> list[J]:
        """The jobs in progress."""
        return [worker.job for worker in self.workers if worker.job is not None]

    def list_idle(self) -> list[Worker[J]]:
        """Return the workers without a job."""
        return [worker for worker in self.workers if worker.job is None]

    @property
    def has_room(self) -> bool:
        """Whether there are fewer workers than wanted."""
        return len(self.workers) < self._size

    @abstractmethod
    def add_worker(self) -> Worker[J]:
        """Start another worker."""

    @abstractmethod
    def wait(self, timeout_s: float) -> list[Finished[J]]:
        """Wait for the end of a job, and return those that have ended; none after the timeout."""

    @abstractmethod
    def close(self) -> None:
        """End all workers."""

    def __enter__(self) -> Executor[J]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
