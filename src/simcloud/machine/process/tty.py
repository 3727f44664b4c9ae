"""A terminal as processes see it: one stream, from which they read typed lines and to which they write.

The person at the other end sees their own typing, so there is no echo. A program that passes what is typed on to another machine
or container (ssh, ``kubectl exec -i``) reports with ``relay_wait`` that the other end waits for input. If there is a terminal at the
other end, this one is ``raw``: Ctrl-C reaches the other end as a byte.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from simcloud.machine.process.process import Process
from simcloud.machine.process.signals import Signal
from simcloud.machine.process.streams import CHUNK_BYTES, Stream
from simcloud.sim import Condition, Kernel

INTERRUPT: Final = b"\x03"
END: Final = b"\x04"
SIZE: Final = (80, 24)


class Prompt(NamedTuple):
    """What a shell shows while it waits for a line."""

    text: str
    pid: int
    status: int | None
    """The status of the last command; None where the shell waits for the rest of a command."""


class Tty(Stream):
    """A terminal with its width and height; ``isatty`` False makes it a pipe that keeps track of its readers all the same."""

    def __init__(
        self,
        kernel: Kernel,
        show: Callable[[bytes], None],
        *,
        isatty: bool = True,
        size: tuple[int, int] = SIZE,
    ) -> None:
        super().__init__()
        self.isatty = isatty
        self.size = size
        self.raw = False
        self._relayed = False
        self.full_screen = False
        """Whether a program draws the whole screen, as top does: it wants real time and single lines as keys."""
        self.waits = False
        """Whether somebody waits for input that has not been typed yet."""
        self.changed = Condition(kernel)
        """Notified when ``waits`` changes."""
        self.prompt: Prompt | None = None
        """The prompt of the shell that waits for a line; None while a program runs."""
        self.typed = bytearray()
        self._show = show
        self._ends = 0

    def describe(self) -> str:
        """Return what ``/proc/PID/fd`` shows."""
        return "/dev/pts/0" if self.isatty else "pipe"

    # -- what the person does ------------------------------------------------------------------

    def type(self, data: bytes) -> None:
        """Type lines, or keys."""
        self.waits = False
        self.typed += data
        self.changed.notify()

    def end(self) -> None:
        """Press Ctrl-D: one reader sees the end of input."""
        if self.raw:
            self.type(END)
            return
        self.waits = False
        self._ends += 1
        self.changed.notify()

    def hang_up(self) -> None:
        """End the input for all readers."""
        self._ends = sys.maxsize
        self.changed.notify()

    # -- what processes do ---------------------------------------------------------------------

    async def read(self, size: int = CHUNK_BYTES) -> bytes:
        """Return what has been typed, waiting for it; b"" after Ctrl-D."""
        while not self.typed:
            if self._ends:
                self._ends -= 1
                return b""
            if not self._relayed:
                self.relay_wait()
            await self.changed.wait()
        if self.isatty and not self.raw:  # a terminal gives one line at a time
            size = min(size, self.typed.find(b"\n") + 1 or size)
        data = bytes(self.typed[:size])
        del self.typed[:size]
        return data

    async def write(self, data: bytes) -> None:
        """Show data."""
        self._show(data)

    def write_at_once(self, data: bytes) -> bool:
        """Show data."""
        self._show(data)
        return True

    def show_prompt(self, prompt: Prompt) -> None:
        """Show the prompt of a shell, with the person's next line."""
        self.prompt = prompt

    def relay_wait(self) -> None:
        """Say that input is waited for, here or at the other end of a connection."""
        if not self.waits and not self.typed:
            self.waits = True
            self.changed.notify()

    @contextmanager
    def pass_on(self, *, raw: bool) -> Iterator[None]:
        """Pass what is typed on while the context lasts; keys such as Ctrl-C too if it is ``raw``."""
        before = self.raw, self._relayed
        self.raw, self._relayed = raw, True
        try:
            yield
        finally:
            self.raw, self._relayed = before

    def interrupt(self, leader: Process) -> None:
        """Press Ctrl-C: signal the processes that the leading process waits for, or itself if there are none."""
        if self.raw:
            self.type(INTERRUPT)
            return
        self.waits = False
        group = [process for process in leader.container.processes.values() if process.group == leader.group]
        if len(group) > 1 and leader.signals.disposition(Signal.INT) != "default":
            group.remove(leader)
        for process in group:
            process.send(Signal.INT, outside=True)
