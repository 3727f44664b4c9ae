"""A person at the terminal of a simulated machine."""

from __future__ import annotations

import sys

from aiopslab.cloud.scenarios import NODES, synthetic_cloud
from simcloud.world.world import World

THINKING_S = 1.0
"""Virtual seconds that pass between two lines of a person."""


def run_terminal(machine: str, line: str | None, seed: int) -> int:
    """Run one line, or read lines until ``exit`` or end of input; the last exit code."""
    if machine not in NODES:
        print(f"aiopslab: there is no machine '{machine}'; choose one of {', '.join(NODES)}", file=sys.stderr)
        return 2
    world = synthetic_cloud(seed).world
    if line is not None:
        return _type(world, machine, line)
    print(f"You are root on {machine}. Virtual time passes while commands run. 'exit' leaves.")
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
            status = _type(world, machine, typed)
            world.run_for(THINKING_S)


def _type(world: World, machine: str, line: str) -> int:
    done = world.shell(machine, line)
    sys.stdout.buffer.write(done.stdout)
    sys.stdout.flush()
    sys.stderr.buffer.write(done.stderr)
    sys.stderr.flush()
    return done.status
