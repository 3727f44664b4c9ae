"""Lists of tasks that wait for something at a socket. A waiter that gave up is passed over."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, cast

from simcloud.sim import EXPIRED, Kernel, Task, TimedOut

Waiters = list[tuple[Task[Any], float]]
"""Tasks, each with the turn it waits in: when its turn moved on, it waits no more."""


def wait_in(
    waiters: Waiters, kernel: Kernel, timeout_s: float | None, what: str
) -> Generator[float | None, Any, None]:
    """Stand in the list until woken; ``TimedOut`` when that takes too long."""
    task = cast("Task[Any]", kernel.current)
    waiter = (task, task.turn)
    waiters.append(waiter)
    if (yield timeout_s) is EXPIRED:
        waiters.remove(waiter)
        raise TimedOut(f"no {what} within {timeout_s:g} s")


def wake_one(waiters: Waiters) -> None:
    """Resume the first in line."""
    while waiters:
        task, turn = waiters.pop(0)
        if task.turn == turn:
            task.kernel.ready.append((task, turn, None))
            return


def wake_all(waiters: Waiters) -> None:
    """Resume everybody."""
    for task, turn in waiters:
        task.kernel.ready.append((task, turn, None))
    waiters.clear()
