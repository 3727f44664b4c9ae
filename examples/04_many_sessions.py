"""One agent at many problems with several seeds, and a table of how it fared.

    python examples/04_many_sessions.py
    python examples/04_many_sessions.py --all --seeds 0 1 2 --results runs
    python examples/04_many_sessions.py --all --model gpt-5

Put your own agent in place of ``Looker``; ``--model`` takes a language model (OPENAI_BASE_URL, OPENAI_API_KEY). A world is
prepared once and copied for each session. Each session leaves a record in the folder; what has run to its end is not run
again, so an evaluation that was interrupted goes on where it was. docs/sessions.md tells what is in a record.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

from aiopslab.agents.llm import LlmAgent
from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.orchestrator.stages import Stages, run_episode

FEW = ("revoke_auth_mongodb-detection-1", "noop_detection_hotel_reservation-1")


class Looker:
    """Says that something is wrong when a workload is not ready. It is told its problem by ``init_context``, as yours will be."""

    def init_context(self, problem: str, instructions: str, actions: dict[str, str]) -> None:
        """Keep what a model would be told."""
        self.namespace = problem.partition("Namespace: ")[2].split()[0]
        self.asked_for_yes_or_no = "has_anomaly" in actions["submit"]
        self.turn = 0

    def get_action(self, state: str) -> str:
        """Look once, then answer; where more is asked than yes or no, look until the steps are used up."""
        self.turn += 1
        if self.turn == 1 or not self.asked_for_yes_or_no:
            return f'exec_shell("kubectl -n {self.namespace} get deployments --no-headers | grep 0/")'
        return 'submit("Yes")' if "0/" in state else 'submit("No")'


def records(folder: Path) -> list[dict[str, Any]]:
    """All sessions that ran to their end; one that was interrupted, or whose agent failed, is to be run again."""
    sessions = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    return [one for one in sessions if one["ending"] in ("submitted", "step limit", "time limit")]


def evaluate(make: Callable[[], object], name: str, problems: list[str], seed: int, folder: Path) -> None:
    """Let an agent work on those problems that it has not worked on with this seed."""
    done = {(one["agent"], one["problem_id"], one["seed"]) for one in records(folder)}
    with Stages(seed, tell=print) as stages:
        for problem in problems:
            if (name, problem, seed) in done:
                continue
            with stages.episode(problem) as copy:
                result = copy.call(run_episode, make, name, max_steps=20, results=folder)
            print(f"  {problem}, seed {seed}: {result['ending']}, success: {result['results']['success']}")


def table(sessions: list[dict[str, Any]]) -> str:
    """For each agent and problem how many seeds succeeded, and what that took on average."""
    groups = defaultdict(list)
    for one in sessions:
        groups[one["agent"], one["problem_id"]].append(one["results"])
    lines = [f"{'agent':<12}{'problem':<42}{'success':>9}{'steps':>7}{'simulated s':>13}{'tokens':>8}"]
    for (agent, problem), results in sorted(groups.items()):
        right = f"{sum(one['success'] for one in results)} of {len(results)}"
        steps, seconds = (mean(one[key] for one in results) for key in ("steps", "simulated_s"))
        tokens = mean(one["in_tokens"] + one["out_tokens"] for one in results)
        lines.append(f"{agent:<12}{problem:<42}{right:>9}{steps:>7.1f}{seconds:>13.1f}{tokens:>8.0f}")
    return "\n".join(lines)


def main() -> None:
    """Run what was asked for, and print the table of all records in the folder."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--all", action="store_true", help="every problem there is, not two only")
    asked.add_argument("--model", metavar="NAME", help="a language model in place of the looker")
    asked.add_argument("--seeds", type=int, nargs="+", default=[0], metavar="N")
    asked.add_argument("--results", type=Path, default=Path("results"), metavar="FOLDER")
    wishes = asked.parse_args()
    problems = ProblemRegistry().get_problem_ids() if wishes.all else list(FEW)
    make = partial(LlmAgent, wishes.model) if wishes.model else Looker
    for seed in wishes.seeds:
        evaluate(make, wishes.model or "looker", problems, seed, wishes.results)
    print(table(records(wishes.results)))


if __name__ == "__main__":  # the first process of each application is started anew, and reads this file
    main()
