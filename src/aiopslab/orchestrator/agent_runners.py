"""Runners of an agent's code, in a thread of its own or on the caller's loop, each with a timeout.

Agent code is not trusted to return: a plain function may hang, and a coroutine may block its loop or swallow every
cancellation. `ThreadRunner` therefore runs both in a daemon thread, coroutines on a loop in that thread. At the timeout a
coroutine is cancelled, and work that still continues is abandoned: Python cannot end a thread, but a daemon thread does
not keep the process from exiting. An abandoned agent may go on using the processor.

`LoopRunner` is for an async agent whose resources live on the caller's loop: a session with a tool server, a model's
client whose connections stay open from one problem to the next. On another loop these fail or wait for ever. It cannot
stop an agent that blocks instead of awaiting; when such an agent returns after its timeout, its answer is dropped.
"""

import asyncio
import contextvars
import inspect
import threading
import time
from collections.abc import Awaitable, Callable
from queue import SimpleQueue
from typing import Any

GRACE_S = 1.0
"""Time that a cancelled coroutine has to clean up."""


class WorkTimedOut(Exception):
    """The work was not done in time."""


class WorkCancelled(Exception):
    """The work cancelled itself. Not asyncio's exception, which would look as if the caller were cancelled."""


class ThreadRunner:
    """Runs one piece of work at a time, always in the same thread, so that an agent may keep thread-bound objects.

    All work runs in one context, a copy of the context in which the runner was created: variables that a script has set
    there (a tracer, a model) are visible to the agent.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._awaiting: asyncio.Task[Any] | None = None
        self._busy = False
        self._context = contextvars.copy_context()

    async def run(self, work: Callable[[], object], timeout_s: float) -> Any:
        """Return the work's result, awaited if it is awaitable. Raises what it raises, `WorkTimedOut` at the timeout."""
        if self._busy:
            raise WorkTimedOut
        if self._thread is None:
            self._thread = threading.Thread(target=self._process_jobs, name=self._name, daemon=True)
            self._thread.start()
        job = _Job(work, asyncio.get_running_loop())
        self._busy = True
        self._jobs.put(job)
        try:
            done, _ = await asyncio.wait({job.outcome}, timeout=timeout_s)
            if not done:
                await self._cancel(job)
                raise WorkTimedOut
        except asyncio.CancelledError:
            self._request_cancel(job)
            raise
        self._busy = False
        value, error = job.outcome.result()
        if error is not None:
            raise error
        return value

    def close(self) -> None:
        """Let the thread end, if it is not stuck."""
        self._jobs.put(None)
        if self._thread is not None and not self._busy:
            self._thread.join(GRACE_S)

    async def _cancel(self, job: "_Job") -> None:
        if self._request_cancel(job):
            done, _ = await asyncio.wait({job.outcome}, timeout=GRACE_S)
            self._busy = not done

    def _request_cancel(self, job: "_Job") -> bool:
        """Cancel the job; returns whether it awaits something now. Otherwise it is cancelled when it first does."""
        job.cancel_requested = True
        task = self._awaiting
        if task is None:
            return False
        try:
            task.get_loop().call_soon_threadsafe(task.cancel)
        except RuntimeError:  # its loop has closed in the meantime
            return False
        return True

    def _process_jobs(self) -> None:
        with asyncio.Runner() as runner:
            while (job := self._jobs.get()) is not None:
                try:
                    value = self._context.run(job.work)
                    if inspect.isawaitable(value):
                        value = runner.run(self._await_value(value, job), context=self._context)
                except asyncio.CancelledError:
                    job.set_outcome(None, WorkCancelled("its work was cancelled from within"))
                except BaseException as error:
                    job.set_outcome(None, error)
                else:
                    job.set_outcome(value, None)
                del job

    async def _await_value(self, value: Awaitable[object], job: "_Job") -> object:
        self._awaiting = task = asyncio.current_task()
        if job.cancel_requested and task is not None:
            task.cancel()
        try:
            return await value
        finally:
            self._awaiting = None


class _Job:
    """A piece of work, and a future of its outcome on the caller's loop."""

    def __init__(self, work: Callable[[], object], caller: asyncio.AbstractEventLoop) -> None:
        self.work = work
        self.cancel_requested = False
        self.outcome: asyncio.Future[tuple[object, BaseException | None]] = caller.create_future()
        self._caller = caller

    def set_outcome(self, value: object, error: BaseException | None) -> None:
        try:
            self._caller.call_soon_threadsafe(self._resolve, (value, error))
        except RuntimeError:  # the caller's loop is closed, so the outcome is not needed
            pass

    def _resolve(self, outcome: tuple[object, BaseException | None]) -> None:
        if not self.outcome.done():
            self.outcome.set_result(outcome)


class LoopRunner:
    """Runs one piece of work at a time on the running loop, in one context, as if the script itself awaited it."""

    def __init__(self) -> None:
        self._context = contextvars.copy_context()

    async def run(self, work: Callable[[], object], timeout_s: float) -> Any:
        """Return the work's result, awaited if it is awaitable. Raises what it raises, `WorkTimedOut` at the timeout."""
        began = time.perf_counter()
        value = self._context.run(work)
        if inspect.isawaitable(value):
            value = await self._await_value(value, timeout_s)
        if time.perf_counter() - began > timeout_s + GRACE_S:
            raise WorkTimedOut  # it has blocked the loop, so it could not be cancelled in time
        return value

    async def _await_value(self, value: Awaitable[object], timeout_s: float) -> Any:
        task = asyncio.create_task(_catch_outcome(value), context=self._context)
        try:
            done, _ = await asyncio.wait({task}, timeout=timeout_s)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if not done:
            task.cancel()
            await asyncio.wait({task}, timeout=GRACE_S)
            raise WorkTimedOut
        if task.cancelled():
            raise WorkCancelled("its work was cancelled from within")
        result, error = task.result()
        if error is not None:
            raise error
        return result

    def close(self) -> None:
        """Do nothing: the loop belongs to the caller."""


async def _catch_outcome(value: Awaitable[object]) -> tuple[object, BaseException | None]:
    """Return the result or the error: a `SystemExit` of the agent must not end the caller's loop."""
    try:
        return await value, None
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise
    except BaseException as error:
        return None, error


def is_loop_shared(entry: Callable[..., Awaitable[object]]) -> bool:
    """Whether the running loop has other users than the coroutine `entry`; after `asyncio.run(entry())` it has none."""
    task = asyncio.current_task()
    code = getattr(task.get_coro(), "cr_code", None) if task is not None else None
    return code is not getattr(entry, "__code__", None) or len(asyncio.all_tasks()) > 1
