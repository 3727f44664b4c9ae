"""``aiopslab shell --machine``: an interactive shell on a simulated machine without Kubernetes."""

from __future__ import annotations

import sys

from aiopslab.cloud import NODES, World, build_synthetic_cloud

THINKING_S = 1.0
"""Virtual seconds that pass between two lines."""


def run_terminal(machine: str, line: str | None, seed: int) -> int:
    """Run one line, or read lines until ``exit`` or end of input; return the last exit code."""
    if machine not in NODES:
        print(f"aiopslab: there is no machine '{machine}'; choose one of {', '.join(NODES)}", file=sys.stderr)
        return 2
    world = build_synthetic_cloud(seed).world
    if line is not None:
        return _run_line(world, machine, line)
    print(f"You are root on {machine}. Virtual time passes while commands run. Type 'exit' to leave.")
    status = 0
    while True:
        try:
            typed = input(f"root@{machine}:~# ").strip()
        except (EOFError, KeyboardInterrupt):
            print()
            return status
        if typed in ("exit", "logout"):
            return status
        if typed:
            status = _run_line(world, machine, typed)
            world.run_for(THINKING_S)


def _run_line(world: World, machine: str, line: str) -> int:
    result = world.shell(machine, line)
    sys.stdout.buffer.write(result.stdout)
    sys.stdout.flush()
    sys.stderr.buffer.write(result.stderr)
    sys.stderr.flush()
    return result.status
