from __future__ import annotations

from hypothesis import given, strategies as st

from simcloud.kubernetes.kubelet.streams.terminal import LINE_BYTES, Terminal
from simcloud.machine.process import Signal


class Screen:
    """A terminal with everything it does."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.shown = b""
        self.signals: list[Signal] = []
        self.terminal = Terminal(
            self.lines.append, lambda: self.lines.append(b""), self._show, self.signals.append
        )

    def _show(self, data: bytes) -> None:
        self.shown += data


def typed(data: bytes) -> Screen:
    screen = Screen()
    screen.terminal.type(data)
    return screen


def test_a_line_is_entered_whole() -> None:
    screen = typed(b"ls -l")
    assert (screen.lines, screen.shown) == ([], b"ls -l")
    screen.terminal.type(b"\r")
    assert (screen.lines, screen.shown) == ([b"ls -l\n"], b"ls -l\r\n")


def test_erasing_takes_back_a_character_however_many_bytes_it_has() -> None:
    assert typed("aé\x7fb\r".encode()).lines == [b"ab\n"]
    assert typed(b"\x7f\x7fa\r").lines == [b"a\n"]
    assert typed(b"abc\x15d\r").lines == [b"d\n"]


def test_control_d_ends_an_empty_line_and_sends_a_begun_one() -> None:
    assert typed(b"\x04").lines == [b""]
    assert typed(b"ab\x04").lines == [b"ab"]


def test_keys_that_signal_drop_the_line() -> None:
    screen = typed(b"abc\x03d\r\x1c")
    assert (screen.lines, screen.signals) == ([b"d\n"], [Signal.INT, Signal.QUIT])


@given(st.binary(max_size=300))
def test_any_keys_give_lines_of_bounded_length(keys: bytes) -> None:
    screen = typed(keys * 40)
    assert all(len(line) <= LINE_BYTES + 1 for line in screen.lines)
