"""What ``aiopslab`` offers at the command line.

Exit codes: 0 done, 1 the run failed, 2 the call was wrong, 130 interrupted.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from aiopslab.cli.cluster import cluster
from aiopslab.cli.help_text import examples
from aiopslab.cli.standard_output import write_out

if TYPE_CHECKING:
    from aiopslab.orchestrator.problems import ProblemRegistry

cli = typer.Typer(
    name="aiopslab",
    help="A whole cloud in one Python process, to build, test, train and compare agents that operate clouds.",
    epilog=examples(
        "aiopslab demo",
        "aiopslab list",
        "aiopslab play scale_pod_zero_social_net-mitigation-1",
        "aiopslab run scale_pod_zero_social_net-detection-1 --agent idle",
    ),
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

cli.add_typer(cluster)

Seed = Annotated[int, typer.Option(metavar="N", help="One seed, one outcome.")]
Load = Annotated[
    list[Path] | None,
    typer.Option(
        "--load", metavar="FILE", help="A Python file with problems of your own; may be given several times."
    ),
]
Results = Annotated[
    Path, typer.Option(metavar="FOLDER", help="The folder that the record of the session goes to.")
]
Rights = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="NAME",
        help="What may be done: read-only, operator or admin; else as the problem says.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]
Problem = Annotated[str, typer.Argument(metavar="PROBLEM", help="An id; `aiopslab list` has them all.")]


def _version(asked: bool) -> None:
    if asked:
        from aiopslab.orchestrator.records import version

        print(f"aiopslab-in-a-box {version()}")
        raise typer.Exit


@cli.callback()
def _always(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which version this is.")
    ] = False,
) -> None:
    """Options of all commands."""


@cli.command(epilog=examples("aiopslab demo --seed 7"))
def demo(seed: Seed = 7) -> None:
    """Watch a scripted engineer repair a broken social network."""
    from aiopslab.cli.demo import run_demo

    _end(lambda: run_demo(seed))


@cli.command(
    "list",
    epilog=examples(
        "aiopslab list --task mitigation",
        "aiopslab list --app hotel-reservation --json",
        "aiopslab list --load my_problems.py",
        "aiopslab list --agents",
    ),
)
def list_(
    task: Annotated[
        str | None,
        typer.Option(metavar="TASK", help="Only these: detection, localization, analysis or mitigation."),
    ] = None,
    app: Annotated[str | None, typer.Option(metavar="NAME", help="Only those of this application.")] = None,
    load: Load = None,
    agents: Annotated[bool, typer.Option("--agents", help="List the agents instead.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the problems that there are."""
    from aiopslab.cli.listing import list_agents, list_problems

    if agents:
        _end(lambda: list_agents(as_json))
    _end(lambda: list_problems(task, app, load or (), as_json))


@cli.command(
    epilog=examples(
        "aiopslab run scale_pod_zero_social_net-detection-1 --agent idle",
        "aiopslab run revoke_auth_mongodb-mitigation-1 --agent llm --model gpt-5",
        "aiopslab run network_loss_hotel_res-localization-1 --agent my_agent.py:Careful",
        "aiopslab run k8s_target_port-misconfig-mitigation-1 --agent 'cmd:./my-agent -x' --env OPENAI_API_KEY",
    )
)
def run(
    problem: Problem,
    agent: Annotated[
        str,
        typer.Option(
            metavar="AGENT",
            help="Who works on it: idle, alarmist, restarter, reverter, engineer, scripted:FILE, llm; or your own as FILE.py:Name, "
            "MODULE:Name or 'cmd:COMMAND'.",
        ),
    ],
    seed: Seed = 0,
    max_steps: Annotated[
        int, typer.Option(metavar="N", min=1, max=10_000, help="So many answers the agent has.")
    ] = 30,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The language model, for an agent that takes one; OPENAI_BASE_URL and OPENAI_API_KEY say where and who.",
        ),
    ] = None,
    load: Load = None,
    results: Results = Path("results"),
    judge: Annotated[
        str | None, typer.Option(metavar="NAME", help="Have this language model judge the reasoning, too.")
    ] = None,
    thinking: Annotated[
        str,
        typer.Option(
            metavar="SECONDS",
            help="Simulated seconds that each answer costs; 'wall' takes what the agent really needs.",
        ),
    ] = "5",
    policy: Rights = None,
    env: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Pass this variable on to a command, which gets no keys otherwise. May be repeated.",
        ),
    ] = None,
    action_timeout: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=1,
            max=86_400,
            help="A last resort: when the simulation takes longer over one action, by this computer's clock, the run fails.",
        ),
    ] = 300.0,
    as_json: AsJson = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show answers and observations in full.")
    ] = False,
) -> None:
    """Let an agent work on a problem, and say what that was worth.

    Exit codes: 0 the session ran to its end, whatever the answer; 1 the run failed (the agent crashed or was too slow,
    or the simulation took too long);
    2 the call was wrong; 130 it was interrupted. A session that began leaves a record, however it ended.
    """

    def work() -> int:
        problems = _problems(load, problem)
        from aiopslab.cli.run import Wishes, run_problem

        wishes = Wishes(
            problem,
            agent,
            seed,
            max_steps,
            model,
            results,
            judge,
            thinking,
            policy,
            as_json,
            verbose,
            env or (),
            action_timeout,
        )
        return run_problem(problems, wishes)

    _end(work)


@cli.command(
    epilog=examples(
        "aiopslab play scale_pod_zero_social_net-mitigation-1",
        "printf 'kubectl get pods -A\\nsubmit Yes\\n' | aiopslab play scale_pod_zero_social_net-detection-1",
    )
)
def play(
    problem: Problem,
    seed: Seed = 0,
    load: Load = None,
    results: Results = Path("results"),
    policy: Rights = None,
    thinking: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0,
            max=3600,
            help="Simulated seconds that pass before each of your actions.",
        ),
    ] = 5.0,
) -> None:
    """Work on a problem yourself, at a terminal of its cloud."""

    def work() -> int:
        problems = _problems(load, problem)
        from aiopslab.cli.play import play_problem

        return play_problem(problems, problem, seed, results, policy, thinking)

    _end(work)


@cli.command(
    epilog=examples(
        "aiopslab validate scale_pod_zero_social_net-mitigation-1",
        "aiopslab validate --load my_problems.py my_family-detection-1",
        "aiopslab validate --json",
    )
)
def validate(
    problems: Annotated[
        list[str] | None,
        typer.Argument(metavar="PROBLEM", help="Ids; all problems, when none is named."),
    ] = None,
    load: Load = None,
    seed: Seed = 0,
    twice: Annotated[
        bool, typer.Option("--twice", help="Stage each problem a second time, and compare: slower.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Prove problems fair, each claim on copies of their worlds.

    Incidents show, reference repairs pass, shortcuts fail, and nothing that an agent can read tells the answer.
    """

    def work() -> int:
        known = _problems(load, *(problems or ()))
        from aiopslab.cli.validating import validate_problems

        return validate_problems(known, problems or (), seed, twice, as_json)

    _end(work)


@cli.command(
    epilog=examples("aiopslab shell", "aiopslab shell --app hotel-reservation -c 'kubectl get pods -A'")
)
def shell(
    line: Annotated[
        str | None, typer.Option("-c", metavar="LINE", help="Run this line and exit with its code.")
    ] = None,
    nodes: Annotated[
        int, typer.Option(metavar="N", min=1, max=100, help="How many nodes the cluster has.")
    ] = 4,
    policy: Annotated[
        str, typer.Option(metavar="NAME", help="What you may do: read-only, operator or admin.")
    ] = "admin",
    app: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="With this application and its users on the cluster: hotel-reservation or social-network.",
        ),
    ] = None,
    machine: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Instead, a plain machine without Kubernetes: node-1, node-2 or node-3."
        ),
    ] = None,
    seed: Seed = 7,
) -> None:
    """A terminal at the operator's host of a fresh cluster."""
    if machine is not None:
        from aiopslab.cli.terminal import run_terminal

        raise typer.Exit(run_terminal(machine, line, seed))
    from aiopslab.cli.shell import run_shell

    raise typer.Exit(run_shell(line, nodes, seed, policy, app))


@cli.command(
    epilog=examples(
        "aiopslab export --app hotel-reservation --minutes 10 --out data --format csv,parquet",
        "aiopslab export revoke_auth_mongodb-detection-1 --out data",
    )
)
def export(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="One that does not exist yet, or is empty.")],
    problem: Annotated[
        str | None,
        typer.Argument(
            metavar="PROBLEM",
            help="A problem, written with the truth about it; else what --app says is recorded.",
        ),
    ] = None,
    app: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What runs on the cluster: hotel-reservation, social-network, or none (the default).",
        ),
    ] = None,
    minutes: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            max=1440,
            help="How many virtual minutes are recorded; of a problem, how many after it is posed.",
        ),
    ] = None,
    seed: Seed = 7,
    load: Load = None,
    format: Annotated[str, typer.Option(metavar="NAMES", help="csv, parquet, or csv,parquet.")] = "csv",
    json: Annotated[bool, typer.Option("--json", help="Print the manifest as JSON.")] = False,
) -> None:
    """Write the telemetry of a cluster or a problem as a data set.

    Logs, metrics, traces, events and objects; of a problem, the truth about it, too.
    """
    if problem is not None and app is not None:
        hint = "a problem brings its own application; leave out --app, or leave out the problem"
        raise typer.BadParameter(hint, param_hint="--app")

    def work() -> int:
        task = None if problem is None else _problems(load, problem).get_problem(problem)
        from aiopslab.cli.export import export_problem, run_export

        if task is None:
            lived = 10 if minutes is None else max(minutes, 1)
            return run_export(app or "none", lived, seed, out, format, json)
        return export_problem(task, minutes or 0, seed, out, format, json)

    _end(work)


def _problems(load: list[Path] | None, *wanted: str) -> ProblemRegistry:
    """All problems. Asked for before a command's own module is loaded, which takes longer: a mistyped id costs no time."""
    from aiopslab.cli.problems import known_problems

    return known_problems(load or (), wanted)


def _end(work: Callable[[], int]) -> NoReturn:
    """Do a command's work and end with its exit code; what goes wrong is told as a sentence."""
    from aiopslab.cli.problems import told

    raise typer.Exit(told(work))


def main() -> None:
    """Run the command line."""
    try:
        cli()
    finally:
        write_out()
