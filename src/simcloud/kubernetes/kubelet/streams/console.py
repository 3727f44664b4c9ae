"""The standard streams of a container's main process: its log, and attached clients."""

from __future__ import annotations

from collections.abc import Callable

from simcloud.kubernetes.kubelet.streams.sessions import ERRORS, OUTPUT, PIPE_BYTES, Typed, interrupt
from simcloud.kubernetes.kubelet.streams.terminal import Terminal
from simcloud.machine.process import Container, NullStream, Process, Signal, Stream
from simcloud.sim import Condition


class Console:
    """Give ``streams`` to the container's process, then call ``follow`` with it."""

    def __init__(
        self, container: Container, *, stdin: bool, stdin_once: bool = False, tty: bool = False
    ) -> None:
        self._container = container
        self._stdin_once = stdin_once
        self.tty = tty
        self.process: Process | None = None
        self._input = Typed(container.kernel, tty) if stdin else None
        self._attached: list[AttachedSession] = []
        self._room = Condition(container.kernel)
        self.ended = False
        """Whether the process is over: nobody can be attached to it then."""
        self.streams: dict[int, Stream] = {
            0: self._input if self._input is not None else NullStream(),
            1: _Copied(self, OUTPUT, container.log.stream("stdout") if container.log else NullStream()),
            2: _Copied(self, ERRORS, container.log.stream("stderr") if container.log else NullStream()),
        }

    def follow(self, process: Process) -> None:
        """Attach to the running process; its end is passed on to all attached clients."""
        for stream in self.streams.values():
            stream.close()
        self.process = process
        self._container.kernel.spawn(self._wait(process), f"console of {self._container.name}")

    def attach(self, *, stdin: bool, stderr: bool) -> AttachedSession:
        """Join: see what is written from now on, and type if the container reads."""
        session = AttachedSession(self, self._input if stdin else None, stderr)
        self._attached.append(session)
        return session

    def leave(self, session: AttachedSession) -> None:
        """One fewer is attached."""
        if session in self._attached:
            self._attached.remove(session)
            self._room.notify()
            if session.types:
                self.end_input()

    def end_input(self) -> None:
        """A client has typed its last; a container that reads only once has then read everything."""
        if self._stdin_once and self._input is not None:
            self._input.end()

    def look_again(self) -> None:
        """Somebody who held the process back does so no more."""
        self._room.notify()

    async def show(self, number: int, data: bytes) -> None:
        """The process writes; one that is attached and takes nothing holds it back, as a real one does."""
        for place in range(0, len(data), PIPE_BYTES):
            while any(session.held for session in self._attached):
                await self._room.wait()
            for session in list(self._attached):
                session.show(number, data[place : place + PIPE_BYTES])

    def show_at_once(self, number: int, data: bytes) -> bool:
        """The process writes and does not wait; False when one that is attached holds it back."""
        if any(session.held for session in self._attached):
            return False
        for session in list(self._attached):
            session.show(number, data)
        return True

    async def _wait(self, process: Process) -> None:
        await process.wait()
        self.ended = True
        for session in list(self._attached):
            session.end()
        self._attached.clear()


class AttachedSession:
    """One client that is attached to a container's own process."""

    def __init__(self, console: Console, typed: Typed | None, stderr: bool) -> None:
        self.on_output: Callable[[int, bytes], None] | None = None
        self.on_end: Callable[[int, str], None] | None = None
        self._console = console
        self._input = typed
        self._stderr = stderr
        self._terminal: Terminal | None = None
        if console.tty and typed is not None:
            self._terminal = Terminal(typed.put, typed.end_once, self._echo, self._interrupt)
        self.echoes = True
        self.held = False

    @property
    def pending_bytes(self) -> int:
        """What was typed and is not read yet."""
        return len(self._input.waiting) if self._input is not None else 0

    @property
    def types(self) -> bool:
        """Whether this client may type."""
        return self._input is not None

    def watch_input(self, on_wait: Callable[[], None]) -> None:
        """Call a function whenever the process waits for input, also if it waits already."""
        if self._input is not None:
            self._input.watch(on_wait)

    def write(self, data: bytes) -> None:
        """Type."""
        if self._terminal is not None:
            self._terminal.type(data)
        elif self._input is not None:
            self._input.put(data)

    def _echo(self, data: bytes) -> None:
        if self.on_output is not None and self.echoes:
            self.on_output(OUTPUT, data)

    def _interrupt(self, signal: Signal) -> None:
        if self._console.process is not None:
            interrupt(self._console.process, signal)

    def close_input(self) -> None:
        """This client types no more; the container's input stays open for others, if it takes others."""
        if self._input is not None:
            self._input = None
            self._console.end_input()

    def resize(self, columns: int, rows: int) -> None:
        """A container's own process has no terminal to resize."""

    def pause(self) -> None:
        """Take no more output for now."""
        self.held = True

    def resume(self) -> None:
        """Take output again."""
        self.held = False
        self._console.look_again()

    def stop(self) -> None:
        """The client has gone."""
        self.on_output = self.on_end = None
        self._console.leave(self)

    def show(self, number: int, data: bytes) -> None:
        """The process has written something."""
        if self._terminal is not None:
            number, data = OUTPUT, self._terminal.render(data)
        if self.on_output is not None and (number == OUTPUT or self._stderr):
            self.on_output(number, data)

    def end(self) -> None:
        """The process has ended; how is not the attached client's to know, as with a real kubelet."""
        if self.on_end is not None:
            self.on_end(0, "")


class _Copied(Stream):
    """A stream to the log that the attached see too."""

    def __init__(self, console: Console, number: int, log: Stream) -> None:
        super().__init__()
        self.isatty = console.tty
        self._console = console
        self._number = number
        self._log = log

    async def write(self, data: bytes) -> None:
        """To all who are attached, and to the log."""
        await self._console.show(self._number, data)
        await self._log.write(data)

    def write_at_once(self, data: bytes) -> bool:
        """To all who are attached, and to the log, unless one of them takes nothing."""
        return self._console.show_at_once(self._number, data) and self._log.write_at_once(data)

    def _on_release(self) -> None:
        self._log.close()
