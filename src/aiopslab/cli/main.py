"""What ``aiopslab`` offers at the command line.

Exit codes: 0 done, 1 the run failed, 2 the call was wrong.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aiopslab.cli.cluster import cluster

cli = typer.Typer(
    name="aiopslab",
    help="A whole cloud in one Python process, to build, test, train and compare agents that operate clouds.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

cli.add_typer(cluster)

Seed = Annotated[int, typer.Option(help="One seed, one outcome.")]


@cli.command(epilog="Example: aiopslab demo --seed 7")
def demo(seed: Seed = 7) -> None:
    """Hotels and people who book them: a database is broken, users suffer, an operator repairs it."""
    from aiopslab.cli.demo import run_demo

    raise typer.Exit(run_demo(seed))


@cli.command(epilog="Example: aiopslab shell -c 'kubectl get pods -A'")
def shell(
    line: Annotated[str | None, typer.Option("-c", help="Run this line and exit with its code.")] = None,
    nodes: Annotated[int, typer.Option(min=1, max=100, help="How many nodes the cluster has.")] = 4,
    policy: Annotated[str, typer.Option(help="What you may do: read-only, operator or admin.")] = "admin",
    app: Annotated[
        str | None,
        typer.Option(
            help="With this application and its users on the cluster: hotel-reservation or social-network."
        ),
    ] = None,
    machine: Annotated[
        str | None,
        typer.Option(help="Instead: a machine of an application's cloud, node-1, node-2 or node-3."),
    ] = None,
    seed: Seed = 7,
) -> None:
    """A terminal at the operator's host of a fresh cluster, with kubectl and the usual tools."""
    if machine is not None:
        from aiopslab.cli.terminal import run_terminal

        raise typer.Exit(run_terminal(machine, line, seed))
    from aiopslab.cli.shell import run_shell

    raise typer.Exit(run_shell(line, nodes, seed, policy, app))


@cli.command(epilog="Example: aiopslab export --minutes 10 --out data --format csv,parquet")
def export(
    out: Annotated[Path, typer.Option(help="A folder that does not exist yet, or is empty.")],
    app: Annotated[
        str, typer.Option(help="What runs on the cluster: hotel-reservation, social-network, or none.")
    ] = "none",
    minutes: Annotated[
        int, typer.Option(min=1, max=1440, help="How many virtual minutes are recorded.")
    ] = 10,
    seed: Seed = 7,
    format: Annotated[str, typer.Option(help="csv, parquet, or csv,parquet.")] = "csv",
    json: Annotated[bool, typer.Option("--json", help="Print the manifest as JSON.")] = False,
) -> None:
    """Record logs, metrics, traces, events and objects of a cluster, and write them as a data set."""
    from aiopslab.cli.export import run_export

    raise typer.Exit(run_export(app, minutes, seed, out, format, json))


def main() -> None:
    """Run the command line."""
    cli()
