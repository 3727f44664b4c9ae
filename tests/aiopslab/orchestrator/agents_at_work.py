"""Agents for tests of sessions: some work, some misbehave. They are made by importable functions, to cross into copies."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from aiopslab.orchestrator.agent import SubprocessAgent, Usage


class Scripted:
    """Says one line after the other, and remembers what it was told."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self.told: list[str] = []

    async def get_action(self, state: str) -> str:
        self.told.append(state)
        return next(self._lines)


class Counting(Scripted):
    """Says what it has used."""

    def usage(self) -> Usage:
        turns = len(self.told)
        return Usage(100 * turns, 10 * turns)


class Raising:
    async def get_action(self, state: str) -> str:
        raise ValueError("no model behind the key sk-0123456789abcdef0123")


class Leaving:
    async def get_action(self, state: str) -> str:
        sys.exit(3)


class Hanging:
    async def get_action(self, state: str) -> str:
        await asyncio.sleep(3600)
        return ""


class Sleeping:
    """Blocks the thread that it is called in."""

    def get_action(self, state: str) -> str:
        time.sleep(30)
        return ""


class Flooding:
    async def get_action(self, state: str) -> str:
        return 'exec_shell("' + "x" * 50_000_000


class Saying:
    """Always the same, of whatever type."""

    def __init__(self, what: Any) -> None:
        self._what = what

    async def get_action(self, state: str) -> Any:
        return self._what


def said(*lines: str) -> Scripted:
    return Scripted(lines)


def counting(*lines: str) -> Counting:
    return Counting(lines)


def saying(what: Any) -> Saying:
    return Saying(what)


def dying() -> SubprocessAgent:
    """A process that ends itself in the middle of a session."""
    code = f"import os, sys; sys.stdin.readline(); os.kill(os.getpid(), {int(signal.SIGKILL)})"
    return SubprocessAgent([sys.executable, "-c", code])


def thinking(path: str) -> Thinking:
    return Thinking(partial(Path(path).write_text, "begun"))


def interrupting() -> Thinking:
    """Presses Ctrl-C. The signal comes in the agent's thread, which wakes no other."""
    return Thinking(lambda: signal.pthread_kill(threading.get_ident(), signal.SIGINT))


class Thinking:
    """Looks once, does something as it begins to think, and thinks on."""

    def __init__(self, begin: Callable[[], object]) -> None:
        self._begin = begin
        self._turns = 0

    async def get_action(self, state: str) -> str:
        self._turns += 1
        if self._turns == 1:
            return 'exec_shell("kubectl get nodes")'
        self._begin()
        await asyncio.sleep(3600)
        return ""
