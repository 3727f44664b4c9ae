"""A living cluster in a thread of the test's own process: for what a command line cannot say, such as images of the test's."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aiopslab.cloud.world import World
from aiopslab.cluster.cluster import Cluster
from aiopslab.cluster.images import ImageRegistry
from aiopslab.cluster.nodes import node_names
from aiopslab.server.kubernetes.serving import ClusterServer
from tests.server.kubernetes.served import PATIENCE_S, Served

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
    server = ClusterServer(cluster.api, speed=speed, kubeconfig=home / "kubeconfig")
    loop = asyncio.new_event_loop()
    ready = threading.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(server.run(ready.set)), daemon=True)
    thread.start()
    assert ready.wait(PATIENCE_S)
    try:
        yield Served(home / "kubeconfig", home)
        assert thread.is_alive(), "the server ended"
    finally:
        loop.call_soon_threadsafe(server.stop)
        thread.join(10)
        loop.close()
