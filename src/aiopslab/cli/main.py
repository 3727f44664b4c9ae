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


@cli.command(epilog="Example: aiopslab shell -c 'ps aux; df -h' --machine node-3")
def shell(
    line: Annotated[str | None, typer.Option("-c", help="Run this line and exit with its code.")] = None,
    machine: Annotated[
        str, typer.Option(help="The machine to type on: node-1, node-2 or node-3.")
    ] = "node-1",
    seed: Seed = 7,
) -> None:
    """A terminal on a simulated machine, with an application and its users running around it."""
    from aiopslab.cli.terminal import run_terminal

    raise typer.Exit(run_terminal(machine, line, seed))


def main() -> None:
    """Run the command line."""
    cli()
