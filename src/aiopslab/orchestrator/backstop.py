"""The last resort when the framework itself takes too long: work is broken off after so many seconds of the host's clock.

What an agent does is bounded by counts and by the world's own time, so this never strikes unless one of those bounds is
missing. It decides nothing but that the session is over: the world stands in the middle of something then, and refuses to go on.

In the main thread a signal interrupts, which reaches even into a search for a pattern; in any other thread an exception is
put there, which comes at the next line of Python. What this does not promise: to interrupt code that is neither Python nor
asks for signals.
"""

from __future__ import annotations

import ctypes
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

from aiopslab.utils.status import AIOpsLabError

AGAIN_S: Final = 5.0
"""So often it strikes anew: the first time may fall where Python lets no exception out."""


class HarnessTimedOut(AIOpsLabError):
    """The framework did not get done with something in time; the sentence says what to do."""

    def __init__(self, limit_s: float) -> None:
        super().__init__(
            f"The simulation did not get done with this within {limit_s:g} s of the host's clock, so the session was broken off "
            "and not judged; that is no fault of the agent's. Run it again with more time (action_timeout_s=…, at the "
            "command line --action-timeout); if it hangs again, please report the action as a defect."
        )


class _Struck(BaseException):
    """What interrupts; no ``Exception``, for those are caught in many places where work goes on."""


@contextmanager
def backstop(limit_s: float) -> Iterator[None]:
    """Break off what is done inside after so many seconds; raises ``HarnessTimedOut`` then."""
    in_main = threading.current_thread() is threading.main_thread()
    try:
        with _alarm(limit_s) if in_main else _from_outside(limit_s):
            yield
    except _Struck:
        raise HarnessTimedOut(limit_s) from None


@contextmanager
def _alarm(limit_s: float) -> Iterator[None]:
    def strike(_number: int, _frame: FrameType | None) -> None:
        raise _Struck

    handler = signal.signal(signal.SIGALRM, strike)
    theirs = signal.setitimer(signal.ITIMER_REAL, limit_s, AGAIN_S)
    try:
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
    finally:  # twice, for it may strike on the way out
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, handler)
        if theirs[0]:  # somebody else waits for an alarm: it comes, if not to the moment
            signal.setitimer(signal.ITIMER_REAL, *theirs)


@contextmanager
def _from_outside(limit_s: float) -> Iterator[None]:
    within = ctypes.c_ulong(threading.get_ident())
    put: Any = ctypes.pythonapi.PyThreadState_SetAsyncExc
    over = threading.Event()
    guard = threading.Lock()

    def wait() -> None:
        patience_s = limit_s
        while not over.wait(patience_s):
            with guard:
                if not over.is_set():
                    put(within, ctypes.py_object(_Struck))
            patience_s = AGAIN_S

    threading.Thread(target=wait, name="backstop", daemon=True).start()
    try:
        try:
            yield
        finally:
            over.set()
    finally:  # twice, for it may strike on the way out
        over.set()
        with guard:
            put(within, None)  # what was put there and has not come yet must not come later
