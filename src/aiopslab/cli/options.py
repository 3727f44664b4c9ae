"""Options and help texts that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NoReturn

import typer


def run_and_exit(work: Callable[[], int]) -> NoReturn:
    """Run a command and exit with its exit code; errors are printed as one sentence."""
    from aiopslab.cli.problems import run_command

    raise typer.Exit(run_command(work))


def format_examples(*lines: str) -> str:
    """Format command lines as a block of examples; the backspace mark keeps click from wrapping them."""
    return "\n".join(("\b", "Examples:" if len(lines) > 1 else "Example:", *(f"  {line}" for line in lines)))


Problem = Annotated[str, typer.Argument(metavar="PROBLEM", help="Problem id; see `aiopslab list`.")]
Seed = Annotated[
    int, typer.Option(metavar="N", help="Random seed. The same seed always gives the same result.")
]
Load = Annotated[
    list[Path] | None,
    typer.Option("--load", metavar="FILE", help="Python file with your own problems. May be repeated."),
]
Results = Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for the session record.")]
PolicyName = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="NAME",
        help="Access rights: read-only, operator or admin. Default: as the problem defines.",
    ),
]
Suite = Annotated[
    str | None,
    typer.Option(
        "--suite",
        metavar="NAME",
        help="Only problems of this suite: smoke, paper, compat, core, hard or all.",
    ),
]
Noise = Annotated[
    str | None,
    typer.Option(
        metavar="LEVEL",
        help="Innocent changes by other teams: none, usual or heavy. Only for problems whose seed draws the target. Default: usual.",
    ),
]
Tnr = Annotated[
    bool,
    typer.Option(
        "--tnr",
        help="Transactional no-regression: undo commands of the agent after which the system is worse.",
    ),
]
Undo = Annotated[
    str,
    typer.Option(
        metavar="HOW",
        help="How --tnr undoes a single command: 'inverse', what was recorded before it; or 'copy', it is tried in a copy first.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Cloud = Annotated[
    str,
    typer.Option(
        "--cloud",
        metavar="NAME",
        help="Where the problem runs: embedded, in this process; or kubernetes, on the cluster of --kubeconfig, in its own time.",
    ),
]
Kubeconfig = Annotated[
    Path | None,
    typer.Option(
        "--kubeconfig",
        metavar="FILE",
        envvar="KUBECONFIG",
        show_envvar=False,
        help="Kubeconfig of a real cluster, with an administrator's rights. Default: $KUBECONFIG, then ~/.kube/config.",
    ),
]
ContextName = Annotated[
    str | None,
    typer.Option("--context", metavar="NAME", help="Context of the kubeconfig. Default: its current one."),
]
ClusterOption = Annotated[
    list[str] | None,
    typer.Option(
        "--cluster-option",
        metavar="NAME=VALUE",
        help="Setting of a real cluster: front_door=URL, terminal_image=IMAGE, image=NAME=OTHER, ready_s=N, baseline_s=N, "
        "soak_s=N, timeout_s=N, attach=yes, privileged=yes or dedicated=yes. May be repeated.",
    ),
]
