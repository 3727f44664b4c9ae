"""Worker processes that perform jobs, each with one job at a time.

A worker that dies is replaced, and its job is reported as lost. Workers end with the process that started them, also when it is
killed. They belong to a session of their own, so that Ctrl-C at the terminal reaches only the process that started them.
"""

from __future__ import annotations

import os
import signal
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Any, Final, Generic, Protocol, TypeVar

from aiopslab.orchestrator import end_with_parent, reap_orphans, wait_for_orphans

END_S: Final = 15.0
"""Maximum time for workers, and for all that they have started, to end."""
REAP_S: Final = 5.0

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


class Worker(Generic[J]):
    """A worker process as the pool sees it."""

    def __init__(self, make_performer: Callable[[], Performer]) -> None:
        context = get_context("spawn")  # no thread, lock or open store comes along
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, make_performer))
        self.process.start()
        theirs.close()
        self.job: J | None = None
        self.last: J | None = None
        """The job that it has or had last, which decides what world it holds."""

    def start(self, job: J) -> None:
        """Give it a job."""
        self.job = self.last = job
        with suppress(OSError):  # it has died; receiving will show it
            self.connection.send(job)

    def receive(self) -> Finished[J]:
        """Return the end of its job, once its connection is ready."""
        job, self.job = self.job, None
        assert job is not None
        try:
            result, error = self.connection.recv()
        except (EOFError, OSError):
            return Finished(job, is_lost=True)
        return Finished(job, result, error)

    def kill(self) -> None:
        """End the process at once, with all that it has started."""
        self.connection.close()
        self.process.kill()
        self.process.join()


class Pool(Generic[J]):
    """Some workers. Use it as a context manager, in the main thread."""

    def __init__(self, size: int, make_performer: Callable[[], Performer]) -> None:
        self._make_performer = make_performer
        self._size = size
        self._workers: list[Worker[J]] = []
        self._reaped_s = time.monotonic()

    @property
    def workers(self) -> list[Worker[J]]:
        return self._workers

    @property
    def running(self) -> list[J]:
        """The jobs in progress."""
        return [worker.job for worker in self._workers if worker.job is not None]

    def list_idle(self) -> list[Worker[J]]:
        """Return the workers without a job."""
        return [worker for worker in self._workers if worker.job is None]

    @property
    def has_room(self) -> bool:
        """Whether there are fewer workers than wanted."""
        return len(self._workers) < self._size

    def add_worker(self) -> Worker[J]:
        """Start another worker."""
        worker: Worker[J] = Worker(self._make_performer)
        self._workers.append(worker)
        return worker

    def wait(self, timeout_s: float) -> list[Finished[J]]:
        """Wait for the end of a job, and return those that have ended; none after the timeout."""
        self._reap()
        busy = {worker.connection: worker for worker in self._workers if worker.job is not None}
        if not busy:
            return []
        finished = []
        for ready in wait(list(busy), timeout_s):
            assert isinstance(ready, Connection)
            worker = busy[ready]
            finished.append(worker.receive())
            if finished[-1].is_lost:
                worker.kill()
                self._workers.remove(worker)
        return finished

    def _reap(self) -> None:
        """Reap worlds that outlived the process they were forked from; there would be thousands in a long run."""
        if time.monotonic() - self._reaped_s > REAP_S:
            self._reaped_s = time.monotonic()
            reap_orphans({worker.process.pid for worker in self._workers if worker.process.pid is not None})

    def close(self) -> None:
        """End all workers; after ``shield_harness``, wait until all that they have started is gone, too."""
        while self._workers:
            self._workers.pop().kill()
        wait_for_orphans(END_S)

    def __enter__(self) -> Pool[J]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _serve(connection: Connection, make_performer: Callable[[], Performer]) -> None:
    end_with_parent()
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    performer = make_performer()
    try:
        while True:
            try:
                job = connection.recv()
            except (EOFError, OSError):
                return
            try:
                answer = (performer.perform(job), "")
            except WorkerBroken:
                return
            except Exception:
                answer = (None, traceback.format_exc())
            connection.send(answer)
    finally:
        performer.close()
