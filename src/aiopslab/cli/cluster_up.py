"""``aiopslab cluster up``: build a cluster, serve it, and say how to use it."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
import time
from pathlib import Path

from aiopslab.cloud.clusters import add_cluster
from aiopslab.cloud.world import World
from aiopslab.server.kubernetes.serving import ClusterServer

SETTLE_S = 40.0
"""So much of its life a cluster has behind it when it is served: its system pods are up and measured."""


def serve_cluster(
    nodes: int,
    host: str,
    port: int,
    kubeconfig: Path,
    speed: float,
    seed: int,
    api_only: bool,
    metrics: bool,
) -> int:
    """Serve until interrupted; the exit code."""
    logging.basicConfig(format="%(message)s")
    # Genuine clients reckon ages by the host's clock, so a served cluster lives in the present.
    world = World(seed, epoch_s=float(int(time.time() - SETTLE_S)))
    built = add_cluster(world, nodes)
    if not api_only:
        built.start(metrics=metrics)
        world.run_for(SETTLE_S)
    try:
        server = ClusterServer(built.api, host=host, port=port, speed=speed, kubeconfig=kubeconfig)
    except OSError as error:
        why = f"Port {port} of {host} cannot be used ({error.strerror or error}). Choose another by --port."
        print(why, file=sys.stderr)
        return 2
    try:
        asyncio.run(_serve(server, nodes, speed, kubeconfig))
    except OSError as error:
        print(
            f"{kubeconfig} cannot be written ({error.strerror}). Name another file by --kubeconfig.",
            file=sys.stderr,
        )
        return 2
    return 0


async def _serve(server: ClusterServer, nodes: int, speed: float, kubeconfig: Path) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, server.stop)

    def tell() -> None:
        pace = "in real time" if speed == 1 else f"{speed:g} times faster than the wall clock"
        count = "1 node" if nodes == 1 else f"{nodes} nodes"
        print(f"Kubernetes v1.36.4 with {count} at {server.url}, {pace}.")
        print(f"export KUBECONFIG={kubeconfig.resolve()}")
        print("Ctrl-C ends it; nothing of it stays but the kubeconfig file.", flush=True)

    await server.run(tell)
