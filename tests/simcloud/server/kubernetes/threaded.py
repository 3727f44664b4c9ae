"""A living cluster in a thread of the test's own process: for what a command line cannot say, such as images of the test's."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.cluster import Cluster
from simcloud.kubernetes.images import ImageRegistry
from simcloud.kubernetes.nodes import node_names
from simcloud.server.kubernetes.cluster_server import ClusterServer
from simcloud.server.telemetry.apis import QueryApi
from simcloud.world.world import World
from tests.simcloud.server.kubernetes.served import PATIENCE_S, Served

SETTLE_S = 30.0


@contextmanager
def threaded_cluster(
    home: Path, registry: ImageRegistry, nodes: int = 2, speed: float = 5.0
) -> Iterator[Served]:
    """A cluster whose nodes can pull the registry's images, until the block ends."""
    world = World(7, epoch_s=float(int(time.time() - SETTLE_S)))
    machines = [world.add_machine(name) for name in node_names(nodes)]
    cluster = Cluster(world.kernel, machines, world.epoch_s)
    cluster.start(registry, metrics=False)
    world.run_for(SETTLE_S)
    with serving(cluster.api, home / "kubeconfig", speed) as kubeconfig:
        yield Served(kubeconfig, home)


@contextmanager
def serving(api: Api, kubeconfig: Path, speed: float, telemetry: Sequence[QueryApi] = ()) -> Iterator[Path]:
    """An API and telemetry, served in a thread until the block ends; the kubeconfig that leads to them."""
    server = ClusterServer(api, speed=speed, kubeconfig=kubeconfig, telemetry=telemetry)
    loop = asyncio.new_event_loop()
    ready = threading.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(server.run(ready.set)), daemon=True)
    thread.start()
    assert ready.wait(PATIENCE_S)
    try:
        yield kubeconfig
        assert thread.is_alive(), "the server ended"
    finally:
        loop.call_soon_threadsafe(server.stop)
        thread.join(PATIENCE_S)
        loop.close()
