"""Where an async agent is asked that lives on the loop of whoever runs the session.

A script may have something there that its agent needs: a session with a tool server, a model's client whose connections
stay open from one problem to the next. Such things work on their own loop only; elsewhere they fail, or wait for ever. What
this does not promise, unlike ``own_thread``: that an agent which blocks instead of awaiting is stopped at its time-out; it
blocks the script's loop, too. When it lets go at last, its answer is late, and counts as none.
"""

import asyncio
import contextvars
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import Any

from aiopslab.orchestrator.own_thread import GRACE_S, Cancelled, Overdue


def is_shared(entry: Callable[..., Awaitable[object]]) -> bool:
    """Whether others have been on this loop than the coroutine that entered here: with ``asyncio.run(entry())``, nobody has."""
    task = asyncio.current_task()
    begun = getattr(task.get_coro(), "cr_code", None) if task is not None else None
    return begun is not getattr(entry, "__code__", None) or len(asyncio.all_tasks()) > 1


class CallersLoop:
    """Does one piece of work at a time on the running loop, in one context, as if the script itself awaited it."""

    def __init__(self) -> None:
        self._context = contextvars.copy_context()

    async def run(self, work: Callable[[], object], timeout_s: float) -> Any:
        """What the work returns, awaited if it can be; what it raises is raised here. `Overdue` when it takes longer."""
        began = time.perf_counter()
        value = self._context.run(work)
        if inspect.isawaitable(value):
            value = await self._awaited(value, timeout_s)
        if time.perf_counter() - began > timeout_s + GRACE_S:
            raise Overdue  # it has blocked the loop, so nobody could tell it
        return value

    async def _awaited(self, value: Awaitable[object], timeout_s: float) -> Any:
        task = asyncio.create_task(_outcome(value), context=self._context)
        try:
            done, _ = await asyncio.wait({task}, timeout=timeout_s)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if not done:
            task.cancel()
            await asyncio.wait({task}, timeout=GRACE_S)
            raise Overdue
        if task.cancelled():
            raise Cancelled("its work was cancelled from within")
        result, error = task.result()
        if error is not None:
            raise error
        return result

    def close(self) -> None:
        """Nothing is left to end: the loop is not ours."""


async def _outcome(value: Awaitable[object]) -> tuple[object, BaseException | None]:
    """What came of it: an agent that ends itself must not end the loop."""
    try:
        return await value, None
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise
    except BaseException as error:
        return None, error
