"""``aiopslab bench``: run agents on many problems, store every episode, and print the table."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from aiopslab.agents import HUMAN, make_process, takes_model
from aiopslab.benchmark import (
    NAMES,
    VARIATIONS,
    AgentPerformer,
    ClusterPerformer,
    EpisodeOptions,
    Executor,
    Job,
    Plan,
    Pool,
    RayPool,
    Run,
    Runner,
    Source,
    Status,
    Store,
    StoreError,
    StoreFailed,
    add_variations,
    build_overall,
    count_solved,
    format_text,
    group_by_agent,
    list_jobs,
    lock_folder,
    make_contestants,
    make_remote_performer,
    read_source,
    select_variations,
    use_transactions,
)
from aiopslab.cli.bench_person import check_person, play_jobs
from aiopslab.cli.bench_view import open_view
from aiopslab.cli.clusters import find_missing
from aiopslab.cli.output import Progress
from aiopslab.cli.problems import DONE, FAILED, INTERRUPTED, UsageError, check_folder, load_problems
from aiopslab.cli.reports import write_page
from aiopslab.cli.run import parse_transactions
from aiopslab.orchestrator import (
    end_on_signals,
    get_version,
    hide_command_line,
    shield_harness,
)
from aiopslab.orchestrator.problems import ProblemRegistry, list_suite, use_other_names

if TYPE_CHECKING:
    from aiopslab.cloud.kubernetes import KubernetesOptions

MAX_SEEDS = 10_000
MAX_WORKERS = 1024
EXECUTORS = ("processes", "ray")
REMOVAL_S = 600.0
"""Time that an interrupted episode gets to remove its application from a real cluster."""


@dataclass(frozen=True)
class BenchOptions:
    """The options of ``aiopslab bench``."""

    problems: Sequence[str]
    suite: str | None
    agents: Sequence[str]
    models: Sequence[str]
    seeds: str
    repeats: int
    vary: Sequence[str]
    max_steps: int
    max_cost_usd: float | None
    jobs: int | None
    out: Path
    store: str | None
    executor: str
    resume: bool
    retry_errors: bool
    agent_timeout_s: float
    env: Sequence[str]
    isolate: bool
    load: Sequence[Path]
    as_json: bool
    tnr: bool = False
    undo: str = "inverse"
    cluster: KubernetesOptions | None = None
    """The real cluster to run on; None for the embedded cloud."""


def run_benchmark(options: BenchOptions) -> int:
    """Run all episodes that are missing in the store; return the exit code."""
    registry = load_problems(options.load, options.problems)
    if options.executor not in EXECUTORS:
        raise UsageError(f"There is no executor '{options.executor}'. Choose one of: {', '.join(EXECUTORS)}.")
    if options.cluster is not None:
        _check_for_cluster(options)
    plan = _make_plan(options, registry)
    if plan is not None:
        check_person(plan, options.jobs)
    check_folder(options.out, "--out")
    hide_command_line("aiopslab bench")
    shield_harness()
    with lock_folder(options.out), _open_store(options, plan) as store:
        if plan is None:
            plan = Plan.from_json(store.run.plan)
            check_person(plan, options.jobs)
        _check_agents(plan, options)
        store.remove_strays()
        if options.retry_errors:
            for episode in store.list_episodes():
                if episode.success is None:
                    store.remove(episode.key)
        settings = store.run.settings
        episode_options = EpisodeOptions(
            options.out.absolute(),
            settings["max_steps"],
            settings["thinking_s"],
            settings["agent_timeout_s"],
            tuple(options.env),
            settings["isolate"],
            tuple(path.absolute() for path in options.load),
            options.cluster,
        )
        jobs = list_jobs(plan, registry)
        has_left = not play_jobs(jobs, store, registry, episode_options)
        with open_view() as view, end_on_signals() as signals:
            runner = Runner(
                store,
                jobs,
                _choose_executor(options.executor, episode_options),
                workers=_count_workers(options),
                max_cost_usd=options.max_cost_usd,
                observe=view.show,
            )
            try:
                if has_left:
                    raise KeyboardInterrupt
                runner.run()
                code = DONE if len(runner.status.episodes) == runner.status.total else FAILED
            except KeyboardInterrupt:
                code = 128 + signals[0] if signals else INTERRUPTED
        store.remove_strays()
        _show_end(options, runner.status, read_source(store))
    return code


def _choose_executor(name: str, options: EpisodeOptions) -> Callable[[int], Executor[Job]]:
    if name == "ray":
        return lambda size: RayPool(size, partial(make_remote_performer, options), options.folder)
    if options.cluster is not None:
        return lambda size: Pool(size, partial(ClusterPerformer, options), REMOVAL_S, _tell_removal)
    return lambda size: Pool(size, partial(AgentPerformer, options))


def _tell_removal() -> None:
    print(
        "Ending the episode in progress, and removing the application from the cluster ...", file=sys.stderr
    )


def _count_workers(options: BenchOptions) -> int:
    if options.cluster is not None:
        return 1
    return options.jobs or (MAX_WORKERS if options.executor == "ray" else os.cpu_count() or 1)


def _check_for_cluster(options: BenchOptions) -> None:
    """Raise ``UsageError`` for options that are not for a real cluster."""
    unusable = {
        "--executor ray": options.executor != "processes",
        "--tnr": options.tnr,
        "--vary names": NAMES in _parse_variations(options.vary),
        "--agent human": any(HUMAN in _split_agents(value) for value in options.agents),
        "--jobs, because a cluster has one episode at a time": (options.jobs or 1) > 1,
    }
    if names := [name for name, is_used in unusable.items() if is_used]:
        raise UsageError(f"Not with --cloud kubernetes; leave out {names[0]}.")


def _select_available(
    problems: Sequence[str], registry: ProblemRegistry, cluster: KubernetesOptions
) -> list[str]:
    """Return the problems that can be posed on a real cluster, and print the others with what they need."""
    needs = find_missing(problems, registry, cluster)
    missing = [f"{pid} (needs {need})" for pid, need in needs.items() if need]
    if missing:
        print(
            f"{len(missing)} of {len(problems)} problems are not available on this cluster and are left out: "
            f"{', '.join(missing)}.",
            file=sys.stderr,
        )
    return [pid for pid, need in needs.items() if not need]


def _make_plan(options: BenchOptions, registry: ProblemRegistry) -> Plan | None:
    """Return the plan of the options; None for the one of the store. Raises ``UsageError`` and ``NoOtherNames``."""
    agents = list(dict.fromkeys(name for value in options.agents for name in _split_agents(value)))
    models = [name for value in options.models for name in value.split(",") if name]
    if not agents:
        if options.resume and not (options.problems or options.suite):
            return None
        raise UsageError("No agent is named. Name one or several: --agent runbook,noop")
    if options.problems and options.suite:
        raise UsageError("Both problems and --suite are given. Leave out one of them.")
    problems = list(dict.fromkeys(options.problems or list_suite(registry, options.suite or "smoke")))
    if options.cluster is not None:
        problems = _select_available(problems, registry, options.cluster)
        if not problems:
            raise UsageError(
                "None of the problems is available on this cluster. See: aiopslab list --cloud kubernetes"
            )
    takes = [takes_model(agent) for agent in agents]
    if models and not any(takes):
        raise UsageError(f"None of the agents {', '.join(agents)} takes a model. Leave out --model.")
    contestants = make_contestants(agents, models, takes)
    if parse_transactions(options.tnr, options.undo):
        contestants = [use_transactions(contestant, options.undo) for contestant in contestants]
    variations = _parse_variations(options.vary)
    if variations and HUMAN in agents:
        raise UsageError("A person reads the problems as they are. Leave out --vary.")
    contestants = add_variations(contestants, variations)
    if NAMES in variations:
        for problem in problems:  # fail before a store is created
            registry.get_problem_instance(use_other_names(problem))
    return Plan(contestants, problems, parse_seeds(options.seeds), options.repeats)


def _parse_variations(values: Sequence[str]) -> Sequence[str]:
    try:
        return select_variations(
            name.strip() for value in values for name in value.split(",") if name.strip()
        )
    except ValueError as error:
        known = ", ".join((*VARIATIONS, "all"))
        raise UsageError(f"There is no variation '{error}'. Choose some of: {known}.") from None


def _split_agents(value: str) -> list[str]:
    """Return the agents of a value of ``--agent``; a command may contain commas."""
    return (
        [value] if value.startswith("cmd:") else [name.strip() for name in value.split(",") if name.strip()]
    )


def parse_seeds(text: str) -> list[int]:
    """Parse seeds such as ``3``, ``0,1,2`` or ``0-4``; raises ``UsageError``."""
    seeds: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or (dash and int(last) < int(first)):
            raise UsageError(f"--seed takes a number, a list as 0,1,2 or a range as 0-4, not '{text}'.")
        seeds += range(int(first), int(last if dash else first) + 1)
        if len(seeds) > MAX_SEEDS:
            raise UsageError(f"--seed names more than {MAX_SEEDS} seeds. Name fewer.")
    return list(dict.fromkeys(seeds))


def _open_store(options: BenchOptions, plan: Plan | None) -> Store:
    settings = {
        **EpisodeOptions(
            options.out,
            options.max_steps,
            agent_timeout_s=options.agent_timeout_s,
            isolate=options.isolate,
            cluster=options.cluster,
        ).settings,
        "version": get_version(),
    }
    if not options.resume:
        assert plan is not None
        return Store.create(options.out, Run(uuid4().hex, settings, plan.to_json()), options.store)
    store = Store.open(options.out, options.store)
    stored = {"cloud": "embedded", **store.run.settings}
    if plan is None:  # all other settings are those of the store
        settings = {"cloud": settings["cloud"]}
    if different := [name for name in settings if stored.get(name) != settings[name]]:
        store.close()
        name = different[0]
        raise StoreError(
            f"The benchmark in {options.out} has {name.replace('_', ' ')} {stored.get(name)}, not {settings[name]}. "
            "Continue it with the same, or start another one with another --out."
        )
    if plan is not None:
        store.change_plan(plan.to_json())
    return store


def _check_agents(plan: Plan, options: BenchOptions) -> None:
    """Start each agent once, so that one that cannot work is reported before any world is prepared."""

    async def start_and_close(spec: str, model: str | None) -> None:
        name, agent = make_process(spec, model, options.env, isolate=options.isolate)
        linked = agent.link(name, timeout_s=options.agent_timeout_s)
        try:
            await linked.start()
        finally:
            await linked.close()

    with Progress() as progress, asyncio.Runner() as loop:
        for contestant in plan.contestants:
            if contestant.spec == HUMAN or contestant.variation:  # a variation runs the same program
                continue
            progress(f"checking the agent {contestant.name}")
            loop.run(start_and_close(contestant.spec, contestant.model))


def _show_end(options: BenchOptions, status: Status, source: Source) -> None:
    page = options.out / "report.html"
    if status.episodes:
        try:
            write_page([source], page)
        except UsageError:
            raise StoreFailed(
                f"{page} could not be written; all finished episodes are stored. Free some space, and write it with: "
                f"aiopslab report {options.out} --format html --out {page}"
            ) from None
    if options.as_json:
        print(json.dumps(_build_document(options, status, page), indent=1))
        return
    if status.episodes:
        print(format_text([build_overall(status.episodes)]))
    if len(status.episodes) < status.total:
        reason = "The cost limit is reached" if status.is_over_budget else "Interrupted"
        print(f"{reason}: {len(status.episodes)} of {status.total} episodes are stored. Continue with:")
        print(f"  aiopslab bench --resume --out {options.out}")
    print(f"All tables: aiopslab report {options.out}")
    if status.episodes:
        print(f"Report: {page}")


def _build_document(options: BenchOptions, status: Status, page: Path) -> dict[str, Any]:
    agents = []
    for agent, own in group_by_agent(status.episodes).items():
        share = count_solved([episode for episode in own if episode.is_counted])
        agents.append(
            {
                "agent": agent,
                "episodes": len(own),
                "solved": share.count,
                "accuracy": share.value,
                "interval": [share.interval.low, share.interval.high],
                "errors": sum(episode.success is None for episode in own),
                "cost_usd": sum(episode.cost_usd or 0.0 for episode in own),
            }
        )
    return {
        "out": str(options.out),
        "report": str(page),
        "done": len(status.episodes),
        "total": status.total,
        "cost_limit_reached": status.is_over_budget,
        "agents": agents,
    }
