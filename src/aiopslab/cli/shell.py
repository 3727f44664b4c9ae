"""``aiopslab shell``: a person at the operator's host of a fresh cluster.

Lines are edited and remembered as readline does it, verbs, kinds and names are completed, and Ctrl-C ends the command
and not the shell. Waiting costs nothing for a while; a command that goes on for long (``-w``, ``-f``) then keeps step
with the wall clock, so that a person can follow it.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from aiopslab.apps.base import Application
from aiopslab.apps.catalogue import NoSuchApplication, application
from aiopslab.cli.completion import Completer, edit_lines
from aiopslab.cloud.environment import Environment
from simcloud.kubernetes.cluster import Cluster
from simcloud.world.clusters import add_cluster
from simcloud.world.policies import POLICIES
from simcloud.world.terminal import Terminal, TypedLine
from simcloud.world.world import World

SETTLE_S: Final = 40.0
"""So much of its life the cluster has behind it when the first line is typed."""
THINKING_S: Final = 1.0
"""Virtual seconds that pass between two lines of a person."""
AT_ONCE_S: Final = 60.0
"""So much virtual time of a command goes by at once; what follows takes as long as it takes."""
STEP_S: Final = 0.25
SHOWN_BYTES: Final = 64 << 20
LEAVES: Final = ("exit", "logout")


def run_shell(line: str | None, nodes: int, seed: int, policy: str, app: str | None) -> int:
    """Run one line, or read lines until ``exit`` or the end of input; the last exit code."""
    if policy not in POLICIES:
        print(
            f"aiopslab: there is no policy '{policy}'; choose one of {', '.join(POLICIES)}", file=sys.stderr
        )
        return 2
    try:
        world, cluster = _bare(nodes, seed) if app is None else _with(application(app), nodes, seed)
    except NoSuchApplication as error:
        print(error, file=sys.stderr)
        return 2
    terminal = Terminal(world, cluster, POLICIES[policy], shown_bytes=SHOWN_BYTES)
    if line is not None:
        return _type(terminal, line)
    return _talk(world, terminal, nodes)


def _bare(nodes: int, seed: int) -> tuple[World, Cluster]:
    world = World(seed)
    cluster = add_cluster(world, nodes)
    cluster.start()
    world.run_for(SETTLE_S)
    return world, cluster


def _with(app: Application, nodes: int, seed: int) -> tuple[World, Cluster]:
    environment = Environment(app, seed, nodes=nodes)
    environment.open()
    return environment.world, environment.cluster


def _talk(world: World, terminal: Terminal, nodes: int) -> int:
    if sys.stdin.isatty():
        edit_lines(Completer(terminal.api))
        print(
            f"A cluster of {nodes} nodes, and you at its operator's host ({terminal.policy.name}). "
            "Virtual time passes while commands run. 'exit' leaves."
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
        if typed in LEAVES:
            return status
        if typed:
            status = _type(terminal, typed)
            with _interrupts():  # who presses it now is late by a moment, and is back at the prompt
                world.run_for(THINKING_S)


def _type(terminal: Terminal, line: str) -> int:
    typed = terminal.type(line)
    shown = Shown(typed)
    waited_s = 0.0
    with _interrupts() as interrupted:
        while not typed.wait(STEP_S):
            shown.flush()
            waited_s += STEP_S
            if waited_s > AT_ONCE_S:
                time.sleep(STEP_S)
            if interrupted():
                typed.stop()
                break
    shown.flush()
    return typed.completed().status


class Shown:
    """What a line has written, shown as it comes."""

    def __init__(self, typed: TypedLine) -> None:
        self._streams = [(typed.stdout, sys.stdout), (typed.stderr, sys.stderr)]
        self._places = [0, 0]

    def flush(self) -> None:
        """Show what is new."""
        for number, (source, target) in enumerate(self._streams):
            data = bytes(source.data[self._places[number] :])
            self._places[number] += len(data)
            target.buffer.write(data)
            target.flush()


@contextmanager
def _interrupts() -> Iterator[Callable[[], bool]]:
    """While it lasts, Ctrl-C is only noted: an exception in the midst of the world would break it."""
    pressed: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        pressed.append(number)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)
