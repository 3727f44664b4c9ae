"""``aiopslab bench``: run agents on many problems, store every episode, and print the table."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from aiopslab.agents import make_process, takes_model
from aiopslab.benchmark import (
    EpisodeOptions,
    Plan,
    Run,
    Runner,
    Status,
    Store,
    StoreError,
    build_overall,
    count_solved,
    format_text,
    group_by_agent,
    list_jobs,
    lock_folder,
    make_contestants,
    make_world_performer,
    run_agent,
)
from aiopslab.cli.bench_view import open_view
from aiopslab.cli.output import Progress
from aiopslab.cli.problems import DONE, FAILED, INTERRUPTED, UsageError, check_folder, load_problems
from aiopslab.cli.reports import write_page
from aiopslab.orchestrator import end_on_signals, get_version, hide_command_line, shield_harness
from aiopslab.orchestrator.problems import ProblemRegistry, list_suite

MAX_SEEDS = 10_000


@dataclass(frozen=True)
class BenchOptions:
    """The options of ``aiopslab bench``."""

    problems: Sequence[str]
    suite: str | None
    agents: Sequence[str]
    models: Sequence[str]
    seeds: str
    repeats: int
    max_steps: int
    max_cost_usd: float | None
    jobs: int | None
    out: Path
    resume: bool
    retry_errors: bool
    agent_timeout_s: float
    env: Sequence[str]
    isolate: bool
    load: Sequence[Path]
    as_json: bool


def run_benchmark(options: BenchOptions) -> int:
    """Run all episodes that are missing in the store; return the exit code."""
    registry = load_problems(options.load, options.problems)
    plan = _make_plan(options, registry)
    check_folder(options.out, "--out")
    hide_command_line("aiopslab bench")
    shield_harness()
    with lock_folder(options.out), _open_store(options, plan) as store:
        plan = plan or Plan.from_json(store.run.plan)
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
        )
        with open_view() as view, end_on_signals() as signals:
            runner = Runner(
                store,
                list_jobs(plan, registry),
                make_world_performer(run_agent, episode_options),
                workers=options.jobs or os.cpu_count() or 1,
                max_cost_usd=options.max_cost_usd,
                observe=view.show,
            )
            try:
                runner.run()
                code = FAILED if runner.status.is_over_budget else DONE
            except KeyboardInterrupt:
                code = 128 + signals[0] if signals else INTERRUPTED
        store.remove_strays()
    _show_end(options, runner.status)
    return code


def _make_plan(options: BenchOptions, registry: ProblemRegistry) -> Plan | None:
    """Return the plan of the options; None for the one of the store. Raises ``UsageError``."""
    agents = list(dict.fromkeys(name for value in options.agents for name in _split_agents(value)))
    models = [name for value in options.models for name in value.split(",") if name]
    if not agents:
        if options.resume and not (options.problems or options.suite):
            return None
        raise UsageError("No agent is named. Name one or several: --agent runbook,noop")
    if options.problems and options.suite:
        raise UsageError("Both problems and --suite are given. Leave out one of them.")
    problems = list(dict.fromkeys(options.problems or list_suite(registry, options.suite or "smoke")))
    takes = [takes_model(agent) for agent in agents]
    if models and not any(takes):
        raise UsageError(f"None of the agents {', '.join(agents)} takes a model. Leave out --model.")
    contestants = make_contestants(agents, models, takes)
    return Plan(contestants, problems, parse_seeds(options.seeds), options.repeats)


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
        ).settings,
        "version": get_version(),
    }
    if not options.resume:
        assert plan is not None
        return Store.create(options.out, Run(uuid4().hex, settings, plan.to_json()))
    store = Store.open(options.out)
    if plan is not None:
        stored = store.run.settings
        if different := [name for name in settings if stored.get(name) != settings[name]]:
            store.close()
            name = different[0]
            raise StoreError(
                f"The benchmark in {options.out} has {name.replace('_', ' ')} {stored.get(name)}, not {settings[name]}. "
                "Continue it with the same, or start another one with another --out."
            )
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
            progress(f"checking the agent {contestant.name}")
            loop.run(start_and_close(contestant.spec, contestant.model))


def _show_end(options: BenchOptions, status: Status) -> None:
    page = options.out / "report.html"
    if status.episodes:
        write_page([options.out], page)
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
