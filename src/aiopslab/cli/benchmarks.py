"""The commands about benchmarks: ``bench``, ``report``, ``compare`` and ``verify``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aiopslab.cli.options import (
    AsJson,
    Cloud,
    ClusterOption,
    ContextName,
    Kubeconfig,
    Load,
    Suite,
    Tnr,
    Undo,
    format_examples,
    run_and_exit,
)

OUT = Path("results/bench")
"""Folder of the store unless another is named."""

benchmarks = typer.Typer()

Folders = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="DIR",
        help=f"Folder of a benchmark, or URL of a PostgreSQL database; several for a leaderboard. Default: {OUT}.",
    ),
]
Format = Annotated[
    str, typer.Option("--format", metavar="NAME", help="Format: table, markdown, csv, latex or html.")
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", metavar="N", min=1, max=1024, help="Maximum number of workers. Default: one per core."
    ),
]


@benchmarks.command(
    epilog=format_examples(
        "aiopslab bench --suite smoke --agent runbook,noop,yes",
        "aiopslab bench --suite core --agent react --model gpt-5-mini --seed 0-4 --jobs 8 --max-cost 20 --out runs/core",
        "aiopslab bench --resume --out runs/core",
        "aiopslab bench --suite smoke --agent react --model gpt-5-mini --vary reworded,misspelt",
        "aiopslab bench misconfig_app_hotel_res-detection-1 --agent mine.py:Agent --repeat 5",
        "aiopslab bench --suite smoke --agent runbook --cloud kubernetes --context kind-kind --out runs/kind",
    )
)
def bench(
    problems: Annotated[
        list[str] | None,
        typer.Argument(metavar="PROBLEM", help="Problem ids. Default: those of --suite."),
    ] = None,
    suite: Suite = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(
            "--agent",
            metavar="A,B",
            help="Agents: names (`aiopslab list --agents`), FILE.py:Name, MODULE:Name or 'cmd:COMMAND'. May be repeated.",
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            metavar="M",
            help="Language model for the agents that take one; with several, each agent runs with each. May be repeated.",
        ),
    ] = None,
    seed: Annotated[
        str, typer.Option(metavar="N", help="Seeds of the worlds: a number, a list 0,1,2 or a range 0-4.")
    ] = "0",
    repeat: Annotated[
        int, typer.Option(metavar="K", min=1, max=1000, help="Number of attempts per problem and seed.")
    ] = 1,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B",
            help="Also run each agent with variations of the problems: reworded, misspelt, reordered, longer, shorter, names, "
            "temperature-0, temperature-1 or all.",
        ),
    ] = None,
    max_steps: Annotated[
        int, typer.Option(metavar="N", min=1, max=10_000, help="Maximum number of agent steps.")
    ] = 30,
    max_cost: Annotated[
        float | None,
        typer.Option(
            metavar="USD", min=0, help="Start no further episode once agents report to have cost this much."
        ),
    ] = None,
    jobs: Jobs = None,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for the store and the session records.")
    ] = OUT,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Store episodes in a PostgreSQL database instead: postgresql://USER@HOST/DATABASE.",
        ),
    ] = None,
    executor: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Where workers run: processes of this machine, or ray, a cluster (RAY_ADDRESS, else one on this machine).",
        ),
    ] = "processes",
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Continue a benchmark: run only what is missing, with the settings that it has."
        ),
    ] = False,
    retry_errors: Annotated[
        bool,
        typer.Option("--retry-errors", help="With --resume: also run episodes again that have no verdict."),
    ] = False,
    agent_timeout: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", min=1, max=86_400, help="Real time that an agent has for each answer."
        ),
    ] = 600.0,
    env: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Environment variable to pass to agents. May be repeated."),
    ] = None,
    isolate: Annotated[
        bool,
        typer.Option("--isolate", help="Run agents in Linux namespaces of their own, as in `aiopslab run`."),
    ] = False,
    tnr: Tnr = False,
    undo: Undo = "inverse",
    cloud: Cloud = "embedded",
    kubeconfig: Kubeconfig = None,
    context: ContextName = None,
    cluster_option: ClusterOption = None,
    load: Load = None,
    as_json: AsJson = False,
) -> None:
    """Run agents on many problems, over several processes, and report.

    Every finished episode is stored at once. A run that was interrupted or killed continues with --resume. Exit codes: 0 all
    episodes are done, 1 some are not (--max-cost, a full disk), 2 wrong usage, 130 interrupted.
    """

    def work() -> int:
        from aiopslab.cli.bench import BenchOptions, run_benchmark
        from aiopslab.cli.clusters import parse_cloud

        options = BenchOptions(
            problems or (),
            suite,
            agent or (),
            model or (),
            seed,
            repeat,
            vary or (),
            max_steps,
            max_cost,
            jobs,
            out,
            store,
            executor,
            resume,
            retry_errors,
            agent_timeout,
            env or (),
            isolate,
            load or (),
            as_json,
            tnr,
            undo,
            parse_cloud(cloud, kubeconfig, context, cluster_option or ()),
        )
        return run_benchmark(options)

    run_and_exit(work)


@benchmarks.command(
    epilog=format_examples(
        "aiopslab report",
        "aiopslab report runs/core --format html --out report.html",
        "aiopslab report runs/a runs/b --format markdown",
    )
)
def report(
    folders: Folders = None,
    format: Format = "table",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File to write to. Default: standard output.")
    ] = None,
) -> None:
    """Report on a benchmark, or on several as a leaderboard."""

    def work() -> int:
        from aiopslab.cli.reports import print_report

        return print_report(folders or [str(OUT)], format, out)

    run_and_exit(work)


@benchmarks.command(epilog=format_examples("aiopslab compare runbook noop results/bench"))
def compare(
    first: Annotated[str, typer.Argument(metavar="A", help="Name of an agent in the benchmark.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Name of another one.")],
    folders: Folders = None,
    format: Format = "table",
) -> None:
    """Show the episodes that only one of two agents solved."""

    def work() -> int:
        from aiopslab.cli.reports import print_comparison

        return print_comparison(folders or [str(OUT)], first, second, format)

    run_and_exit(work)


@benchmarks.command(epilog=format_examples("aiopslab verify results/bench --jobs 2"))
def verify(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a benchmark.")] = OUT,
    jobs: Jobs = None,
    load: Load = None,
    as_json: AsJson = False,
) -> None:
    """Replay the recorded answers of a benchmark, and check that the verdicts are the same.

    No agent and no model runs. Exit codes: 0 all verdicts are the same, 1 some differ, 2 wrong usage.
    """

    def work() -> int:
        from aiopslab.cli.reports import verify_benchmark

        return verify_benchmark(folder, jobs, load or (), as_json)

    run_and_exit(work)
