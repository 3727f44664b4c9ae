"""A cluster for tests, served over HTTPS on loopback from a background thread.

For genuine clients: kubectl, lightkube, the official Python client. The cluster is settled when it is served: nodes are
ready, and so is the system, which runs in pods, or as processes of the nodes in a cluster of one or two. From then on virtual time
follows real time.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from simcloud.server.kubernetes import ClusterServer
from simcloud.world import World, add_cluster

SETTLE_S = 40.0
"""Simulated time before the cluster is served."""


@dataclass(frozen=True)
class ServedCluster:
    """How a client reaches a running cluster."""

    kubeconfig: Path
    url: str
    token: str
    """The bearer token of a cluster administrator; the kubeconfig holds it, too."""


@contextmanager
def serve_cluster(nodes: int = 1, seed: int = 0) -> Iterator[ServedCluster]:
    """Serve a new cluster until the block ends; the kubeconfig is deleted with it.

    An error inside the server is raised when the block ends, or at once when it prevents the start.
    """
    # Clients compute ages by their own clock, so both clocks are equal once the cluster is served.
    world = World(seed, epoch_s=float(int(time.time() - SETTLE_S)), telemetry=False)
    cluster = add_cluster(world, nodes)
    cluster.start()
    world.run_for(SETTLE_S)
    with tempfile.TemporaryDirectory(prefix="simcloud-") as folder:
        kubeconfig = Path(folder) / "kubeconfig"
        server = _ServerThread(ClusterServer(cluster.api, kubeconfig=kubeconfig))
        server.start()
        try:
            yield ServedCluster(kubeconfig, server.served.url, server.served.token)
        finally:
            server.stop()


class _ServerThread:
    """Runs a server in an asyncio loop of its own."""

    def __init__(self, served: ClusterServer) -> None:
        self.served = served
        self._loop = asyncio.new_event_loop()
        self._is_settled = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="simcloud", daemon=True)

    def start(self) -> None:
        """Return once the server answers; raise the error that prevents it."""
        self._thread.start()
        self._is_settled.wait()
        if self._error is not None:
            self.stop()

    def stop(self) -> None:
        """End the server; raise the error that ended it before, if any."""
        log = logging.getLogger("uvicorn.error")
        log.addFilter(_is_not_about_shutdown)
        try:
            self._loop.call_soon_threadsafe(self.served.stop)
        except RuntimeError:  # the loop is closed: the server has ended by itself
            pass
        self._thread.join()
        log.removeFilter(_is_not_about_shutdown)
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self.served.run(self._is_settled.set))
        except BaseException as error:
            self._error = error
        finally:
            self._is_settled.set()


def _is_not_about_shutdown(record: logging.LogRecord) -> bool:
    """Filter uvicorn's error about connections that clients keep open, which is normal when a test ends."""
    return "timeout graceful shutdown exceeded" not in record.getMessage()
