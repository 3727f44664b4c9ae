"""A terminal's line discipline: line editing, echo, and translation of newlines.

Raw mode and disabled echo are not supported: every program gets a terminal in line mode.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from simcloud.machine.process import Signal

_SIGNALS: Final = {0x03: (b"^C", Signal.INT), 0x1C: (b"^\\", Signal.QUIT)}
_END: Final = 0x04
_ERASE: Final = (0x08, 0x7F)
_ERASE_LINE: Final = 0x15
_ENTER: Final = (0x0A, 0x0D)
LINE_BYTES: Final = 4_095
"""What is typed beyond is lost until the line is ended, as Linux does it."""


class Terminal:
    """One terminal. ``enter`` gets whole lines, ``end`` is control-D, ``echo`` shows what was typed."""

    def __init__(
        self,
        enter: Callable[[bytes], None],
        end: Callable[[], None],
        echo: Callable[[bytes], None],
        signal: Callable[[Signal], None],
    ) -> None:
        self._enter, self._end, self._echo, self._signal = enter, end, echo, signal
        self._line = bytearray()

    def render(self, data: bytes) -> bytes:
        """What a program writes, as the screen gets it."""
        return data.replace(b"\n", b"\r\n")

    def type(self, data: bytes) -> None:
        """Keys are pressed."""
        for key in data:
            self._press(key)

    def _press(self, key: int) -> None:
        if key in _SIGNALS:
            shown, signal = _SIGNALS[key]
            self._line.clear()
            self._echo(shown)
            self._signal(signal)
        elif key in _ENTER:
            self._echo(b"\r\n")
            self._enter(bytes(self._line) + b"\n")
            self._line.clear()
        elif key == _END:
            if self._line:
                self._enter(bytes(self._line))
                self._line.clear()
            else:
                self._end()
        elif key in _ERASE:
            if self._line:
                self._erase()
        elif key == _ERASE_LINE:
            while self._line:
                self._erase()
        elif len(self._line) < LINE_BYTES:
            self._line.append(key)
            self._echo(bytes((key,)))

    def _erase(self) -> None:
        """Take back one character: all bytes of it, if it has several."""
        while len(self._line) > 1 and 0x80 <= self._line[-1] < 0xC0:
            self._line.pop()
        self._line.pop()
        self._echo(b"\b \b")
