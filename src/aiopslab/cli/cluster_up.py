"""``aiopslab cluster up``: build a cluster, serve it and its telemetry, and print how to use them."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aiopslab.apps import Application, NoSuchApplication, find_application, load_applications
from aiopslab.cli.kubeconfig_lock import KubeconfigTaken, hold_kubeconfig
from aiopslab.cli.output import Progress, open_console
from aiopslab.cli.problems import check_folder, check_policy, load_problems
from aiopslab.cli.session_view import show_ending, show_results
from aiopslab.cloud import ADMIN, Environment, World, add_cluster, start_outside
from simcloud.kubernetes import Cluster
from simcloud.server import Gateway
from simcloud.server.kubernetes import ClusterServer
from simcloud.server.telemetry import apis_of
from simcloud.telemetry import Monitoring
from simcloud.telemetry.stack import MonitoringStack
from simcloud.world import publish_toolbox

if TYPE_CHECKING:
    from aiopslab.cli.cluster_session import ServedSession

SETTLE_S = 40.0
"""Simulated time before a cluster is served: its system pods are then running and have metrics."""
APP_SETTLE_S = 120.0
"""The same for a cluster with an application and users."""
PROBLEM_SETTLE_S = 310.0
"""The same for a problem. If the host's clock is ahead after the preparation, the difference passes before the session begins."""
NOISY_SETTLE_S = 370.0
"""The same for a problem with noise."""


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
    problem: str | None = None
    policy: str | None = None
    results: Path = Path("results")
    load: Sequence[Path] = ()


def serve_cluster(options: ClusterOptions) -> int:
    """Serve until interrupted, or until an answer to the problem is submitted; return the exit code."""
    logging.basicConfig(format="%(message)s")
    try:
        with hold_kubeconfig(options.kubeconfig):
            return _build_and_serve(options)
    except KubeconfigTaken as error:
        print(error, file=sys.stderr)
        return 2


def _build_and_serve(options: ClusterOptions) -> int:
    session: ServedSession | None = None
    try:
        if options.problem is not None:
            session, server = _build_problem_server(options, options.problem)
        elif options.app is None:
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
        asyncio.run(_serve(server, options, session))
    except OSError as error:
        print(
            f"{options.kubeconfig} cannot be written ({error.strerror}). Choose another file with --kubeconfig.",
            file=sys.stderr,
        )
        return 2
    if session is not None:
        result, out = session.finish(), open_console()
        show_results(out, result["results"])
        show_ending(out, result)
    return 0


def _build_bare_server(options: ClusterOptions) -> ClusterServer:
    print(f"Starting a cluster of {_count_nodes(options)} ...", file=sys.stderr, flush=True)
    world = World(
        options.seed,
        epoch_s=_compute_epoch(SETTLE_S),
        telemetry=options.telemetry,
        varies=not options.api_only,
    )
    built = add_cluster(world, options.nodes)
    _publish_images(built)
    monitoring = None
    if not options.api_only:
        built.start(metrics=options.metrics)
        if options.telemetry:
            monitoring = Monitoring(built, world.emitter)
            monitoring.start()
            MonitoringStack(built, Monitoring(built, world.emitter), world.emitter).publish()
        world.run_for(SETTLE_S)
    return _build_server(options, built, monitoring)


def _publish_images(built: Cluster) -> None:
    """Publish the images of all applications and of operators' tools, as public registries have them."""
    for application in load_applications().values():
        if not application.deploys_itself:
            application().publish(built.registry)
    publish_toolbox(built)


def _build_app_server(options: ClusterOptions, app: Application) -> ClusterServer:
    print(f"Deploying {app.name} on {_count_nodes(options)} ...", file=sys.stderr, flush=True)
    environment = Environment(app, options.seed, nodes=options.nodes, epoch_s=_compute_epoch(APP_SETTLE_S))
    publish_toolbox(environment.cluster)
    environment.open()
    environment.run_for(max(0.0, APP_SETTLE_S - environment.now))
    gateway = Gateway(environment.door)
    start_outside(environment.world, "gateway", gateway.program)
    return _build_server(options, environment.cluster, environment.monitoring, gateway)


def _build_problem_server(options: ClusterOptions, pid: str) -> tuple[ServedSession, ClusterServer]:
    """Prepare a problem at the host's own time; its clients have the rights that an agent would have."""
    from aiopslab.cli.cluster_session import (
        ServedSession,
    )  # loads sessions, which a bare cluster does not need
    from aiopslab.orchestrator import deploy, open_problem, stage

    check_policy(options.policy)
    task = load_problems(options.load, [pid]).get_problem_instance(pid, options.seed)
    check_folder(options.results, "--results")
    task.policy = options.policy or task.policy
    with Progress() as progress:
        settle_s = NOISY_SETTLE_S if task.noise.before else PROBLEM_SETTLE_S
        environment = deploy(task, task.seed, progress, epoch_s=_compute_epoch(settle_s))
        stage(task, environment, progress)
        late_s = time.time() - environment.world.epoch_s - environment.now
        environment.run_for(max(0.0, late_s))
        environment.hand_over()
    session = ServedSession(open_problem(task), options.results, options.kubeconfig)
    gateway = Gateway(environment.door)
    start_outside(environment.world, "gateway", gateway.program)
    server = _build_server(options, environment.cluster, environment.monitoring, gateway, session)
    session.on_end = server.stop
    return session, server


def _count_nodes(options: ClusterOptions) -> str:
    return "1 node" if options.nodes == 1 else f"{options.nodes} nodes"


def _compute_epoch(settle_s: float) -> float:
    """Return a start time that makes simulated and host time equal after settling: clients compute ages by their clock."""
    return float(int(time.time() - settle_s))


def _build_server(
    options: ClusterOptions,
    cluster: Cluster,
    monitoring: Monitoring | None,
    gateway: Gateway | None = None,
    session: ServedSession | None = None,
) -> ClusterServer:
    user = None if session is None or session.policy is ADMIN else session.policy.user
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
        session=session,
        token=session.token if session is not None else None,
        user=user,
    )


async def _serve(server: ClusterServer, options: ClusterOptions, session: ServedSession | None) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, server.stop)

    def announce() -> None:
        pace = "in real time" if options.speed == 1 else f"{options.speed:g} times faster than real time"
        print(f"Kubernetes v1.36.4 with {_count_nodes(options)} at {server.url}, {pace}.")
        print(f"export KUBECONFIG={options.kubeconfig.resolve()}")
        if server.gateway_url:
            name = options.app or "The application"
            print(f"{name} at {server.gateway_url}, which its simulated users use, too.")
            print(
                f"aiopslab cluster status --kubeconfig {options.kubeconfig}   # shows their requests and errors"
            )
        if server.telemetry_url:
            print(_describe_telemetry(server))
        if session is not None and server.live is not None:
            session.catch_up = server.live.catch_up
            print(f"\n{session.task}\n")
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
