"""A thread of an agent's own, in which it may hang without holding up anybody else.

An agent is a stranger: a plain function may never return, and a coroutine may block its loop or swallow every
cancellation. So both run in a daemon thread, coroutines on a loop that lives there. At the time-out a coroutine is
cancelled, and whatever still goes on then is abandoned: Python has no way to end a thread, but a daemon does not keep
the process from exiting. What this does not promise: that an abandoned agent stops using the processor.
"""

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable
from queue import SimpleQueue
from typing import Any

GRACE_S = 1.0
"""How long a cancelled coroutine may take to clean up."""


class Overdue(Exception):
    """The work was not done in time."""


class Cancelled(Exception):
    """The work cancelled itself. Its own exception, because asyncio's would look as if the asker were cancelled."""


class OwnThread:
    """Does one piece of work at a time, always in the same thread, so that an agent may keep what belongs to one.

    All of it is done in one context, which begins as the one in which this was made: what a script has set there (a tracer,
    a model) an agent finds.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._awaiting: asyncio.Task[Any] | None = None
        self._busy = False
        self._context = contextvars.copy_context()

    async def run(self, work: Callable[[], object], timeout_s: float) -> Any:
        """What the work returns, awaited if it can be; what it raises is raised here. `Overdue` when it takes longer."""
        if self._busy:
            raise Overdue
        if self._thread is None:
            self._thread = threading.Thread(target=self._live, name=self._name, daemon=True)
            self._thread.start()
        job = _Job(work, asyncio.get_running_loop())
        self._busy = True
        self._jobs.put(job)
        try:
            done, _ = await asyncio.wait({job.outcome}, timeout=timeout_s)
            if not done:
                await self._cancel(job)
                raise Overdue
        except asyncio.CancelledError:
            self._ask_to_stop(job)
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
        if self._ask_to_stop(job):
            done, _ = await asyncio.wait({job.outcome}, timeout=GRACE_S)
            self._busy = not done

    def _ask_to_stop(self, job: "_Job") -> bool:
        """Whether there is something to cancel. What has not begun to wait yet finds that it is unwanted when it does."""
        job.unwanted = True
        task = self._awaiting
        if task is None:
            return False
        try:
            task.get_loop().call_soon_threadsafe(task.cancel)
        except RuntimeError:  # its loop has closed in the meantime
            return False
        return True

    def _live(self) -> None:
        with asyncio.Runner() as runner:
            while (job := self._jobs.get()) is not None:
                try:
                    value = self._context.run(job.work)
                    if inspect.isawaitable(value):
                        value = runner.run(self._awaited(value, job), context=self._context)
                except asyncio.CancelledError:
                    job.tell(None, Cancelled("its work was cancelled from within"))
                except BaseException as error:
                    job.tell(None, error)
                else:
                    job.tell(value, None)
                del job

    async def _awaited(self, value: Awaitable[object], job: "_Job") -> object:
        self._awaiting = task = asyncio.current_task()
        if job.unwanted and task is not None:
            task.cancel()
        try:
            return await value
        finally:
            self._awaiting = None


class _Job:
    """A piece of work, and whom to tell what came of it."""

    def __init__(self, work: Callable[[], object], asker: asyncio.AbstractEventLoop) -> None:
        self.work = work
        self.unwanted = False
        self.outcome: asyncio.Future[tuple[object, BaseException | None]] = asker.create_future()
        self._asker = asker

    def tell(self, value: object, error: BaseException | None) -> None:
        try:
            self._asker.call_soon_threadsafe(self._settle, (value, error))
        except RuntimeError:  # nobody waits any more: the asker's loop is closed
            pass

    def _settle(self, outcome: tuple[object, BaseException | None]) -> None:
        if not self.outcome.done():
            self.outcome.set_result(outcome)
