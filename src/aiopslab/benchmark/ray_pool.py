"""Workers on the machines of a Ray cluster (extra ``ray``), each with its own prepared worlds.

A worker is an actor that holds a process: worlds are copied by ``fork``, which needs a process without threads, and Ray's have many. The
session records are written on the worker's machine and travel with the results; only this process writes to the benchmark's folder.
Keys of agents are not sent: each machine has them in its own environment.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from aiopslab.benchmark.episodes import Episode
from aiopslab.benchmark.executor import Executor, Finished, J, Performer, Worker
from aiopslab.benchmark.pool import WorkerProcess
from aiopslab.benchmark.store import SESSIONS
from aiopslab.utils import AIOpsLabError

ADDRESS: Final = "RAY_ADDRESS"
"""Environment variable with the address of the cluster, as Ray defines it."""
LOCAL: Final = "local"
CONNECT_S: Final = 10.0
_HOST_AND_PORT: Final = re.compile(r"(?P<host>[^:/]+):(?P<port>\d{1,5})")


class NoCluster(AIOpsLabError):
    """There is no Ray, or no cluster at the address; the message says what to do."""


class Delivery(NamedTuple):
    """A finished episode with the content of its session record."""

    episode: Episode
    record: bytes


class RemotePerformer:
    """Performs jobs in a worker on another machine, with a temporary folder for the session records."""

    def __init__(self, make_performer: Callable[[Path], Performer]) -> None:
        self._place = TemporaryDirectory(prefix="aiopslab-bench-")
        self._folder = Path(self._place.name)
        (self._folder / SESSIONS).mkdir()
        self._performer = make_performer(self._folder)

    def perform(self, job: Any) -> Delivery:
        """Return the episode with its record, which is removed here."""
        episode: Episode = self._performer.perform(job)
        if not episode.record:
            return Delivery(episode, b"")
        file = self._folder / episode.record
        record = file.read_bytes()
        file.unlink()
        return Delivery(episode, record)

    def close(self) -> None:
        """End the performer, and remove the folder."""
        self._performer.close()
        self._place.cleanup()


class _Actor:
    """What runs in a process of Ray: it passes jobs to a process of its own."""

    def __init__(self, make_performer: Callable[[], Performer]) -> None:
        self._worker: WorkerProcess[Any] = WorkerProcess(make_performer)

    def perform(self, job: Any) -> Finished[Any]:
        self._worker.start(job)
        return self._worker.receive()


class RayWorker(Worker[J]):
    """A worker on some machine of the cluster."""

    def __init__(self, actor: Any) -> None:
        super().__init__()
        self.actor = actor
        self.result: Any = None
        """Reference to the end of its job."""

    def start(self, job: J) -> None:
        self.job = self.last = job
        self.result = self.actor.perform.remote(job)


class RayPool(Executor[J]):
    """At most one worker per CPU of a Ray cluster. Without a cluster, one is started on this machine and ends with the pool."""

    def __init__(self, size: int, make_performer: Callable[[Path], Performer], folder: Path) -> None:
        """``make_performer`` gets the folder for the session records on the worker's machine; ``folder`` is the benchmark's."""
        super().__init__(size)
        self._ray = connect(size)
        self._folder = folder
        self._make_actor = partial(
            self._ray.remote(num_cpus=1, max_restarts=0)(_Actor).remote,
            partial(RemotePerformer, make_performer),
        )
        self._workers: list[RayWorker[J]] = []

    @property
    def workers(self) -> Sequence[Worker[J]]:
        return self._workers

    @property
    def has_room(self) -> bool:
        """Whether there are fewer workers than wanted, and than the cluster has CPUs: machines come and go."""
        return super().has_room and len(self._workers) < self._ray.cluster_resources().get("CPU", 0)

    def add_worker(self) -> Worker[J]:
        worker: RayWorker[J] = RayWorker(self._make_actor())
        self._workers.append(worker)
        return worker

    def wait(self, timeout_s: float) -> list[Finished[J]]:
        busy = {worker.result: worker for worker in self._workers if worker.job is not None}
        if not busy:
            return []
        ready, _ = self._ray.wait(list(busy), timeout=timeout_s)
        return [self._receive(busy[result]) for result in ready]

    def _receive(self, worker: RayWorker[J]) -> Finished[J]:
        job, worker.job = worker.job, None
        assert job is not None
        try:
            finished: Finished[J] = self._ray.get(worker.result)
        except self._ray.exceptions.RayError:  # the process or its machine is gone
            finished = Finished(job, is_lost=True)
        if finished.is_lost:
            self._ray.kill(worker.actor)
            self._workers.remove(worker)
        elif not finished.error:
            return Finished(job, self._unpack(finished.result))
        return finished

    def _unpack(self, delivery: Delivery) -> Episode:
        """Write the session record to the benchmark's folder, and return the episode."""
        if delivery.episode.record:
            file = self._folder / delivery.episode.record
            draft = file.with_name(f".{file.name}.part")
            draft.write_bytes(delivery.record)
            draft.rename(file)
        return delivery.episode

    def close(self) -> None:
        """End all workers, and the connection to the cluster."""
        while self._workers:
            self._ray.kill(self._workers.pop().actor)
        self._ray.shutdown()


def connect(size: int) -> Any:
    """Connect to the cluster at RAY_ADDRESS, to the one that runs on this machine, or to a new one; returns the package ``ray``.

    Raises ``NoCluster``.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray would report to its makers
    try:
        import ray
    except ImportError:
        raise NoCluster("Ray is missing: pip install 'aiopslab-in-a-box[ray]'.") from None
    address = os.environ.get(ADDRESS)
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    with _keep_signals():
        if address != LOCAL:
            try:
                if match := _HOST_AND_PORT.fullmatch(address or ""):  # Ray itself would try for minutes
                    socket.create_connection((match["host"], int(match["port"])), CONNECT_S).close()
                ray.init(address=address or "auto", **quiet)
                return ray
            except (OSError, RuntimeError, ValueError) as error:
                if address:
                    reason = str(error).strip().splitlines()[0]
                    raise NoCluster(
                        f"There is no Ray cluster at {address} ({reason}). Correct or unset {ADDRESS}; if the cluster has "
                        "a token, set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN."
                    ) from None
        ray.init(
            address=LOCAL,
            num_cpus=min(size, os.cpu_count() or 1),
            include_dashboard=False,
            **quiet,
        )
    return ray


@contextmanager
def _keep_signals() -> Iterator[None]:
    """Restore the handlers of signals that Ray replaces."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(number) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
