"""The commands of ``aiopslab``.

Exit codes: 0 done, 1 the run failed, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aiopslab.cli.benchmarks import benchmarks
from aiopslab.cli.cluster import DEFAULT_KUBECONFIG, cluster
from aiopslab.cli.options import (
    AsJson,
    Cloud,
    ClusterOption,
    ContextName,
    Kubeconfig,
    Load,
    Noise,
    PolicyName,
    Problem,
    Results,
    Seed,
    Suite,
    Tnr,
    Undo,
    format_examples,
    run_and_exit,
)
from aiopslab.cli.standard_output import flush_output

if TYPE_CHECKING:
    from aiopslab.orchestrator.problems import ProblemRegistry

cli = typer.Typer(
    name="aiopslab",
    help="A whole cloud in one Python process, to build, test, train and compare agents that operate clouds.",
    epilog=format_examples(
        "aiopslab demo",
        "aiopslab list",
        "aiopslab play scale_pod_zero_social_net-mitigation-1",
        "aiopslab run scale_pod_zero_social_net-detection-1 --agent noop",
    ),
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

cli.add_typer(cluster)
cli.add_typer(benchmarks)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        from aiopslab.orchestrator import get_version

        print(f"aiopslab-in-a-box {get_version()}")
        raise typer.Exit


@cli.callback()
def _define_options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Define the options that come before a command."""


@cli.command(epilog=format_examples("aiopslab demo --seed 7"))
def demo(seed: Seed = 7) -> None:
    """Watch a scripted engineer repair a broken social network."""
    from aiopslab.cli.demo import run_demo

    run_and_exit(lambda: run_demo(seed))


@cli.command(
    "list",
    epilog=format_examples(
        "aiopslab list --task mitigation",
        "aiopslab list --app hotel-reservation --json",
        "aiopslab list --load my_problems.py",
        "aiopslab list --agents",
        "aiopslab list --faults --json",
        "aiopslab list --suite core",
        "aiopslab list --cloud kubernetes",
    ),
)
def list_(
    task: Annotated[
        str | None,
        typer.Option(
            metavar="TASK",
            help="Only problems of this task: detection, localization, analysis, mitigation, incident, prediction, finops, ciso.",
        ),
    ] = None,
    app: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only problems of this application.")
    ] = None,
    suite: Suite = None,
    load: Load = None,
    agents: Annotated[bool, typer.Option("--agents", help="List agents instead of problems.")] = False,
    apps: Annotated[bool, typer.Option("--apps", help="List applications instead of problems.")] = False,
    faults: Annotated[bool, typer.Option("--faults", help="List faults instead of problems.")] = False,
    cloud: Cloud = "embedded",
    cluster_option: ClusterOption = None,
    as_json: AsJson = False,
) -> None:
    """List all problems; with --cloud kubernetes, also whether each is available on a real cluster."""
    from aiopslab.cli.clusters import parse_cloud
    from aiopslab.cli.inventory import list_agents, list_apps, list_faults, list_problems

    if agents:
        run_and_exit(lambda: list_agents(as_json))
    if apps:
        run_and_exit(lambda: list_apps(as_json))
    if faults:
        run_and_exit(lambda: list_faults(as_json))
    run_and_exit(
        lambda: list_problems(
            task, app, suite, load or (), as_json, parse_cloud(cloud, None, None, cluster_option or ())
        )
    )


@cli.command(
    epilog=format_examples(
        "aiopslab generate --seed 12 --count 20",
        "aiopslab generate --seed 12 --count 5 --task mitigation --noise heavy --json",
    )
)
def generate(
    seed: Seed = 0,
    count: Annotated[int, typer.Option(metavar="N", help="Number of problems.", min=1, max=10_000)] = 10,
    task: Annotated[str | None, typer.Option(metavar="TASK", help="Only problems of this task.")] = None,
    app: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only problems of this application.")
    ] = None,
    noise: Noise = None,
    load: Load = None,
    as_json: AsJson = False,
) -> None:
    """Generate new problems from a seed, and print their ids.

    Each id carries the seed: it is the same problem wherever it is run.
    """
    from aiopslab.cli.inventory import generate_problems

    run_and_exit(lambda: generate_problems(seed, count, task, app, noise, load or (), as_json))


@cli.command(
    epilog=format_examples(
        "aiopslab run scale_pod_zero_social_net-detection-1 --agent noop",
        "aiopslab run revoke_auth_mongodb-mitigation-1 --agent react --model gpt-5-mini",
        "aiopslab run revoke_auth_mongodb-mitigation-1 --agent toolcall --model claude-sonnet-5-5",
        "aiopslab run revoke_auth_mongodb-detection-1 --agent shell --model 'qwen3:8b?base_url=http://localhost:11434/v1'",
        "aiopslab run network_loss_hotel_res-localization-1 --agent my_agent.py:Careful",
        "aiopslab run k8s_target_port-misconfig-mitigation-1 --agent 'cmd:./my-agent -x' --env OPENAI_API_KEY",
        "aiopslab run scale_pod_zero_social_net-mitigation-1 --agent restart-all --tnr",
        "aiopslab run scale_pod_zero_social_net-mitigation-1 --agent human",
        "aiopslab run misconfig_app_hotel_res-mitigation-1 --agent runbook --cloud kubernetes --context kind-kind",
    )
)
def run(
    problem: Problem,
    agent: Annotated[
        str,
        typer.Option(
            metavar="AGENT",
            help="Name of an agent (`aiopslab list --agents`), or your own as FILE.py:Name, MODULE:Name or 'cmd:COMMAND'.",
        ),
    ],
    seed: Seed = 0,
    noise: Noise = None,
    max_steps: Annotated[
        int, typer.Option(metavar="N", min=1, max=10_000, help="Maximum number of agent steps.")
    ] = 30,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Language model, for an agent that takes one: NAME, openai:NAME or anthropic:NAME, with settings as in "
            "'NAME?timeout_s=60'. Keys come from OPENAI_API_KEY and ANTHROPIC_API_KEY.",
        ),
    ] = None,
    load: Load = None,
    results: Results = Path("results"),
    judge: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Language model that also judges the agent's reasoning."),
    ] = None,
    thinking: Annotated[
        str,
        typer.Option(
            metavar="SECONDS",
            help="Simulated thinking time per step; 'wall' for the real time that the agent takes.",
        ),
    ] = "5",
    policy: PolicyName = None,
    env: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Environment variable to pass to the agent, such as an API key for a 'cmd:' agent. May be repeated.",
        ),
    ] = None,
    agent_timeout: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=1,
            max=86_400,
            help="Real time that the agent has to start, and for each answer.",
        ),
    ] = 600.0,
    action_timeout: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=1,
            max=86_400,
            help="Real time after which an action that is still being simulated fails the run.",
        ),
    ] = 300.0,
    tnr: Tnr = False,
    undo: Undo = "inverse",
    isolate: Annotated[
        bool,
        typer.Option(
            "--isolate",
            help="Run the agent in its own Linux namespaces: no other processes, no network, read-only files.",
        ),
    ] = False,
    endpoint: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Address that an isolated agent may reach, besides those of its models. May be repeated.",
        ),
    ] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=N",
            help="Limit of the agent: memory_mb, processes, file_mb, open_files or cpu_s. May be repeated.",
        ),
    ] = None,
    cloud: Cloud = "embedded",
    kubeconfig: Kubeconfig = None,
    context: ContextName = None,
    cluster_option: ClusterOption = None,
    as_json: AsJson = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Print complete responses and observations.")
    ] = False,
) -> None:
    """Let an agent work on a problem, and evaluate the session.

    Exit codes: 0 the session is complete, whether the answer is right or wrong; 1 the run failed (the agent crashed or was too
    slow, or the simulation took too long); 2 wrong usage; 130 interrupted, 143 or 129 ended by SIGTERM or SIGHUP. Every
    session that starts leaves a record. The agent runs in a process of its own.
    """

    def work() -> int:
        from aiopslab.cli.problems import set_noise

        wanted = set_noise(problem, noise)
        problems = _load_problems(load, wanted)
        from aiopslab.cli.clusters import parse_cloud
        from aiopslab.cli.run import RunOptions, run_problem

        options = RunOptions(
            wanted,
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
            agent_timeout,
            isolate,
            limit or (),
            endpoint or (),
            tnr,
            undo,
            parse_cloud(cloud, kubeconfig, context, cluster_option or ()),
        )
        return run_problem(problems, options)

    run_and_exit(work)


@cli.command(
    epilog=format_examples(
        "aiopslab fidelity misconfig_app_hotel_res-mitigation-1 --kubeconfig ~/.kube/config --context kind-kind"
    )
)
def fidelity(
    problems: Annotated[
        list[str], typer.Argument(metavar="PROBLEM", help="Ids of mitigation problems to compare.")
    ],
    seed: Seed = 0,
    load: Load = None,
    kubeconfig: Kubeconfig = None,
    context: ContextName = None,
    cluster_option: ClusterOption = None,
    as_json: AsJson = False,
) -> None:
    """Pose problems on the embedded cloud and on a real cluster, and compare what an agent would see."""

    def work() -> int:
        registry = _load_problems(load, *problems)
        from aiopslab.cli.clusters import KUBERNETES, parse_cloud
        from aiopslab.cli.fidelity import show_fidelity

        cluster = parse_cloud(KUBERNETES, kubeconfig, context, cluster_option or ())
        assert cluster is not None
        return show_fidelity(registry, problems, cluster, seed, as_json)

    run_and_exit(work)


@cli.command(epilog=format_examples("aiopslab cleanup --kubeconfig ~/.kube/config --context kind-kind"))
def cleanup(kubeconfig: Kubeconfig = None, context: ContextName = None) -> None:
    """Remove from a cluster everything that runs with --cloud kubernetes have left there, for example after a crash."""
    from aiopslab.cli.clusters import clean_up

    run_and_exit(lambda: clean_up(kubeconfig, context))


@cli.command(
    epilog=format_examples(
        "aiopslab mcp revoke_auth_mongodb-mitigation-1",
        "aiopslab mcp revoke_auth_mongodb-mitigation-1 --port 8123 --tnr",
        "claude mcp add aiopslab -- aiopslab mcp revoke_auth_mongodb-mitigation-1",
    )
)
def mcp(
    problem: Problem,
    seed: Seed = 0,
    max_steps: Annotated[
        int, typer.Option(metavar="N", min=1, max=10_000, help="Maximum number of tool calls.")
    ] = 100,
    load: Load = None,
    results: Results = Path("results"),
    port: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            max=65_535,
            help="Serve streamable HTTP on this port of the loopback interface, 0 for any free one, instead of standard input and "
            "output.",
        ),
    ] = None,
    tnr: Tnr = False,
    undo: Undo = "inverse",
) -> None:
    """Serve a problem to an agent that speaks the Model Context Protocol (needs the extra `mcp`).

    The tools are the problem's actions. The session ends with a submission or when the client leaves; it is judged and recorded, and
    the verdict is printed to standard error.
    """

    def work() -> int:
        problems = _load_problems(load, problem)
        from aiopslab.cli.mcp import serve_problem
        from aiopslab.cli.run import parse_transactions

        settings = {"tnr": parse_transactions(tnr, undo)}
        return serve_problem(problems, problem, seed, max_steps, results, port, settings)

    run_and_exit(work)


@cli.command(
    epilog=format_examples(
        "aiopslab serve",
        "aiopslab serve --port 9000 --max-sessions 50 --idle-timeout 300",
        "aiopslab serve --model gpt-5-mini",
        "aiopslab serve --cloud kubernetes --context kind-kind",
    )
)
def serve(
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to listen on. Default: the loopback interface.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65_535, help="Port to listen on; 0 for any that is free.")
    ] = 8765,
    results: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for the session records.")] = Path(
        "results"
    ),
    load: Load = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Language model that agents may use; the first by default. May be repeated."
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Further host name by which clients call the server. May be repeated."
        ),
    ] = None,
    max_sessions: Annotated[
        int, typer.Option(metavar="N", min=1, max=1000, help="Maximum number of sessions at once.")
    ] = 16,
    idle_timeout: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", min=1, max=86_400, help="A session without a request for this time ends."
        ),
    ] = 900.0,
    max_time: Annotated[
        float, typer.Option(metavar="SECONDS", min=1, max=604_800, help="A session ends after this time.")
    ] = 7200.0,
    memory: Annotated[
        int,
        typer.Option(
            metavar="MIB",
            min=64,
            max=1_000_000,
            help="Memory of a session beyond that of its prepared world.",
        ),
    ] = 1024,
    cloud: Cloud = "embedded",
    kubeconfig: Kubeconfig = None,
    context: ContextName = None,
    cluster_option: ClusterOption = None,
) -> None:
    """Serve incidents over HTTP, to agents, programs and browsers.

    Prints an address with a token; open it in a browser, or send the token as a bearer token. Every session runs in a process of
    its own, and ends in a record. Ctrl-C and SIGTERM close all sessions. The token can be set in AIOPSLAB_SERVE_TOKEN.
    """

    def work() -> int:
        from aiopslab.cli.clusters import parse_cloud
        from aiopslab.cli.serve import ServeOptions, serve_incidents
        from aiopslab.servers.http_api import ServerLimits

        limits = ServerLimits(max_sessions, idle_timeout, max_time, memory)
        cluster = parse_cloud(cloud, kubeconfig, context, cluster_option or ())
        options = ServeOptions(
            host, port, results, load or (), limits, model or (), allow_host or (), cluster
        )
        return serve_incidents(options)

    run_and_exit(work)


@cli.command(
    epilog=format_examples(
        "aiopslab submit",
        "aiopslab submit Yes",
        "aiopslab submit mongodb-geo --kubeconfig lab.kubeconfig",
    )
)
def submit(
    answer: Annotated[
        list[str] | None,
        typer.Argument(metavar="ANSWER", help="The answer, as in `aiopslab play`; none after a repair."),
    ] = None,
    kubeconfig: Annotated[
        Path, typer.Option(metavar="FILE", help="Kubeconfig file that `cluster up` wrote.")
    ] = DEFAULT_KUBECONFIG,
    as_json: AsJson = False,
) -> None:
    """Answer the problem of a running `aiopslab cluster up --problem`, which ends it.

    The answer is judged; the verdict is printed and the record is written.
    """

    def work() -> int:
        from aiopslab.cli.submit import submit_answer

        return submit_answer(answer or [], kubeconfig, as_json)

    run_and_exit(work)


@cli.command(epilog=format_examples("aiopslab show results", "aiopslab show results/944c4b43….json -v"))
def show(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH", help="Records of sessions, or folders of records.")
    ],
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Print complete responses and observations.")
    ] = False,
) -> None:
    """Show recorded sessions; a folder as one line per session.

    A session whose process was killed is shown as cut off, with its steps up to then.
    """

    def work() -> int:
        from aiopslab.cli.show import show_records

        return show_records(paths, verbose)

    run_and_exit(work)


@cli.command(
    epilog=format_examples(
        "aiopslab play scale_pod_zero_social_net-mitigation-1",
        "printf 'kubectl get pods -A\\nsubmit Yes\\n' | aiopslab play scale_pod_zero_social_net-detection-1",
        "aiopslab play misconfig_app_hotel_res-mitigation-1 --cloud kubernetes --context kind-kind",
    )
)
def play(
    problem: Problem,
    seed: Seed = 0,
    noise: Noise = None,
    load: Load = None,
    results: Results = Path("results"),
    policy: PolicyName = None,
    thinking: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0,
            max=3600,
            help="Simulated thinking time before each of your actions.",
        ),
    ] = 5.0,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="NAME",
            help="Language model that adds an analogy for newcomers to the debrief.",
        ),
    ] = None,
    cloud: Cloud = "embedded",
    kubeconfig: Kubeconfig = None,
    context: ContextName = None,
    cluster_option: ClusterOption = None,
) -> None:
    """Work on a problem yourself, at a terminal, with hints and a debrief at the end."""

    def work() -> int:
        from aiopslab.cli.problems import set_noise

        wanted = set_noise(problem, noise)
        problems = _load_problems(load, wanted)
        from aiopslab.cli.clusters import parse_cloud
        from aiopslab.cli.play import TIME_LIMIT_S, PlayOptions, play_problem

        settings = {"thinking_s": thinking, "time_limit_s": TIME_LIMIT_S}
        cluster = parse_cloud(cloud, kubeconfig, context, cluster_option or ())
        options = PlayOptions(wanted, seed, results, policy, settings=settings, model=model, cluster=cluster)
        return play_problem(problems, options)

    run_and_exit(work)


@cli.command(
    epilog=format_examples(
        "aiopslab validate scale_pod_zero_social_net-mitigation-1",
        "aiopslab validate --load my_problems.py my_family-detection-1",
        "aiopslab validate --suite core --jobs 2 --log core.jsonl",
        "aiopslab validate --json",
    )
)
def validate(
    problems: Annotated[
        list[str] | None,
        typer.Argument(metavar="PROBLEM", help="Problem ids. Default: all problems."),
    ] = None,
    suite: Suite = None,
    load: Load = None,
    seed: Seed = 0,
    twice: Annotated[
        bool, typer.Option("--twice", help="Also stage each problem twice and compare; slower.")
    ] = False,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", min=1, help="Number of processes.")] = 1,
    log: Annotated[
        Path | None,
        typer.Option(
            "--log",
            metavar="FILE",
            help="Append the findings of each problem to this file at once; problems in it are left out.",
        ),
    ] = None,
    cloud: Cloud = "embedded",
    kubeconfig: Kubeconfig = None,
    context: ContextName = None,
    cluster_option: ClusterOption = None,
    as_json: AsJson = False,
) -> None:
    """Check that problems are fair, on copies of their worlds.

    The incident must be visible, the reference repair must pass, shortcuts must fail, and nothing that an agent can read may
    reveal the answer. On a real cluster, the incident must be visible, doing nothing must fail, and the repair must pass.
    """

    def work() -> int:
        registry = _load_problems(load, *(problems or ()))
        from aiopslab.cli.clusters import parse_cloud
        from aiopslab.cli.validation import validate_problems
        from aiopslab.orchestrator.problems import list_suite

        wanted = problems or list_suite(registry, suite or "all")
        cluster = parse_cloud(cloud, kubeconfig, context, cluster_option or ())
        return validate_problems(
            registry, wanted, seed, twice=twice, jobs=jobs, log=log, as_json=as_json, cluster=cluster
        )

    run_and_exit(work)


@cli.command(
    epilog=format_examples(
        "aiopslab shell", "aiopslab shell --app hotel-reservation -c 'kubectl get pods -A'"
    )
)
def shell(
    line: Annotated[
        str | None,
        typer.Option("-c", metavar="LINE", help="Run this command line and exit with its exit code."),
    ] = None,
    nodes: Annotated[
        int, typer.Option(metavar="N", min=1, max=100, help="Number of nodes of the cluster.")
    ] = 4,
    policy: Annotated[
        str, typer.Option(metavar="NAME", help="Access rights: read-only, operator or admin.")
    ] = "admin",
    app: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Application to deploy, with simulated users; see `aiopslab list --apps`.",
        ),
    ] = None,
    machine: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Use a plain machine without Kubernetes instead: node-1, node-2 or node-3."
        ),
    ] = None,
    seed: Seed = 7,
) -> None:
    """Open a shell on the operator's host of a new cluster."""
    if machine is not None:
        from aiopslab.cli.terminal import run_terminal

        raise typer.Exit(run_terminal(machine, line, seed))
    from aiopslab.cli.shell import run_shell

    raise typer.Exit(run_shell(line, nodes, seed, policy, app))


@cli.command(
    epilog=format_examples(
        "aiopslab export --app hotel-reservation --minutes 10 --out data --format csv,parquet",
        "aiopslab export revoke_auth_mongodb-detection-1 --out data",
        "aiopslab export revoke_auth_mongodb-localization-1 --out cases --format rcaeval --normal 10 --minutes 10 --scrape 1",
        "aiopslab export revoke_auth_mongodb-mitigation-1 --out tasks/revoke-auth --format harbor",
        "aiopslab export results --out trajectories --format atif",
    )
)
def export(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder to write to; new or empty.")],
    problem: Annotated[
        str | None,
        typer.Argument(
            metavar="PROBLEM",
            help="Problem to record, with its ground truth; for atif, a session record or a folder of them. "
            "Default: record the application of --app.",
        ),
    ] = None,
    app: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Application to deploy (`aiopslab list --apps`), or none (the default).",
        ),
    ] = None,
    minutes: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            max=1440,
            help="Simulated minutes to record (default: 10); for a problem, minutes after its fault took effect (default: 0).",
        ),
    ] = None,
    normal: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, max=1440, help="For a problem, additional minutes before its fault."
        ),
    ] = 0,
    scrape: Annotated[
        int, typer.Option(metavar="SECONDS", min=1, max=300, help="Time between two samples of a metric.")
    ] = 15,
    seed: Seed = 7,
    load: Load = None,
    format: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Formats of telemetry: csv, parquet, otlp, or several (csv,otlp); "
            "or rcaeval, harbor (a task folder) or atif (trajectories of sessions).",
        ),
    ] = "csv",
    json: Annotated[bool, typer.Option("--json", help="Print the manifest as JSON.")] = False,
) -> None:
    """Write the telemetry of a cluster or a problem as a data set, or a problem or sessions in other formats.

    A data set contains logs, metrics, traces, events and objects; for a problem, also the ground truth.
    """
    if problem is not None and app is not None:
        hint = "a problem has its own application; leave out --app, or leave out the problem"
        raise typer.BadParameter(hint, param_hint="--app")
    if problem is None and format in ("atif", "harbor", "rcaeval"):
        needed = "session record" if format == "atif" else "problem"
        raise typer.BadParameter(
            f"{format} needs a {needed}; name it before the options", param_hint="--format"
        )
    if load and format == "harbor":
        hint = "a task folder can have installed problems only; leave out --load"
        raise typer.BadParameter(hint, param_hint="--load")

    def work() -> int:
        if format == "atif":
            from aiopslab.cli.interchange import export_sessions

            return export_sessions(str(problem), out, json)
        task = None if problem is None else _load_problems(load, problem).get_problem_instance(problem, seed)
        from aiopslab.cli.export import ExportOptions, export_app, export_case, export_problem

        options = ExportOptions(out, format, minutes, normal, scrape, json)
        if task is None:
            return export_app(app or "none", seed, options)
        if format == "harbor":
            from aiopslab.cli.interchange import export_task

            return export_task(task, out, json)
        return (export_case if format == "rcaeval" else export_problem)(task, task.seed, options)

    run_and_exit(work)


@cli.command(
    epilog=format_examples(
        "aiopslab new agent careful",
        "aiopslab new problem slow-search --out incidents",
        "aiopslab new fault lost-label --out src/my_package --tests tests",
    )
)
def new(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="What to write: fault, problem, app or agent.")],
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Its name, in kebab or snake case, such as slow-disk.")
    ],
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Folder to write to; it may be a package.")
    ] = Path(),
    tests: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder for the test. Default: as --out.")
    ] = None,
) -> None:
    """Write a small working fault, problem, application or agent with its test, to start from.

    Existing files are never overwritten.
    """

    def work() -> int:
        from aiopslab.cli.new import write_new

        return write_new(kind, name, out, tests)

    run_and_exit(work)


def _load_problems(load: list[Path] | None, *wanted: str) -> ProblemRegistry:
    """Load all problems. Called before the slow imports of a command, so that a mistyped id fails at once."""
    from aiopslab.cli.problems import load_problems

    return load_problems(load or (), wanted)


def main() -> None:
    """Run the command line."""
    # A world may be thrown away at an instant when a process has been started but has not yet run.
    warnings.filterwarnings("ignore", message="coroutine 'Process._live' was never awaited")
    try:
        cli()
    finally:
        flush_output()
