"""``aiopslab shell``: an interactive shell on the operator's host of a new cluster.

It has line editing, history and completion; all lines run in one bash, so directory, variables and jobs persist. Ctrl-C ends the
running command, not the shell. A command runs at full speed for its first simulated minute; after that (``-w``, ``-f``) it runs in
real time, so that a person can follow it.
"""

from __future__ import annotations

import sys
from typing import Final

from aiopslab.apps import Application, NoSuchApplication, find_application
from aiopslab.cli.completion import Completer, enable_line_editing
from aiopslab.cli.live_shell import STEP_S, Keyboard, LiveShell
from aiopslab.cloud import CONTROL_D, POLICIES, Environment, Terminal, TypedLine, World, add_cluster
from simcloud.kubernetes import Cluster

SETTLE_S: Final = 40.0
"""Simulated age of the cluster when the first line is typed."""
THINKING_S: Final = 1.0
"""Virtual seconds that pass between two lines."""
OUTPUT_LIMIT_BYTES: Final = 64 << 20


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
        return _run_alone(terminal, line)
    keyboard = Keyboard()
    with keyboard.catch_interrupts():  # an exception inside the simulation would corrupt the world
        return _read_lines(world, terminal, nodes, keyboard)


def _build_bare(nodes: int, seed: int) -> tuple[World, Cluster]:
    world = World(seed, varies=True)
    cluster = add_cluster(world, nodes)
    cluster.start()
    world.run_for(SETTLE_S)
    return world, cluster


def _build_with(app: Application, nodes: int, seed: int) -> tuple[World, Cluster]:
    environment = Environment(app, seed, nodes=nodes)
    environment.open()
    return environment.world, environment.cluster


def _read_lines(world: World, terminal: Terminal, nodes: int, keyboard: Keyboard) -> int:
    if sys.stdin.isatty():
        enable_line_editing(Completer(terminal.api))
        print(
            f"You are on the operator's host of a cluster with {nodes} nodes (policy: {terminal.policy.name}). "
            "Virtual time passes while commands run. Type 'exit' to leave."
        )
    live = LiveShell(terminal)
    status = 0
    while True:
        if live.type_keys():
            continue
        try:
            line = keyboard.read(live.format_prompt())
        except EOFError:
            if live.shell.is_at_prompt or not live.is_tty:
                return status
            line = CONTROL_D
        except KeyboardInterrupt:
            print()
            live.begin_line()
            continue
        live.begin_line()
        status = _run_line(live, line, keyboard)
        if not live.shell.process.alive:
            return status
        world.run_for(THINKING_S)


def _run_line(live: LiveShell, line: str, keyboard: Keyboard) -> int:
    typed = live.shell.type(line)
    while not typed.wait(STEP_S):
        live.pace()
        if keyboard.take_interrupt():
            print("^C")
            typed.stop()
            break
    return typed.get_result().status


def _run_alone(terminal: Terminal, line: str) -> int:
    """Run the only line of ``-c``, in a shell that is not interactive."""
    typed = terminal.type(line)
    printer, keyboard = OutputPrinter(typed), Keyboard()
    with keyboard.catch_interrupts():
        while not typed.wait(STEP_S):
            printer.flush()
            if keyboard.take_interrupt():
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
