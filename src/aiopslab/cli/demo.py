"""The demonstration: an application under load, a disk that fails, what an operator sees, the repair."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from aiopslab.cloud.copies import Copy
from aiopslab.cloud.scenarios import SyntheticCloud, first_observation, synthetic_cloud
from aiopslab.generators.workload.users import Summary
from aiopslab.service.apps.synthetic import STORE

RATE = 20.0
PHASE_S = 60.0
COPIES = 20


def run_demo(seed: int) -> int:
    """Tell the story on the terminal; 0 when it ended well."""
    console = Console(highlight=False, width=110)
    begun = time.perf_counter()
    console.rule("[bold]AIOpsLab in a box: a cloud in one Python process")
    cloud = synthetic_cloud(seed, rate=RATE)
    console.print(
        f"\n27 services, a document store, 3 machines and {RATE:g} user requests a second: "
        f"up in [bold]{time.perf_counter() - begun:.1f} s[/bold].\n"
    )
    phases = {"healthy": _phase(cloud)}

    console.print("Now the disk of [bold]node-3[/bold] stops taking writes. One minute later:\n")
    cloud.world.machines["node-3"].disk.fail_writes = True
    phases["disk failing"] = _phase(cloud)
    _look(console, cloud)

    console.print(
        "\nThe disk still reads. The operator moves the store's data to node-2 and starts it there:\n"
    )
    _repair(console, cloud)
    cloud.world.run_for(2.0)
    phases["repaired"] = _phase(cloud)
    console.print()
    console.print(_numbers(phases))
    _copies(console, seed)
    simulated, real = cloud.world.kernel.now, time.perf_counter() - begun
    console.print(
        f"\n{simulated:.0f} s of the cloud's life and {COPIES} copies took {real:.1f} s here. "
        f"Run it again: with seed {seed} every number of the cloud will be the same "
        f"(fingerprint {cloud.world.fingerprint()[:16]}).\n"
        f"Type on a machine yourself: [bold]{_command()} shell[/bold]   "
        f"More: [bold]{_command()} --help[/bold], docs/architecture.md"
    )
    return 0 if phases["repaired"].errors == 0 < phases["disk failing"].errors else 1


def _command() -> str:
    """How the reader can call us: as this demo was called, when that was by a path."""
    called = Path(sys.argv[0])
    return str(called) if called.name == "aiopslab" and called.parent != Path() else "aiopslab"


def _phase(cloud: SyntheticCloud) -> Summary:
    start = cloud.world.kernel.now
    cloud.world.run_for(PHASE_S)
    # The last seconds' requests may still be under way: count those that have had their time.
    return cloud.users.results.between(start, cloud.world.kernel.now - 2.0)


def _look(console: Console, cloud: SyntheticCloud) -> None:
    _type(console, cloud, "node-1", "grep -c ERROR /var/log/containers/front.log")
    _type(console, cloud, "node-1", "grep ERROR /var/log/containers/front.log | tail -n 1 | cut -d' ' -f4-")
    _type(console, cloud, "node-3", "dmesg | tail -n 2")
    _type(console, cloud, "node-3", "df -h /var/lib/volumes/store; touch /var/lib/volumes/store/probe")
    confirmed = sum(o.journey == "write" and o.error is None for o in cloud.users.results.outcomes)
    console.print(
        f"\nUsers have had {confirmed} orders confirmed so far. The store's journal on the failing disk has:\n"
    )
    _type(console, cloud, "node-3", "wc -l < /var/lib/volumes/store/journal.jsonl")


def _repair(console: Console, cloud: SyntheticCloud) -> None:
    app, machines = cloud.app, cloud.world.machines
    app.stop(STORE)
    machines["node-2"].volume(STORE)
    target = "/var/lib/volumes/store/journal.jsonl"
    _type(console, cloud, "node-2", f"nc -l -p 9000 > {target} & echo receiving")
    _type(console, cloud, "node-3", f"nc -q 0 node-2 9000 < {target}; sha256sum < {target} | cut -c 1-16")
    _type(console, cloud, "node-2", f"sha256sum < {target} | cut -c 1-16")
    app.start_store(machines["node-2"])


def _type(console: Console, cloud: SyntheticCloud, machine: str, line: str) -> None:
    done = cloud.world.shell(machine, line)
    console.print(f"[bold green]{machine}#[/bold green] [bold]{line}[/bold]", soft_wrap=True)
    text = (done.stdout + done.stderr).decode("utf-8", "replace").rstrip("\n")
    if text:
        console.print(text, markup=False, soft_wrap=True)
    cloud.world.run_for(1.0)


def _numbers(phases: dict[str, Summary]) -> Table:
    table = Table(title="What users saw", title_justify="left")
    for column in ("one minute", "requests", "failed", "p50", "p99"):
        table.add_column(column, justify="left" if column == "one minute" else "right")
    for name, phase in phases.items():
        failed = f"{phase.errors} ({phase.error_rate:.1%})"
        table.add_row(
            name, str(phase.requests), failed, f"{phase.p50_s * 1e3:.1f} ms", f"{phase.p99_s * 1e3:.1f} ms"
        )
    return table


def _copies(console: Console, seed: int) -> None:
    times = []
    with Copy.of(synthetic_cloud, seed, rate=RATE) as prepared:
        for _ in range(COPIES):
            begun = time.perf_counter()
            with prepared.branch() as copy:
                copy.call(first_observation)
                times.append(time.perf_counter() - begun)
    console.print(
        f"\nA prepared cloud is copied, and a first command answered in the copy, in "
        f"[bold]{median(times) * 1e3:.1f} ms[/bold] (median of {COPIES})."
    )
