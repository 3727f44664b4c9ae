"""The cost of one kubectl command: built-in, in process; and genuine, over HTTPS to the same cluster.

Both are measured in one run on one machine. The ratio of their wall times has a budget, so that other load affects both
sides; the CPU time of the built-in command has one, too. ``python benchmarks/kubectl.py [--json] [--short]``
"""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from threading import Event, Thread
from typing import Any

from _measure import Stopwatch
from _report import Budget, Report, find_missed, run, tabulate_rows

from simcloud.server.kubernetes.cluster_server import ClusterServer
from simcloud.world.clusters import add_cluster
from simcloud.world.terminal import Terminal
from simcloud.world.world import World

BUDGETS = {
    "times faster, median command": Budget(least=20.0),
    "built-in, CPU ms, slowest command": Budget(3.0),
}
BUILT_IN, GENUINE = 200, 15
"""How often each command is run."""
CLIENT = Path(sys.prefix) / "clients" / "kubectl-1.36.4"
LINES = (
    "get pods -A",
    "get nodes -o wide",
    "get deploy coredns -n kube-system -o yaml",
    "get pods -A -o json",
    "describe node kind-worker",
    "describe pod -n kube-system etcd-kind-control-plane",
    "events -n kube-system",
)


def measure_times_ms(command: Callable[[], None], count: int) -> tuple[float, float, float]:
    """Return the median and the 99th percentile of the wall time, and the mean CPU time of this process."""
    command()  # fills caches
    gc.collect()
    times_ms, whole = [], Stopwatch()
    for _ in range(count):
        watch = Stopwatch()
        command()
        times_ms.append(watch.wall_s * 1e3)
    return median(times_ms), sorted(times_ms)[min(count - 1, int(count * 0.99))], whole.cpu_s / count * 1e3


def measure_commands(lines: Sequence[str], built_in: int, genuine: int) -> list[dict[str, Any]]:
    """Run each line this often by the built-in client and by the genuine one."""
    world = World(7, epoch_s=float(int(time.time()) - 3600))
    cluster = add_cluster(world, 4)
    cluster.start()
    world.run_for(60)
    terminal = Terminal(world, cluster)
    ours = {line: measure_built_in(terminal, line, built_in) for line in lines}
    with tempfile.TemporaryDirectory() as home:
        kubeconfig = Path(home) / "config"
        server = ClusterServer(cluster.api, kubeconfig=kubeconfig, clock=lambda: 0.0)
        ready = Event()
        thread = Thread(target=lambda: asyncio.run(server.run(ready.set)), daemon=True)
        thread.start()
        assert ready.wait(60)
        try:
            return [ours[line] | measure_genuine(line, kubeconfig, home, genuine) for line in lines]
        finally:
            server.stop()
            thread.join(10)


def measure_built_in(terminal: Terminal, line: str, count: int) -> dict[str, Any]:
    words = ["kubectl", *line.split()]

    def call() -> None:
        done = terminal.machine.host.run(words)
        assert done.status == 0, done.stderr

    usual_ms, worst_ms, cpu_ms = measure_times_ms(call, count)
    return {
        "command": line,
        "built-in, ms": usual_ms,
        "99th percentile": worst_ms,
        "built-in, CPU ms": cpu_ms,
    }


def measure_genuine(line: str, kubeconfig: Path, home: str, count: int) -> dict[str, Any]:
    def call() -> None:
        command = [str(CLIENT), "--kubeconfig", str(kubeconfig), *line.split()]
        subprocess.run(command, check=True, capture_output=True, env={"HOME": home}, timeout=60)

    usual_ms, worst_ms, _ = measure_times_ms(call, count)
    return {"genuine, ms": usual_ms, "99th percentile of it": worst_ms}


def measure(short: bool) -> Report:
    rows = measure_commands(LINES[::3], 1, 1) if short else measure_commands(LINES, BUILT_IN, GENUINE)
    for row in rows:
        row["times faster"] = row["genuine, ms"] / row["built-in, ms"]
    figures = {
        "times faster, median command": median(row["times faster"] for row in rows),
        "built-in, CPU ms, slowest command": max(row["built-in, CPU ms"] for row in rows),
    }
    return Report(
        {"commands": rows, **figures},
        [
            tabulate_rows("One kubectl command, medians", rows),
            *(f"{name}: {value:.3g} ({BUDGETS[name]})" for name, value in figures.items()),
        ],
        find_missed(figures, BUDGETS),
    )


if __name__ == "__main__":
    sys.exit(run(__doc__, measure))
