"""Measure how often blind recipes succeed, over a suite or a sample of it.

    python scripts/measure_recipes.py recipes.jsonl --sample 60 --seed 3

Each result is appended to the file at once; a second run continues where the first one stopped. The table is made by
``scripts/make_fairness_page.py``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from random import Random

from aiopslab.orchestrator.problems import ProblemRegistry, list_suite
from aiopslab.orchestrator.stages import Stages
from aiopslab.orchestrator.validation.recipes import list_recipes, try_recipe

TASKS = ("detection", "localization", "mitigation")


def main() -> None:
    """Try the recipes and write the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("log", type=Path)
    parser.add_argument("--suite", default="all")
    parser.add_argument("--sample", type=int, default=0, help="problems of each task; 0 for all")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    registry = ProblemRegistry()
    problems = [
        registry.get_problem_instance(pid, options.seed) for pid in list_suite(registry, options.suite)
    ]
    common = Counter(fault.truth.component for task in problems for fault in task.faults).most_common(1)[0][0]
    known = options.log.read_text("utf-8").splitlines() if options.log.exists() else []
    done = {entry["problem"] for entry in map(json.loads, known) if entry["seed"] == options.seed}
    with Stages(options.seed, registry=registry) as stages, options.log.open("a", encoding="utf-8") as log:
        for kind in TASKS:
            asked = [task for task in problems if task.task_type == kind]
            if options.sample:
                asked = Random(options.seed).sample(asked, min(options.sample, len(asked)))
            for number, task in enumerate(sorted(asked, key=lambda task: task.app.name), start=1):
                if task.id in done:
                    continue
                print(f"{kind}: {number} of {len(asked)}, {task.id}", file=sys.stderr)
                outcomes = {}
                for recipe in list_recipes(task):
                    with stages.episode(task.id) as copy:
                        outcomes[recipe] = copy.call(try_recipe, recipe, common)
                facts = {"task": kind, "drawn": registry.is_drawn(task.id), "recipes": outcomes}
                print(json.dumps({"problem": task.id, "seed": options.seed, **facts}), file=log, flush=True)


if __name__ == "__main__":
    main()
