"""What ``aiopslab`` offers at the command line.

Exit codes: 0 done, 1 the run failed, 2 the call was wrong.
"""

from __future__ import annotations

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
    """A cluster comes up, a release breaks and is rolled back, a machine dies and is survived."""
    from aiopslab.cli.demo import run_demo

    raise typer.Exit(run_demo(seed))


@cli.command(epilog="Example: aiopslab shell -c 'kubectl get pods -A'")
def shell(
    line: Annotated[str | None, typer.Option("-c", help="Run this line and exit with its code.")] = None,
    nodes: Annotated[int, typer.Option(min=1, max=100, help="How many nodes the cluster has.")] = 4,
    policy: Annotated[str, typer.Option(help="What you may do: read-only, operator or admin.")] = "admin",
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

    raise typer.Exit(run_shell(line, nodes, seed, policy))


def main() -> None:
    """Run the command line."""
    cli()
