"""Measure mitigation with and without transactional no-regression, side by side: success and harm.

    python -m scripts.measure_transactions transactions.jsonl --seed 5

Two agents work on every mitigation problem of a suite: ``runbook``, and ``careless``, the same agent that first changes
two components which its diagnosis did not name. Each works without transactions, with the recorded inverse, and with
trials in a copy. Each result is appended to the file at once; a second run continues where the first one stopped, and
prints the table.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from random import Random
from statistics import mean
from typing import Any, Final

from aiopslab.agents.floors import format_call
from aiopslab.agents.runbook import Runbook
from aiopslab.agents.runbook.cluster_causes import Cause
from aiopslab.agents.runbook.survey import Survey
from aiopslab.orchestrator import Stage, Stages, run_episode
from aiopslab.orchestrator.problems import ProblemRegistry, list_suite
from aiopslab.orchestrator.transactions import TransactionOptions

MODES: Final[dict[str, TransactionOptions | bool]] = {
    "without": False,
    "inverse": TransactionOptions("inverse"),
    "copy": TransactionOptions("copy"),
}
MAX_STEPS: Final = 60


class Careless(Runbook):
    """A runbook agent that changes two components on a guess before it makes the repair that it found."""

    def _repair(self, seen: Survey, causes: list[Cause]) -> Generator[str, str, None]:
        listed = yield format_call("exec_shell", f"kubectl -n {self.namespace} get deployments -o name")
        blamed = {name for cause in causes for name in cause.components}
        names = [
            line.rpartition("/")[2] for line in listed.splitlines() if line.startswith("deployment.apps/")
        ]
        stateless = [
            name for name in names if not name.endswith(("mongodb", "redis")) and "mongodb" not in name
        ]
        guesses = Random(self.namespace + str(sorted(blamed))).sample(sorted({*stateless} - blamed), 2)
        for name, change in zip(
            guesses, ("scale deployment/{} --replicas=0", "delete service {}"), strict=True
        ):
            yield format_call("exec_shell", f"kubectl -n {self.namespace} {change.format(name)}")
        yield from super()._repair(seen, causes)


AGENTS: Final[dict[str, Callable[[], Runbook]]] = {"runbook": Runbook, "careless": Careless}


def try_agent(stage: Stage, agent: str, mode: str) -> dict[str, Any]:
    """Let an agent work on the prepared problem of a copy; return success and harm."""
    result = run_episode(stage, AGENTS[agent], agent, max_steps=MAX_STEPS, tnr=MODES[mode])
    results, harm = result["results"], result["results"]["harm"]
    transactions = result["session"].get("transactions", [])
    observations = [step["observation"] for step in result["session"]["steps"]]
    refusals = [text for text in observations if text.startswith("Refused:")]
    return {
        "success": bool(results["success"]),
        "regressions": len(harm["regressions"]),
        "severity_final": harm["severity"]["final"],
        "severity_area_s": harm["severity"]["area_s"],
        "failed": harm["error_budget"]["failed"],
        "beyond_need": len(harm["changes_beyond_need"]),
        "simulated_s": results["simulated_s"],
        "transactions": len(transactions),
        "undone": sum(entry["outcome"] == "undone" for entry in transactions),
        "left": sum(len(entry["left"]) for entry in transactions),
        "refused": len(refusals),
        "refusals": refusals,
    }


def format_table(entries: Sequence[dict[str, Any]]) -> str:
    """Return a table in Markdown with a row for each agent and mode, over the problems that all of them have worked on."""
    counts = Counter(entry["problem"] for entry in entries)
    entries = [entry for entry in entries if counts[entry["problem"]] == len(AGENTS) * len(MODES)]
    lines = [
        "| Agent | Transactions | Solved | Regressions | Changes beyond need | Failed requests | Mean final severity | "
        "Mean duration | Undone | Not restored | Refused |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for agent in AGENTS:
        for mode in MODES:
            rows = [entry for entry in entries if (entry["agent"], entry["mode"]) == (agent, mode)]
            if rows:
                sums = [sum(row[key] for row in rows) for key in ("regressions", "beyond_need", "failed")]
                late = [sum(row[key] for row in rows) for key in ("undone", "left", "refused")]
                cells = [
                    f"`{agent}`",
                    mode,
                    f"{sum(row['success'] for row in rows)} of {len(rows)}",
                    *map(str, sums),
                    f"{mean(row['severity_final'] for row in rows):.2f}",
                    f"{mean(row['simulated_s'] for row in rows):.0f} s",
                    *map(str, late),
                ]
                lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Run what is missing in the file, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("log", type=Path)
    parser.add_argument("--suite", default="compat")
    parser.add_argument("--app", help="only problems of this application")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    registry = ProblemRegistry()
    apps = {
        pid: registry.get_problem_instance(pid, options.seed).app.name
        for pid in list_suite(registry, options.suite)
        if "-mitigation" in pid
    }
    problems = sorted((pid for pid, app in apps.items() if options.app in (None, app)), key=apps.__getitem__)
    known = options.log.read_text("utf-8").splitlines() if options.log.exists() else []
    entries = [entry for entry in map(json.loads, known) if entry["seed"] == options.seed]
    done = {(entry["problem"], entry["agent"], entry["mode"]) for entry in entries}
    with Stages(options.seed, registry=registry) as stages, options.log.open("a", encoding="utf-8") as log:
        for number, problem in enumerate(problems, start=1):
            for agent, mode in ((agent, mode) for agent in AGENTS for mode in MODES):
                if (problem, agent, mode) in done:
                    continue
                print(f"{number} of {len(problems)}: {problem}, {agent}, {mode}", file=sys.stderr)
                with stages.episode(problem) as copy:
                    outcome = copy.call(try_agent, agent, mode)
                entry = {"problem": problem, "seed": options.seed, "agent": agent, "mode": mode, **outcome}
                entries.append(entry)
                print(json.dumps(entry), file=log, flush=True)
    print(format_table(entries))


if __name__ == "__main__":
    main()
