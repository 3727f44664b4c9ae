"""``aiopslab shell``: an interactive shell on the operator's host of a new cluster.

It has line editing, history and completion; Ctrl-C ends the running command, not the shell. A command runs at full speed for its
first simulated minute; after that (``-w``, ``-f``) it runs in real time, so that a person can follow it.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from aiopslab.apps import Application, NoSuchApplication, find_application
from aiopslab.cli.completion import Completer, enable_line_editing
from aiopslab.cloud import POLICIES, Environment, Terminal, TypedLine, World, add_cluster
from simcloud.kubernetes import Cluster

SETTLE_S: Final = 40.0
"""Simulated age of the cluster when the first line is typed."""
THINKING_S: Final = 1.0
"""Virtual seconds that pass between two lines."""
FULL_SPEED_S: Final = 60.0
"""Virtual time that a command runs at full speed before it continues in real time."""
STEP_S: Final = 0.25
OUTPUT_LIMIT_BYTES: Final = 64 << 20
EXIT_WORDS: Final = ("exit", "logout")


def run_shell(line: str | None, nodes: int, seed: int, policy: str, app: str | None) -> int:
    """Run one line, or read lines until ``exit`` or the end of input; return the last exit code."""
    if policy not in POLICIES:
        print(
            f"aiopslab: there is no policy '{policy}'; choose one of {', '.join(POLICIES)}", file=sys.stderr
        )
        return 2
    try:
        if app is None:
            world, cluster = _build_bare(nodes, seed)
        else:
            world, cluster = _build_with(find_application(app), nodes, seed)
    except NoSuchApplication as error:
        print(error, file=sys.stderr)
        return 2
    terminal = Terminal(world, cluster, POLICIES[policy], shown_bytes=OUTPUT_LIMIT_BYTES)
    if line is not None:
        return _run_line(terminal, line)
    return _read_lines(world, terminal, nodes)


def _build_bare(nodes: int, seed: int) -> tuple[World, Cluster]:
    world = World(seed)
    cluster = add_cluster(world, nodes)
    cluster.start()
    world.run_for(SETTLE_S)
    return world, cluster


def _build_with(app: Application, nodes: int, seed: int) -> tuple[World, Cluster]:
    environment = Environment(app, seed, nodes=nodes)
    environment.open()
    return environment.world, environment.cluster


def _read_lines(world: World, terminal: Terminal, nodes: int) -> int:
    if sys.stdin.isatty():
        enable_line_editing(Completer(terminal.api))
        print(
            f"You are on the operator's host of a cluster with {nodes} nodes (policy: {terminal.policy.name}). "
            "Virtual time passes while commands run. Type 'exit' to leave."
        )
    status = 0
    while True:
        try:
            typed = input(f"root@{terminal.machine.name}:~# " if sys.stdin.isatty() else "").strip()
        except EOFError:
            return status
        except KeyboardInterrupt:
            print()
            continue
        if typed in EXIT_WORDS:
            return status
        if typed:
            status = _run_line(terminal, typed)
            with _catch_interrupts():  # a late Ctrl-C just returns to the prompt
                world.run_for(THINKING_S)


def _run_line(terminal: Terminal, line: str) -> int:
    typed = terminal.type(line)
    printer = OutputPrinter(typed)
    waited_s = 0.0
    with _catch_interrupts() as is_interrupted:
        while not typed.wait(STEP_S):
            printer.flush()
            waited_s += STEP_S
            if waited_s > FULL_SPEED_S:
                time.sleep(STEP_S)
            if is_interrupted():
                typed.stop()
                break
    printer.flush()
    return typed.get_result().status


class OutputPrinter:
    """Prints the output of a line while it runs."""

    def __init__(self, typed: TypedLine) -> None:
        self._streams = [(typed.stdout, sys.stdout), (typed.stderr, sys.stderr)]
        self._positions = [0, 0]

    def flush(self) -> None:
        """Print the new output."""
        for number, (source, target) in enumerate(self._streams):
            data = bytes(source.data[self._positions[number] :])
            self._positions[number] += len(data)
            target.buffer.write(data)
            target.flush()


@contextmanager
def _catch_interrupts() -> Iterator[Callable[[], bool]]:
    """Record Ctrl-C instead of raising: an exception inside the simulation would corrupt the world."""
    pressed: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        pressed.append(number)

    previous = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, previous)
