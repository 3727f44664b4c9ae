"""``aiopslab cluster up``: build a cluster, serve it and its telemetry, and print how to use them."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from aiopslab.apps import Application, NoSuchApplication, find_application
from aiopslab.cloud import Environment, World, add_cluster, start_outside
from simcloud.kubernetes import Cluster
from simcloud.server import Gateway
from simcloud.server.kubernetes import ClusterServer
from simcloud.server.telemetry import apis_of
from simcloud.telemetry import Monitoring

SETTLE_S = 40.0
"""Simulated time before a cluster is served: its system pods are then running and have metrics."""
APP_SETTLE_S = 120.0
"""The same for a cluster with an application and users."""


@dataclass(frozen=True)
class ClusterOptions:
    """The options of ``aiopslab cluster up``."""

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


def serve_cluster(options: ClusterOptions) -> int:
    """Serve until interrupted; return the exit code."""
    logging.basicConfig(format="%(message)s")
    try:
        if options.app is None:
            server = _build_bare_server(options)
        else:
            server = _build_app_server(options, find_application(options.app))
    except NoSuchApplication as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        ports = " or ".join(
            str(port) for port in (options.port, options.telemetry_port, options.app_port) if port
        )
        why = f"Port {ports} of {options.host} cannot be used ({error.strerror or error})."
        print(f"{why} Choose another with --port, --telemetry-port or --app-port.", file=sys.stderr)
        return 2
    try:
        asyncio.run(_serve(server, options))
    except OSError as error:
        print(
            f"{options.kubeconfig} cannot be written ({error.strerror}). Choose another file with --kubeconfig.",
            file=sys.stderr,
        )
        return 2
    return 0


def _build_bare_server(options: ClusterOptions) -> ClusterServer:
    print(f"Starting a cluster of {_count_nodes(options)} ...", file=sys.stderr, flush=True)
    world = World(options.seed, epoch_s=_compute_epoch(SETTLE_S), telemetry=options.telemetry)
    built = add_cluster(world, options.nodes)
    monitoring = None
    if not options.api_only:
        built.start(metrics=options.metrics)
        if options.telemetry:
            monitoring = Monitoring(built, world.emitter)
            monitoring.start()
        world.run_for(SETTLE_S)
    return _build_server(options, built, monitoring)


def _build_app_server(options: ClusterOptions, app: Application) -> ClusterServer:
    print(f"Deploying {app.name} on {_count_nodes(options)} ...", file=sys.stderr, flush=True)
    environment = Environment(app, options.seed, nodes=options.nodes, epoch_s=_compute_epoch(APP_SETTLE_S))
    environment.open()
    environment.run_for(max(0.0, APP_SETTLE_S - environment.now))
    gateway = Gateway(environment.door)
    start_outside(environment.world, "gateway", gateway.program)
    return _build_server(options, environment.cluster, environment.monitoring, gateway)


def _count_nodes(options: ClusterOptions) -> str:
    return "1 node" if options.nodes == 1 else f"{options.nodes} nodes"


def _compute_epoch(settle_s: float) -> float:
    """Return a start time that makes simulated and host time equal after settling: clients compute ages by their clock."""
    return float(int(time.time() - settle_s))


def _build_server(
    options: ClusterOptions, cluster: Cluster, monitoring: Monitoring | None, gateway: Gateway | None = None
) -> ClusterServer:
    return ClusterServer(
        cluster.api,
        host=options.host,
        port=options.port,
        speed=options.speed,
        kubeconfig=options.kubeconfig,
        telemetry=apis_of(monitoring) if monitoring is not None else (),
        telemetry_port=options.telemetry_port,
        gateway=gateway,
        gateway_port=options.app_port,
    )


async def _serve(server: ClusterServer, options: ClusterOptions) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, server.stop)

    def announce() -> None:
        pace = "in real time" if options.speed == 1 else f"{options.speed:g} times faster than real time"
        print(f"Kubernetes v1.36.4 with {_count_nodes(options)} at {server.url}, {pace}.")
        print(f"export KUBECONFIG={options.kubeconfig.resolve()}")
        if server.gateway_url:
            print(f"{options.app} at {server.gateway_url}, which its simulated users use, too.")
            print(
                f"aiopslab cluster status --kubeconfig {options.kubeconfig}   # shows their requests and errors"
            )
        if server.telemetry_url:
            print(_describe_telemetry(server))
        print("Press Ctrl-C to stop. Only the kubeconfig file remains.", flush=True)

    await server.run(announce)


def _describe_telemetry(server: ClusterServer) -> str:
    """Describe how to reach metrics, traces and logs, with a command to try for each."""
    scheme, _, place = server.telemetry_url.partition("://")
    return "\n".join(
        (
            f"Telemetry at {server.telemetry_url}, for a browser or Grafana (data sources Prometheus, Jaeger and Loki).",
            "Log in with any user name; the password is the token, here between the colon and the @:",
            f"export TELEMETRY={scheme}://aiopslab:{server.token}@{place}",
            "promtool query instant $TELEMETRY 'sum by (job) (up)'",
            "curl $TELEMETRY/api/services",
            "curl -G $TELEMETRY/loki/api/v1/query_range --data-urlencode 'query={namespace=\"kube-system\"}'",
        )
    )
