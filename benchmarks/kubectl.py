"""What one kubectl command costs: the built-in one in process, and the genuine one over HTTPS at the same cluster.

Both are measured in wall time, in one run on one machine; the budget is their ratio, so that a busy machine does not
count for or against. ``python benchmarks/kubectl.py [--json]``
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from threading import Event, Thread

from rich.console import Console
from rich.table import Table

from simcloud.server.kubernetes.served_cluster import ClusterServer
from simcloud.world.clusters import add_cluster
from simcloud.world.terminal import Terminal
from simcloud.world.world import World

LEAST_RATIO = 20.0
BUILT_IN, GENUINE = 200, 15
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


def times_ms(run: Callable[[], None], count: int) -> tuple[float, float]:
    """Median and 99th percentile of so many runs."""
    run()  # what is read once is read now
    gc.collect()
    taken = []
    for _ in range(count):
        before = time.perf_counter()
        run()
        taken.append((time.perf_counter() - before) * 1000)
    return median(taken), sorted(taken)[min(count - 1, int(count * 0.99))]


def measure() -> dict[str, dict[str, float]]:
    """The figures of each line."""
    world = World(7, epoch_s=float(int(time.time()) - 3600))
    cluster = add_cluster(world, 4)
    cluster.start()
    world.run_for(60)
    terminal = Terminal(world, cluster)
    programs = {}
    for line in LINES:
        words = ["kubectl", *line.split()]

        def built_in(words: list[str] = words) -> None:
            done = terminal.machine.host.run(words)
            assert done.status == 0, done.stderr

        programs[line] = times_ms(built_in, BUILT_IN)
    with tempfile.TemporaryDirectory() as home:
        kubeconfig = Path(home) / "config"
        server = ClusterServer(cluster.api, kubeconfig=kubeconfig, clock=lambda: 0.0)
        ready = Event()
        thread = Thread(target=lambda: _serve(server, ready), daemon=True)
        thread.start()
        assert ready.wait(60)
        try:
            return {line: _compared(line, programs[line], kubeconfig, home) for line in LINES}
        finally:
            server.stop()
            thread.join(10)


def _serve(server: ClusterServer, ready: Event) -> None:
    import asyncio

    asyncio.run(server.run(ready.set))


def _compared(line: str, built_in: tuple[float, float], kubeconfig: Path, home: str) -> dict[str, float]:
    def genuine() -> None:
        command = [str(CLIENT), "--kubeconfig", str(kubeconfig), *line.split()]
        subprocess.run(command, check=True, capture_output=True, env={"HOME": home}, timeout=60)

    usual, worst = times_ms(genuine, GENUINE)
    return {
        "built_in_ms": built_in[0],
        "built_in_p99_ms": built_in[1],
        "genuine_ms": usual,
        "genuine_p99_ms": worst,
        "ratio": usual / built_in[0],
    }


def main() -> int:
    """Print the figures; 1 if a command is too slow."""
    found = measure()
    if "--json" in sys.argv:
        print(json.dumps(found, indent=2))
    else:
        table = Table(title="one kubectl command, median (99th percentile) in milliseconds")
        for column in ("command", "built-in", "genuine", "times faster"):
            table.add_column(column, justify="left" if column == "command" else "right")
        for line, told in found.items():
            ours = f"{told['built_in_ms']:.2f} ({told['built_in_p99_ms']:.2f})"
            theirs = f"{told['genuine_ms']:.0f} ({told['genuine_p99_ms']:.0f})"
            table.add_row(line, ours, theirs, f"{told['ratio']:.0f}")
        Console().print(table)
    return int(median(told["ratio"] for told in found.values()) < LEAST_RATIO)


if __name__ == "__main__":
    raise SystemExit(main())
