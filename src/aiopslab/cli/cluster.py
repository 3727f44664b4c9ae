"""``aiopslab cluster``: serve the embedded Kubernetes cluster to genuine clients."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aiopslab.cli.options import (
    AsJson,
    Load,
    PolicyName,
    Results,
    Seed,
    format_examples,
    run_and_exit,
)

DEFAULT_KUBECONFIG = Path("aiopslab.kubeconfig")
LOOPBACK = "127.0.0.1"
DEFAULT_NODES = 4

cluster = typer.Typer(
    name="cluster",
    help="Serve the embedded Kubernetes cluster to genuine kubectl.",
    epilog=format_examples("aiopslab cluster up --nodes 3", "aiopslab cluster status"),
    no_args_is_help=True,
)


@cluster.command(
    epilog=format_examples(
        "aiopslab cluster up --app hotel-reservation --kubeconfig lab.kubeconfig",
        "kubectl --kubeconfig lab.kubeconfig get pods -A     (in another terminal)",
        "aiopslab cluster up --problem scale_pod_zero_social_net-mitigation-1",
        "aiopslab submit                                     (in another terminal, after the repair)",
    )
)
def up(
    nodes: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            max=250,
            help="Number of nodes; the first one runs the control plane. With 3 or more nodes the cluster has the "
            "system pods of a kind cluster; with 1 or 2 it has none.",
        ),
    ] = DEFAULT_NODES,
    port: Annotated[
        int,
        typer.Option(
            metavar="PORT", min=0, max=65535, help="Port of the Kubernetes API; 0 for any free port."
        ),
    ] = 0,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Address to serve on. Beyond loopback, everyone with the token can use the cluster.",
        ),
    ] = LOOPBACK,
    kubeconfig: Annotated[
        Path, typer.Option(metavar="FILE", help="Kubeconfig file to write when the cluster is ready.")
    ] = DEFAULT_KUBECONFIG,
    speed: Annotated[
        float, typer.Option(metavar="N", help="Speed relative to real time; 10 is ten times faster.")
    ] = 1.0,
    seed: Seed = 7,
    api_only: Annotated[
        bool,
        typer.Option(
            "--api-only", help="Serve only the API, without controllers, to test controllers of your own."
        ),
    ] = False,
    metrics: Annotated[
        bool, typer.Option("--metrics/--no-metrics", help="Run a metrics server, for `kubectl top`.")
    ] = True,
    telemetry: Annotated[
        bool,
        typer.Option(
            "--telemetry/--no-telemetry",
            help="Serve metrics, traces, logs and alerts, for promtool and Grafana.",
        ),
    ] = True,
    telemetry_port: Annotated[
        int,
        typer.Option(
            metavar="PORT", min=0, max=65535, help="Port of the telemetry APIs; 0 for any free port."
        ),
    ] = 0,
    app: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Application to deploy, with simulated users; see `aiopslab list --apps`.",
        ),
    ] = None,
    app_port: Annotated[
        int,
        typer.Option(
            metavar="PORT",
            min=0,
            max=65535,
            help="Port of the application's front end; 0 for any free port.",
        ),
    ] = 0,
    problem: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Problem to work on with your own clients; answer with `aiopslab submit`. See `aiopslab list`.",
        ),
    ] = None,
    policy: PolicyName = None,
    results: Results = Path("results"),
    load: Load = None,
) -> None:
    """Serve a cluster over HTTPS, with its telemetry, until interrupted.

    With --problem, until an answer is submitted; the kubeconfig then has the rights that an agent would have.
    """
    from aiopslab.cli.cluster_up import ClusterOptions, serve_cluster

    if speed <= 0:
        hint = "must be above 0; 1 is real time, 10 is ten times faster"
        raise typer.BadParameter(hint, param_hint="--speed")
    if app is not None and (api_only or not telemetry):
        hint = "an application needs the whole cluster; leave out --api-only and --no-telemetry"
        raise typer.BadParameter(hint, param_hint="--app")
    if problem is not None and (app is not None or api_only or not telemetry or nodes != DEFAULT_NODES):
        hint = "a problem has its own cluster; leave out --app, --nodes, --api-only and --no-telemetry"
        raise typer.BadParameter(hint, param_hint="--problem")
    options = ClusterOptions(
        nodes=nodes,
        host=host,
        port=port,
        kubeconfig=kubeconfig,
        speed=speed,
        seed=seed,
        api_only=api_only,
        metrics=metrics,
        telemetry=telemetry,
        telemetry_port=telemetry_port,
        app=app,
        app_port=app_port,
        problem=problem,
        policy=policy,
        results=results,
        load=load or (),
    )
    run_and_exit(lambda: serve_cluster(options))


@cluster.command(epilog=format_examples("aiopslab cluster status --kubeconfig lab.kubeconfig"))
def status(
    kubeconfig: Annotated[
        Path, typer.Option(metavar="FILE", help="Kubeconfig file that `cluster up` wrote.")
    ] = DEFAULT_KUBECONFIG,
    as_json: AsJson = False,
) -> None:
    """Show the nodes, workloads, alerts and calls of a served cluster."""
    from aiopslab.cli.cluster_status import show_status

    raise typer.Exit(show_status(kubeconfig, as_json))
