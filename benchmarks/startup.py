"""What it takes until the command line answers, in CPU time, against a Python that does nothing.

``python benchmarks/startup.py [--json]``

All calls of a round run one after the other, so that whatever else the machine does meets all of them; the least of each
counts. The first round, which is not counted, leaves the compiled modules behind.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

ROUNDS = 7
CLI = "from aiopslab.cli import main; main()"
ROOT = Path(__file__).parents[1]


class Call(NamedTuple):
    """What is run, and how many times the CPU time of ``python -c 'import yaml'`` it may take."""

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
    "aiopslab list": Call(CLI, ["list"], 15),
    "aiopslab run MISTYPED": Call(CLI, ["run", "container_kil-detection", "--agent", "idle"], 15),
    "import Orchestrator": Call("from aiopslab import Orchestrator", budget=20),
}
UNIT = "python -c 'import yaml'"


def main() -> int:
    least = dict.fromkeys(CALLS, float("inf"))
    for number in range(ROUNDS + 1):
        for name, call in CALLS.items():
            spent_s = _cpu_s([sys.executable, "-c", call.script, *call.args])
            if number:
                least[name] = min(least[name], spent_s)
    shares = {name: spent_s / least[UNIT] for name, spent_s in least.items()}
    missed = [name for name, call in CALLS.items() if call.budget is not None and shares[name] > call.budget]
    if "--json" in sys.argv:
        print(
            json.dumps(
                {
                    name: {"cpu_ms": round(least[name] * 1e3), "share": round(shares[name], 1)}
                    for name in CALLS
                }
            )
        )
    else:
        _show(least, shares)
    return 1 if missed else 0


def _cpu_s(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env["PYTHONPATH"] = str(ROOT / "src")
    subprocess.run(command, capture_output=True, check=False, cwd=ROOT, env=env, stdin=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _show(least: dict[str, float], shares: dict[str, float]) -> None:
    table = Table("call", "CPU, ms", "times 'import yaml'", "budget", title=f"The least of {ROUNDS} calls")
    for name, call in CALLS.items():
        budget = "" if call.budget is None else f"{call.budget:g}"
        table.add_row(name, f"{least[name] * 1e3:.0f}", f"{shares[name]:.1f}", budget)
    Console().print(table)


if __name__ == "__main__":
    sys.exit(main())
