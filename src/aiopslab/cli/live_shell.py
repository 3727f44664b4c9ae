"""A person's shell on the operator's host: its output appears as it is written, and long commands run in real time."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from aiopslab.cloud import InteractiveShell, Terminal

FULL_SPEED_S: Final = 60.0
"""Virtual time that a command runs at full speed before it continues in real time."""
KEYS_BYTES: Final = 1024
SCREEN: Final = b"\x1b[?1049"
"""The sequence that switches to a program's own screen (followed by ``h``) and back (``l``)."""
STEP_S: Final = 0.25
"""Virtual time between two checks for an interrupt."""


class LiveShell:
    """The shell of one session. Without a terminal around it, programs see a pipe."""

    def __init__(self, terminal: Terminal, *, shows_output: bool = True) -> None:
        self.is_tty = sys.stdin.isatty() and sys.stdout.isatty()
        self._terminal = terminal
        self._unended_line = b""
        self._ran_s = 0.0
        self._uses_screen = False
        columns, lines = shutil.get_terminal_size()
        terminal.open_shell(
            isatty=self.is_tty, size=(columns, lines), on_output=self._write if shows_output else None
        )

    @property
    def is_at_prompt(self) -> bool:
        """Whether the shell waits for a new command, and no program for input."""
        return self.shell.is_at_prompt or not self.shell.process.alive

    @property
    def shell(self) -> InteractiveShell:
        """The shell; another one after it was ended by ``set -e`` or the like."""
        shell = self._terminal.shell
        assert shell is not None, "opened above"
        return shell

    def format_prompt(self) -> str:
        """Return what stands before the cursor: the shell's prompt, or the line that a program has begun."""
        self._ran_s = 0.0
        if not self.is_tty:
            return ""
        before = self._unended_line.decode(errors="replace")
        sys.stdout.write("\r" if before else "")  # the line editor shows its prompt itself
        return before + self.shell.prompt

    def type_keys(self) -> bool:
        """Pass on single keys while a program uses the whole screen and waits for them; return whether one did."""
        if not (self.is_tty and self._uses_screen and self.shell.tty.waits):
            return False
        import termios

        before = termios.tcgetattr(sys.stdin)
        now = termios.tcgetattr(sys.stdin)
        now[3] &= ~(termios.ICANON | termios.ECHO | termios.ISIG)
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, now)
        try:
            while self._uses_screen and self.shell.process.alive:
                self.shell.tty.type(os.read(sys.stdin.fileno(), KEYS_BYTES))
                self.shell.wait(FULL_SPEED_S)
        finally:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
        return True

    def begin_line(self) -> None:
        """Note that a line was typed: the cursor is at the start of a line again."""
        self._unended_line = b""

    def end_line(self) -> None:
        """Put the cursor at the start of a line, if output has ended within one."""
        if self._unended_line:
            self._write(b"\n")

    def pace(self) -> None:
        """Sleep for a step if the command draws the screen or has run for long; called once per step."""
        self._ran_s += STEP_S
        if self.is_tty and (self._ran_s > FULL_SPEED_S or self.shell.tty.full_screen):
            time.sleep(STEP_S)

    def _write(self, data: bytes) -> None:
        switch = data.rfind(SCREEN)
        if switch >= 0:
            self._uses_screen = data[switch + len(SCREEN) :].startswith(b"h")
        self._unended_line = (self._unended_line + data).rpartition(b"\n")[2]
        sys.stdout.buffer.write(data)
        sys.stdout.flush()


class LineShell:
    """A shell of which each line runs by itself, as on a real cluster: it has ended when the next one is typed."""

    is_at_prompt: Final = True

    def format_prompt(self) -> str:
        """Return what stands before the cursor."""
        return "$ " if sys.stdin.isatty() else ""

    def type_keys(self) -> bool:
        """Return False: no program waits for keys."""
        return False

    def begin_line(self) -> None:
        """Do nothing; the output of a line is printed when it has ended."""

    end_line = pace = begin_line


class Keyboard:
    """Reads lines and handles Ctrl-C: it raises at the prompt, and is only recorded while a command runs."""

    def __init__(self) -> None:
        self._at_prompt = False
        self._pressed = False

    def take_interrupt(self) -> bool:
        """Return whether Ctrl-C was pressed since the last call."""
        pressed, self._pressed = self._pressed, False
        return pressed

    def read(self, prompt: str) -> str:
        """Read a line; raises ``EOFError`` and ``KeyboardInterrupt``."""
        self._at_prompt = True
        try:
            return input(prompt)
        finally:
            self._at_prompt = self._pressed = False

    @contextmanager
    def catch_interrupts(self) -> Iterator[None]:
        """Handle Ctrl-C here; by default it would end the session."""
        previous = signal.signal(signal.SIGINT, self._handle_interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, previous)

    def _handle_interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._at_prompt:
            raise KeyboardInterrupt
        self._pressed = True
