"""A block that Ctrl-C does not interrupt, as in the public AIOpsLab release."""

from __future__ import annotations

import signal
from threading import current_thread, main_thread
from types import FrameType, TracebackType
from typing import Any


class CriticalSection:
    """Delay Ctrl-C until the end of the ``with`` block. Outside the main thread, which alone gets signals, it does nothing."""

    def __init__(self) -> None:
        self.signaled = False
        self._before: Any = None

    def __enter__(self) -> CriticalSection:
        if current_thread() is main_thread():
            self._before = signal.signal(signal.SIGINT, self.signal_handler)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
        if self.signaled:
            raise KeyboardInterrupt

    def signal_handler(self, _number: int, _frame: FrameType | None) -> None:
        """Remember the interrupt."""
        self.signaled = True
