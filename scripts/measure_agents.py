"""Measure agents that need no model: accuracy per task and family, and time.

    python scripts/measure_agents.py figures.jsonl --suite compat --seed 5 --jobs 2
    python scripts/measure_agents.py figures.jsonl $(aiopslab generate --seed 401 --count 40 --json | jq -r '.[].id')

Each session is appended to the file at once; a second run continues where the first one stopped. The tables are printed from the
whole file. An agent runs only on the tasks that it answers. Localizers submit three names (``pdiagnose:3``): a localization is
right if the first of them is.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from aiopslab.agents import find_agent
from aiopslab.agents.classical import TASK_NAMES
from aiopslab.orchestrator.problems import ProblemRegistry, list_suite
from aiopslab.orchestrator.stages import Stages, run_episode

AGENTS = "noop,yes,random,mksmc,pdiagnose:3,rmlad:3"
TASKS = ("detection", "localization")
END = re.compile(rf"-(?:{'|'.join(TASKS)})(?:-\d+)?(?:@\d+)?$")


def create_agent(spec: str) -> object:
    """Return a new agent by its name."""
    return find_agent(spec)[1]


def run_problems(work: tuple[list[tuple[str, str]], int, Path]) -> None:
    """Run agents on the problems of one application, and append what came of it to a file."""
    pairs, seed, log = work
    with Stages(seed) as stages, log.open("a", encoding="utf-8") as file:
        for pid, spec in pairs:
            task = ProblemRegistry().get_problem_instance(pid, seed)
            with stages.episode(pid) as copy:
                began = time.perf_counter()
                done = copy.call(run_episode, partial(create_agent, spec), spec)
                wall_s = time.perf_counter() - began
            entry = {
                "problem": pid,
                "seed": seed,
                "agent": spec,
                "task": task.task_type,
                "drawn": "@" in pid,
                "layer": task.faults[0].layer if task.faults else "healthy",
                "ending": done["ending"],
                "steps": len(done["session"]["steps"]),
                "wall_s": round(wall_s, 2),
                "results": {
                    key: done["results"].get(key)
                    for key in ("success", "accuracy@1", "accuracy@3", "TTD", "TTL")
                },
            }
            print(json.dumps(entry), file=file, flush=True)
            print(f"{spec} on {pid}: {entry['results']['success']}", file=sys.stderr, flush=True)


def is_right(entry: dict[str, Any], names: int = 1) -> bool:
    """Return whether the answer is right: for a localization, whether the first names contain the faulty component."""
    if entry["task"] == "localization":
        return bool((entry["results"][f"accuracy@{names}"] or 0) >= 100)
    return entry["results"]["success"] is True


def format_share(entries: Iterable[bool]) -> str:
    """Return how many are true, as a count and a percentage."""
    found = list(entries)
    return f"{sum(found)}/{len(found)} ({sum(found) / len(found):.0%})" if found else "-"


def format_totals(entries: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a row for each agent, task and kind of problem."""
    yield "| agent | task | problems | right | right among the first 3 | steps | simulated s | wall s |\n|---|---|---|---|---|---|---|---|"
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
    for entry in entries:
        groups[entry["task"], "generated" if entry["drawn"] else "compat", entry["agent"]].append(entry)
    for (task, kind, agent), members in sorted(groups.items()):
        third = format_share(is_right(entry, 3) for entry in members) if task == "localization" else "-"
        simulated = [entry["results"]["TTD"] or entry["results"]["TTL"] or 0.0 for entry in members]
        means = (
            sum(values) / len(members)
            for values in (
                [entry["steps"] for entry in members],
                simulated,
                [entry["wall_s"] for entry in members],
            )
        )
        figures = " | ".join(f"{mean:.1f}" for mean in means)
        yield f"| {agent} | {task} | {kind} | {format_share(map(is_right, members))} | {third} | {figures} |"


def format_groups(entries: list[dict[str, Any]], task: str, key: str) -> Iterator[str]:
    """Yield a table of a task: a row for each family or layer, a column for each agent."""
    chosen = [entry | {"family": END.sub("", entry["problem"])} for entry in entries if entry["task"] == task]
    agents = sorted({entry["agent"] for entry in chosen})
    yield f"| {key} ({task}) | {' | '.join(agents)} |\n|---|{'---|' * len(agents)}"
    for group in sorted({entry[key] for entry in chosen}):
        cells = []
        for agent in agents:
            members = [is_right(entry) for entry in chosen if entry["agent"] == agent and entry[key] == group]
            cells.append(f"{sum(members)}/{len(members)}" if members else "-")
        yield f"| {group} | {' | '.join(cells)} |"


def choose_work(options: argparse.Namespace) -> Iterator[tuple[list[tuple[str, str]], int, Path]]:
    """Yield what is left to do, by application, so that its baseline is prepared once."""
    registry = ProblemRegistry()
    ids = options.problems or list_suite(registry, options.suite)
    known = options.log.read_text("utf-8").splitlines() if options.log.exists() else []
    done = {(entry["problem"], entry["agent"], entry["seed"]) for entry in map(json.loads, known)}
    answers = {spec: getattr(create_agent(spec), "answers", None) for spec in options.agents.split(",")}
    groups: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for pid in ids:
        task = registry.get_problem_instance(pid, options.seed)
        for spec, answer in answers.items():
            asked = (TASK_NAMES[answer],) if answer else TASKS
            if task.task_type in asked and (pid, spec, options.seed) not in done:
                groups[f"{task.app.name}@{task.seed}"].append((pid, spec))
    for pairs in groups.values():
        size = -(-len(pairs) // options.jobs)
        for start in range(0, len(pairs), size):
            yield pairs[start : start + size], options.seed, options.log


def main() -> None:
    """Run the agents and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("log", type=Path)
    parser.add_argument("problems", nargs="*", help="ids of problems, instead of a suite")
    parser.add_argument("--suite", default="compat")
    parser.add_argument("--agents", default=AGENTS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--tables-only", action="store_true", help="only print the tables of the file")
    options = parser.parse_args()
    if not options.tables_only:
        work = list(choose_work(options))
        if options.jobs > 1:
            with ProcessPoolExecutor(options.jobs) as pool:
                list(pool.map(run_problems, work))
        else:
            for part in work:
                run_problems(part)
    entries = [json.loads(line) for line in options.log.read_text("utf-8").splitlines()]
    print("\n".join(format_totals(entries)))
    for task in TASKS:
        print("\n" + "\n".join(format_groups(entries, task, "layer")))
        print("\n" + "\n".join(format_groups(entries, task, "family")))


if __name__ == "__main__":
    main()
