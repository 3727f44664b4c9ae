"""``aiopslab cluster``: the embedded Kubernetes, live, for genuine clients."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aiopslab.cli.help_text import examples

DEFAULT_KUBECONFIG = Path("aiopslab.kubeconfig")
LOOPBACK = "127.0.0.1"

cluster = typer.Typer(
    name="cluster", help="The embedded Kubernetes cluster, for genuine kubectl.", no_args_is_help=True
)


@cluster.command(
    epilog=examples(
        "aiopslab cluster up --app hotel-reservation --kubeconfig lab.kubeconfig",
        "kubectl --kubeconfig lab.kubeconfig get pods -A     (in another terminal)",
    )
)
def up(
    nodes: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            max=250,
            help="So many machines, a node each; the first has the control plane. One and two are small clusters "
            "without pods of the system; from three on it is a cluster as kind builds it.",
        ),
    ] = 4,
    port: Annotated[
        int, typer.Option(metavar="PORT", min=0, max=65535, help="The port to serve at; 0 takes a free one.")
    ] = 0,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="The address to serve at; beyond loopback, all who have the token can use it.",
        ),
    ] = LOOPBACK,
    kubeconfig: Annotated[
        Path, typer.Option(metavar="FILE", help="The file to write when the cluster is ready to serve.")
    ] = DEFAULT_KUBECONFIG,
    speed: Annotated[
        float, typer.Option(metavar="N", help="So many times faster than the wall clock.")
    ] = 1.0,
    seed: Annotated[int, typer.Option(metavar="N", help="One seed, one outcome.")] = 7,
    api_only: Annotated[
        bool,
        typer.Option(
            "--api-only", help="Only the API: nothing acts on what is declared. For trying loops of your own."
        ),
    ] = False,
    metrics: Annotated[
        bool, typer.Option("--metrics/--no-metrics", help="With a metrics server, for `kubectl top`.")
    ] = True,
    telemetry: Annotated[
        bool,
        typer.Option(
            "--telemetry/--no-telemetry",
            help="With metrics, traces, logs and alerts, for promtool and Grafana.",
        ),
    ] = True,
    telemetry_port: Annotated[
        int,
        typer.Option(
            metavar="PORT", min=0, max=65535, help="The port to serve telemetry at; 0 takes a free one."
        ),
    ] = 0,
    app: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Deploy this application with users on it: hotel-reservation or social-network.",
        ),
    ] = None,
    app_port: Annotated[
        int,
        typer.Option(
            metavar="PORT",
            min=0,
            max=65535,
            help="The port of the application's front door; 0 takes a free one.",
        ),
    ] = 0,
) -> None:
    """Serve a cluster over HTTPS until interrupted, and its telemetry beside it."""
    from aiopslab.cli.cluster_up import Wishes, serve_cluster

    if speed <= 0:
        hint = "it must be above 0; 1 is real time, 10 is ten times faster"
        raise typer.BadParameter(hint, param_hint="--speed")
    if app is not None and (api_only or not telemetry):
        hint = "an application needs all of its cluster; leave out --api-only and --no-telemetry"
        raise typer.BadParameter(hint, param_hint="--app")
    wishes = Wishes(
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
    )
    raise typer.Exit(serve_cluster(wishes))


@cluster.command(epilog=examples("aiopslab cluster status --kubeconfig lab.kubeconfig"))
def status(
    kubeconfig: Annotated[
        Path, typer.Option(metavar="FILE", help="The file that `cluster up` wrote.")
    ] = DEFAULT_KUBECONFIG,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Say whether a cluster answers, and what is in it."""
    from aiopslab.cli.cluster_status import show_status

    raise typer.Exit(show_status(kubeconfig, as_json))
