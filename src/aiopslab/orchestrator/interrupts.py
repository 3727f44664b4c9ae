"""Signals that end a session (Ctrl-C, ``kill``, a closed terminal) and must not end it without a record."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
WAKE_S: Final = 1.0


@contextmanager
def notice_signals() -> Iterator[None]:
    """Wake the running loop every second, so that Ctrl-C is noticed while it waits for an agent.

    A signal that arrives just before the loop begins to wait, or in another thread, does not wake it by itself.
    """

    async def wake() -> None:
        while True:
            await asyncio.sleep(WAKE_S)

    waking = asyncio.create_task(wake())
    try:
        yield
    finally:
        waking.cancel()


@contextmanager
def defer_interrupts() -> Iterator[None]:
    """Hold back these signals during a short piece of work; they take effect after it."""
    if threading.current_thread() is not threading.main_thread():  # signals interrupt only the main thread
        yield
        return
    pending: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        pending.append(number)

    before: dict[int, Any] = {number: signal.getsignal(number) for number in ENDING}
    caught = [number for number, handler in before.items() if callable(handler)]
    for number in caught:
        signal.signal(number, note)
    try:
        yield
    finally:
        for number in caught:
            signal.signal(number, before[number])
        for number in dict.fromkeys(pending):
            signal.raise_signal(number)


@contextmanager
def end_on_signals() -> Iterator[list[int]]:
    """Treat ``kill`` and a closed terminal like Ctrl-C; the list holds the signals that came. For the main thread.

    A closed terminal that is ignored, as under ``nohup``, stays ignored. Ctrl-C does not: shells let background jobs ignore it, and the
    others are passed on in its form.
    """
    received: list[int] = []

    def interrupt(number: int) -> None:
        received.append(number)
        signal.raise_signal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    if before == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with catch_ending_signals(interrupt):
            yield received
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def catch_ending_signals(handle: Callable[[int], None]) -> Iterator[None]:
    """Pass the number of a signal of ``kill`` or of a closed terminal to a function; one that is ignored stays ignored."""

    def catch(number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGHUP:
            _leave_terminal()
        handle(number)

    replaced = {
        number: signal.signal(number, catch)
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) == signal.SIG_DFL
    }
    try:
        yield
    finally:
        for number, handler in replaced.items():
            signal.signal(number, handler)


def _leave_terminal() -> None:
    """Discard output to a terminal that has been closed: writing to it would fail."""
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        if os.isatty(stream):
            os.dup2(null, stream)
    os.close(null)
