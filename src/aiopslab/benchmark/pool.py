"""Worker processes that perform jobs, each with one job at a time.

A worker that dies is replaced, and its job is reported as lost. Workers end with the process that started them, also when it is
killed. They belong to a session of their own, so that Ctrl-C at the terminal reaches only the process that started them.
"""

from __future__ import annotations

import os
import signal
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Final

from aiopslab.benchmark.executor import Executor, Finished, J, Performer, Worker, WorkerBroken
from aiopslab.orchestrator import end_with_parent, reap_orphans, wait_for_orphans

END_S: Final = 15.0
"""Maximum time for workers, and for all that they have started, to end."""
REAP_S: Final = 5.0


class WorkerProcess(Worker[J]):
    """A worker process as the pool sees it."""

    def __init__(self, make_performer: Callable[[], Performer]) -> None:
        super().__init__()
        context = get_context("spawn")  # no thread, lock or open store comes along
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, make_performer))
        self.process.start()
        theirs.close()

    def start(self, job: J) -> None:
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

    def end(self, patience_s: float) -> None:
        """End the process with all that it has started: at once, or when it has had so much time to tidy up."""
        self.connection.close()
        if patience_s:
            self.process.terminate()
            self.process.join(patience_s)
        self.process.kill()
        self.process.join()


class Pool(Executor[J]):
    """Worker processes on this machine. Use it in the main thread."""

    def __init__(
        self,
        size: int,
        make_performer: Callable[[], Performer],
        patience_s: float = 0.0,
        on_patience: Callable[[], None] = lambda: None,
    ) -> None:
        """When the pool is closed, a worker with a job gets ``patience_s`` to tidy up; ``on_patience`` is called before that."""
        super().__init__(size)
        self._make_performer = make_performer
        self._patience_s = patience_s
        self._on_patience = on_patience
        self._workers: list[WorkerProcess[J]] = []
        self._reaped_s = time.monotonic()

    @property
    def workers(self) -> Sequence[Worker[J]]:
        return self._workers

    def add_worker(self) -> Worker[J]:
        worker: WorkerProcess[J] = WorkerProcess(self._make_performer)
        self._workers.append(worker)
        return worker

    def wait(self, timeout_s: float) -> list[Finished[J]]:
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
                worker.end(0.0)
                self._workers.remove(worker)
        return finished

    def _reap(self) -> None:
        """Reap worlds that outlived the process they were forked from; there would be thousands in a long run."""
        if time.monotonic() - self._reaped_s > REAP_S:
            self._reaped_s = time.monotonic()
            reap_orphans({worker.process.pid for worker in self._workers if worker.process.pid is not None})

    def close(self) -> None:
        """End all workers; after ``shield_harness``, wait until all that they have started is gone, too."""
        if self._patience_s and self.running:
            self._on_patience()
        while self._workers:
            self._workers.pop().end(self._patience_s)
        wait_for_orphans(END_S)


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
