"""Run one agent on many problems with several seeds, and print a table of the results.

    python examples/04_many_sessions.py
    python examples/04_many_sessions.py --all --seeds 0 1 2 --results runs
    python examples/04_many_sessions.py --all --model gpt-5

Replace ``Looker`` with your own agent, or use a language model with ``--model`` (docs/agents.md). A world
is prepared once and copied for each session. Each session writes a record to the folder. Completed sessions are not repeated,
so an interrupted evaluation resumes where it stopped. docs/sessions.md describes the records.
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

from aiopslab.agents.react import React
from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.orchestrator.stages import Stages, run_episode

FEW = ("revoke_auth_mongodb-detection-1", "noop_detection_hotel_reservation-1")


class Looker:
    """Report a fault if a workload is not ready. ``init_context`` receives the problem."""

    def init_context(self, problem: str, instructions: str, actions: dict[str, str]) -> None:
        """Remember the namespace and the kind of task."""
        self.namespace = problem.partition("Namespace: ")[2].split()[0]
        self.is_detection = "has_anomaly" in actions["submit"]
        self.turn = 0

    def get_action(self, state: str) -> str:
        """Check once, then answer yes or no; for other tasks, check until the step limit."""
        self.turn += 1
        if self.turn == 1 or not self.is_detection:
            return f'exec_shell("kubectl -n {self.namespace} get deployments --no-headers | grep 0/")'
        return 'submit("Yes")' if "0/" in state else 'submit("No")'


def records(folder: Path) -> list[dict[str, Any]]:
    """Read all completed sessions; interrupted ones and failed agents are run again."""
    sessions = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    return [session for session in sessions if session["ending"] in ("submitted", "step limit", "time limit")]


def evaluate(make: Callable[[], object], name: str, problems: list[str], seed: int, folder: Path) -> None:
    """Run an agent on those problems that it has not completed with this seed."""
    done = {(session["agent"], session["problem_id"], session["seed"]) for session in records(folder)}
    with Stages(seed, tell=print) as stages:
        for problem in problems:
            if (name, problem, seed) in done:
                continue
            with stages.episode(problem) as copy:
                result = copy.call(run_episode, make, name, max_steps=20, results=folder)
            print(f"  {problem}, seed {seed}: {result['ending']}, success: {result['results']['success']}")


def table(sessions: list[dict[str, Any]]) -> str:
    """Format, per agent and problem, the number of successful seeds and the average cost."""
    groups = defaultdict(list)
    for session in sessions:
        groups[session["agent"], session["problem_id"]].append(session["results"])
    lines = [f"{'agent':<12}{'problem':<42}{'success':>9}{'steps':>7}{'simulated s':>13}{'tokens':>8}"]
    for (agent, problem), results in sorted(groups.items()):
        right = f"{sum(result['success'] for result in results)} of {len(results)}"
        steps, seconds = (mean(result[key] for result in results) for key in ("steps", "simulated_s"))
        tokens = mean(result["in_tokens"] + result["out_tokens"] for result in results)
        lines.append(f"{agent:<12}{problem:<42}{right:>9}{steps:>7.1f}{seconds:>13.1f}{tokens:>8.0f}")
    return "\n".join(lines)


def main() -> None:
    """Run the sessions that are missing, then print a table of all records in the folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="run all problems, not only two")
    parser.add_argument("--model", metavar="NAME", help="use a language model as the agent")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], metavar="N")
    parser.add_argument("--results", type=Path, default=Path("results"), metavar="FOLDER")
    options = parser.parse_args()
    problems = ProblemRegistry().get_problem_ids() if options.all else list(FEW)
    make = partial(React, options.model) if options.model else Looker
    for seed in options.seeds:
        evaluate(make, options.model or "looker", problems, seed, options.results)
    print(table(records(options.results)))


if __name__ == "__main__":  # a new process for each application imports this file
    main()
