"""The CPU time of short commands and imports, compared with ``python -c 'import yaml'``.

The calls of a round run one after the other, so that other load on the machine affects all of them; the smallest time of
each counts. A first round, which is not counted, compiles the modules. ``python benchmarks/startup.py [--json] [--short]``
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from _report import Budget, Report, run, tabulate_rows

ROUNDS = 7
CLI = "from aiopslab.cli import main; main()"
ROOT = Path(__file__).parents[1]


class Call(NamedTuple):
    """A Python script with its arguments, and the budget as a multiple of ``python -c 'import yaml'``."""

    script: str
    args: Sequence[str] = ()
    budget: float | None = None


CALLS = {
    "python -c pass": Call("pass"),
    "python -c 'import yaml'": Call("import yaml"),
    "import aiopslab": Call("import aiopslab", budget=1.5),
    "aiopslab --help": Call(CLI, ["--help"], 5),
    "aiopslab --version": Call(CLI, ["--version"], 7),
    "aiopslab run --help": Call(CLI, ["run", "--help"], 8),
    "aiopslab list": Call(CLI, ["list"], 25),
    "aiopslab run MISTYPED": Call(CLI, ["run", "container_kil-detection", "--agent", "noop"], 25),
    "import Orchestrator": Call("from aiopslab import Orchestrator", budget=20),
}
UNIT = "python -c 'import yaml'"


def measure(short: bool) -> Report:
    rounds = 1 if short else ROUNDS
    least_s = dict.fromkeys(CALLS, float("inf"))
    for number in range(0 if short else -1, rounds):
        for name, call in CALLS.items():
            spent_s = measure_cpu_s([sys.executable, "-c", call.script, *call.args])
            if number >= 0:
                least_s[name] = min(least_s[name], spent_s)
    rows: list[dict[str, Any]] = []
    missed: dict[str, str] = {}
    for name, call in CALLS.items():
        ratio = least_s[name] / least_s[UNIT]
        budget = None if call.budget is None else Budget(call.budget)
        rows.append({"call": name, "CPU ms": least_s[name] * 1e3, "times 'import yaml'": ratio, "budget": str(budget or "")})  # fmt: skip
        missed |= budget.find_missed(name, ratio) if budget else {}
    table = tabulate_rows(f"The smallest time of {rounds} calls", rows)
    return Report({"calls": rows}, [table], missed)


def measure_cpu_s(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env["PYTHONPATH"] = str(ROOT / "src")
    subprocess.run(command, capture_output=True, check=False, cwd=ROOT, env=env, stdin=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    sys.exit(run(__doc__, measure))
