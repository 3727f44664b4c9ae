"""Calls that nest deeper than Python's usual recursion limit.

Nested calls of Python functions need no C stack, so a higher limit is safe for them. Native code, such as a JSON decoder, does
need it and ends the whole process where the stack ends. The limit holds for all threads. So it is raised only while such calls
run, and never so far that a decoder in another thread would not stop in time.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any, Final, TypeVar

T = TypeVar("T")

MAX_FRAMES: Final = 16_000
"""The JSON decoder with the largest C frames needs 400 bytes a level, and a thread has 8 MiB."""


class _Raised:
    """How many calls run under the raised limit, and the limit before."""

    guard = threading.Lock()
    calls = 0
    usual_limit = sys.getrecursionlimit()


def call_deep(function: Callable[..., T], *args: Any, frames: int = MAX_FRAMES) -> T:
    """Call a function under a raised recursion limit. The usual limit returns when no thread is inside such a call.

    An interrupt cannot fall between ``try`` and the change of the count: Python takes interrupts only after calls and at jumps.
    """
    try:
        with _Raised.guard:
            _Raised.calls += 1
            if _Raised.calls == 1:
                _Raised.usual_limit = sys.getrecursionlimit()
            sys.setrecursionlimit(max(sys.getrecursionlimit(), min(frames, MAX_FRAMES)))
        return function(*args)
    finally:
        with _Raised.guard:
            _Raised.calls -= 1
            if not _Raised.calls:
                sys.setrecursionlimit(_Raised.usual_limit)
