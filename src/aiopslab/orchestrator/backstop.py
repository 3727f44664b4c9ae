"""A last-resort limit on wall time: work of the framework is interrupted after a number of seconds of the host's clock.

Agents' actions are bounded by counts and by simulated time, so this limit is reached only if one of those bounds is
missing. It then ends the session: the world was interrupted mid-step and refuses to continue.

In the main thread a signal interrupts, which also reaches into a pattern search; in any other thread an exception is
scheduled, which is raised at the next line of Python. Native code that does not check for signals is not interrupted.
"""

from __future__ import annotations

import ctypes
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

from aiopslab.utils import AIOpsLabError

AGAIN_S: Final = 5.0
"""Interval between repeated interrupts: the first may fall where Python swallows exceptions."""


class HarnessTimedOut(AIOpsLabError):
    """The framework exceeded its limit of wall time; the message says what to do."""

    def __init__(self, limit_s: float) -> None:
        super().__init__(
            f"The simulation did not finish within {limit_s:g} s of wall time, so the session was interrupted and not judged. "
            "The agent did not cause this. Run it again with a longer limit (action_timeout_s=…, at the command line "
            "--action-timeout); if it hangs again, please report the action as a defect."
        )


class _Interrupt(BaseException):
    """Interrupts the work. Not an ``Exception``, because many places catch those and continue."""


@contextmanager
def backstop(limit_s: float) -> Iterator[None]:
    """Interrupt the enclosed work after a number of seconds; raises ``HarnessTimedOut`` then."""
    in_main = threading.current_thread() is threading.main_thread()
    try:
        with _limit_by_signal(limit_s) if in_main else _limit_by_thread(limit_s):
            yield
    except _Interrupt:
        raise HarnessTimedOut(limit_s) from None


@contextmanager
def _limit_by_signal(limit_s: float) -> Iterator[None]:
    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise _Interrupt

    handler = signal.signal(signal.SIGALRM, interrupt)
    previous = signal.setitimer(signal.ITIMER_REAL, limit_s, AGAIN_S)
    try:
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
    finally:  # twice, because an interrupt may come on the way out
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, handler)
        if previous[0]:  # restore an alarm of the caller's, though not to the exact moment
            signal.setitimer(signal.ITIMER_REAL, *previous)


@contextmanager
def _limit_by_thread(limit_s: float) -> Iterator[None]:
    thread_id = threading.get_ident()
    over, interrupted = threading.Event(), threading.Event()
    guard = threading.Lock()

    def wait() -> None:
        wait_s = limit_s
        while not over.wait(wait_s):
            with guard:
                if not over.is_set():
                    interrupted.set()
                    _schedule_interrupt(thread_id)
            wait_s = AGAIN_S

    threading.Thread(target=wait, name="backstop", daemon=True).start()
    try:
        try:
            yield
        finally:
            over.set()
    finally:  # twice, because an interrupt may come on the way out
        over.set()
        with guard:
            pass  # no interrupt is scheduled any more
        if interrupted.is_set():
            _take_interrupt(thread_id)


def _schedule_interrupt(thread_id: int) -> None:
    set_exception: Any = ctypes.pythonapi.PyThreadState_SetAsyncExc
    set_exception(ctypes.c_ulong(thread_id), ctypes.py_object(_Interrupt))


def _take_interrupt(thread_id: int) -> None:
    """Let an interrupt that is scheduled but not yet raised be raised here, where it does no harm.

    One more is scheduled, because it may have been raised already. To unschedule it would leave a flag in the interpreter set, and
    then the next call that a debugger or a measurement of coverage traces does not end.
    """
    try:
        _schedule_interrupt(thread_id)
        while True:
            pass
    except _Interrupt:
        pass
