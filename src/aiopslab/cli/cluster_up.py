"""``aiopslab cluster up``: build a cluster, serve it and its telemetry, and say how to use them."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from aiopslab.apps.base import Application
from aiopslab.apps.catalogue import NoSuchApplication, application
from aiopslab.cloud.environment import Environment
from aiopslab.cloud.outside import start_outside
from simcloud.kubernetes.cluster import Cluster
from simcloud.server.gateway import Gateway
from simcloud.server.kubernetes.served_cluster import ClusterServer
from simcloud.server.telemetry.apis import apis_of
from simcloud.telemetry.monitoring import Monitoring
from simcloud.world.clusters import add_cluster
from simcloud.world.world import World

SETTLE_S = 40.0
"""So much of its life a cluster has behind it when it is served: its system pods are up and measured."""
APP_SETTLE_S = 120.0
"""The same with an application on it, and users who have been there for a while."""


@dataclass(frozen=True)
class Wishes:
    """What was asked for on the command line."""

    nodes: int
    host: str
    port: int
    kubeconfig: Path
    speed: float
    seed: int
    api_only: bool
    metrics: bool
    telemetry: bool
    telemetry_port: int
    app: str | None
    app_port: int


def serve_cluster(wishes: Wishes) -> int:
    """Serve until interrupted; the exit code."""
    logging.basicConfig(format="%(message)s")
    try:
        server = _bare_server(wishes) if wishes.app is None else _app_server(wishes, application(wishes.app))
    except NoSuchApplication as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        asked = (wishes.port, wishes.telemetry_port, wishes.app_port)
        ports = " or ".join(str(port) for port in asked if port)
        why = f"Port {ports} of {wishes.host} cannot be used ({error.strerror or error})."
        print(f"{why} Choose another by --port, --telemetry-port or --app-port.", file=sys.stderr)
        return 2
    try:
        asyncio.run(_serve(server, wishes))
    except OSError as error:
        print(
            f"{wishes.kubeconfig} cannot be written ({error.strerror}). Name another file by --kubeconfig.",
            file=sys.stderr,
        )
        return 2
    return 0


def _bare_server(wishes: Wishes) -> ClusterServer:
    print(f"Starting a cluster of {_nodes(wishes)} ...", file=sys.stderr, flush=True)
    world = World(wishes.seed, epoch_s=_epoch(SETTLE_S), telemetry=wishes.telemetry)
    built = add_cluster(world, wishes.nodes)
    monitoring = None
    if not wishes.api_only:
        built.start(metrics=wishes.metrics)
        if wishes.telemetry:
            monitoring = Monitoring(built, world.emitter)
            monitoring.start()
        world.run_for(SETTLE_S)
    return _server(wishes, built, monitoring)


def _app_server(wishes: Wishes, app: Application) -> ClusterServer:
    print(f"Deploying {app.name} on {_nodes(wishes)} ...", file=sys.stderr, flush=True)
    environment = Environment(app, wishes.seed, nodes=wishes.nodes, epoch_s=_epoch(APP_SETTLE_S))
    environment.open()
    environment.run_for(max(0.0, APP_SETTLE_S - environment.now))
    gateway = Gateway(environment.door)
    start_outside(environment.world, "gateway", gateway.program)
    return _server(wishes, environment.cluster, environment.monitoring, gateway)


def _nodes(wishes: Wishes) -> str:
    return "1 node" if wishes.nodes == 1 else f"{wishes.nodes} nodes"


def _epoch(lived_s: float) -> float:
    """When a world begins that is served after so long: genuine clients reckon ages by the host's clock."""
    return float(int(time.time() - lived_s))


def _server(
    wishes: Wishes, cluster: Cluster, monitoring: Monitoring | None, gateway: Gateway | None = None
) -> ClusterServer:
    return ClusterServer(
        cluster.api,
        host=wishes.host,
        port=wishes.port,
        speed=wishes.speed,
        kubeconfig=wishes.kubeconfig,
        telemetry=apis_of(monitoring) if monitoring is not None else (),
        telemetry_port=wishes.telemetry_port,
        gateway=gateway,
        gateway_port=wishes.app_port,
    )


async def _serve(server: ClusterServer, wishes: Wishes) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, server.stop)

    def tell() -> None:
        pace = "in real time" if wishes.speed == 1 else f"{wishes.speed:g} times faster than the wall clock"
        print(f"Kubernetes v1.36.4 with {_nodes(wishes)} at {server.url}, {pace}.")
        print(f"export KUBECONFIG={wishes.kubeconfig.resolve()}")
        if server.gateway_url:
            print(f"{wishes.app} at {server.gateway_url}, beside its simulated users: {_invitation(wishes)}")
        if server.telemetry_url:
            print(_about_telemetry(server))
        print("Ctrl-C ends it; nothing of it stays but the kubeconfig file.", flush=True)

    await server.run(tell)


def _invitation(wishes: Wishes) -> str:
    return f"aiopslab cluster status --kubeconfig {wishes.kubeconfig} shows how they fare."


def _about_telemetry(server: ClusterServer) -> str:
    """Where metrics, traces and logs are, with a line to try for each."""
    scheme, _, place = server.telemetry_url.partition("://")
    return "\n".join(
        (
            f"Telemetry at {server.telemetry_url}, for Grafana (data sources Prometheus, Jaeger and Loki) or a browser:",
            "any user; the password is the token, here between the colon and the @.",
            f"export TELEMETRY={scheme}://aiopslab:{server.token}@{place}",
            "promtool query instant $TELEMETRY 'sum by (job) (up)'",
            "curl $TELEMETRY/api/services",
            "curl -G $TELEMETRY/loki/api/v1/query_range --data-urlencode 'query={namespace=\"kube-system\"}'",
        )
    )
