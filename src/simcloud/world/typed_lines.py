"""Lines at a terminal, while they run and afterwards: each in a shell of its own, or one after another in one shell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from simcloud.machine import secure_shell
from simcloud.machine.process import (
    TERMINAL,
    ByteSource,
    Capture,
    Completed,
    Container,
    Process,
    Signal,
    Stream,
    Tty,
)
from simcloud.sim import TimedOut
from simcloud.world.world import World, replace_surrogates

HOME: Final = "/root"
TIMED_OUT: Final = 124
STARTING_S: Final = 1.0
CONTROL_D: Final = "\x04"


class TypedLine:
    """A line at the terminal, while it runs and afterwards."""

    def __init__(
        self,
        world: World,
        host: Container,
        session: Process | None,
        line: str,
        shown_bytes: int,
        stdin: bytes = b"",
    ) -> None:
        self._world = world
        self.stdout, self.stderr = Capture(shown_bytes), Capture(shown_bytes)
        argv = ["bash", "-c", replace_surrogates(line)]
        streams: dict[int, Stream] = {1: self.stdout, 2: self.stderr}
        if stdin:
            streams[0] = ByteSource(stdin)
        self._process = host.start(argv, streams=streams, cwd=HOME, parent=session)

    @property
    def has_ended(self) -> bool:
        """Whether the line has ended."""
        return not self._process.alive

    def wait(self, seconds: float) -> bool:
        """Let at most this much virtual time pass; return whether the line has ended."""
        kernel = self._world.kernel

        async def wait_for_end() -> bool:
            try:
                with kernel.timeout(seconds):
                    await self._process.wait()
            except TimedOut:
                return False
            return True

        return kernel.run_task(kernel.spawn(wait_for_end(), "a line at the terminal"), 2 * seconds + 1.0)

    def interrupt(self) -> None:
        """Send SIGINT to all processes of the line, as Ctrl-C does."""
        for process in _collect_family(self._process):
            process.send(Signal.INT, outside=True)

    def stop(self) -> None:
        """Send SIGINT, and kill the line if it does not end."""
        self.interrupt()
        if not self.wait(1.0):
            self.kill()
            self.wait(1.0)

    def kill(self) -> None:
        """Kill all processes of the line."""
        for process in _collect_family(self._process):
            process.send(Signal.KILL, outside=True)

    def get_result(self, timeout_s: float | None = None) -> Completed:
        """Return status and output; with ``timeout_s``, the result of a line that was killed after that time."""
        done = self._build_result(self._process.status)
        if timeout_s is None:
            return done
        note = (
            f"[killed after {timeout_s:g} s, because it was still running. Use a longer timeout, or run it in the background: "
            "COMMAND > /tmp/out 2>&1 &]\n"
        )
        return Completed(TIMED_OUT, done.stdout, done.stderr + note.encode())

    def _build_result(self, status: int) -> Completed:
        return Completed(status, _read_output(self.stdout), _read_output(self.stderr))


class InteractiveShell:
    """A shell that runs the lines typed into it one after another, and keeps its state from one to the next.

    With ``isatty`` its programs see a terminal. ``on_output`` gets all output as it is written.
    """

    def __init__(
        self,
        world: World,
        host: Container,
        session: Process,
        shown_bytes: int,
        isatty: bool,
        size: tuple[int, int],
        on_output: Callable[[bytes], None] | None,
    ) -> None:
        self.world = world
        self.host = host
        self._settings = (world, host, session, shown_bytes, isatty, size, on_output)
        self._shown_bytes = shown_bytes
        self._output = Capture(shown_bytes)
        self._on_output = on_output
        self.tty = Tty(world.kernel, self._show, isatty=isatty, size=size)
        streams = dict.fromkeys((0, 1, 2), self.tty)
        client = host.namespace.outside[-1].remote
        login = secure_shell.describe_login(client, host.namespace.address, has_terminal=True)
        self.process = host.start(["-bash"], env=login, streams=streams, cwd=HOME, parent=session)
        self.process.terminal = TERMINAL
        world.kernel.spawn(self._watch_end(), "the end of a shell")
        self.wait(STARTING_S)

    async def _watch_end(self) -> None:
        await self.process.wait()
        self.tty.changed.notify()

    def wait(self, seconds: float) -> bool:
        """Let at most this much virtual time pass; return whether the shell or a program waits for a line."""
        kernel, tty = self.world.kernel, self.tty

        async def wait_for_reader() -> bool:
            try:
                with kernel.timeout(seconds):
                    while self.process.alive and not tty.waits:
                        await tty.changed.wait()
            except TimedOut:
                return False
            return True

        if tty.waits or not self.process.alive:
            return True
        return kernel.run_task(kernel.spawn(wait_for_reader(), "a line at the terminal"), 2 * seconds + 1.0)

    @property
    def is_at_prompt(self) -> bool:
        """Whether the shell itself waits for a new command."""
        prompt = self.tty.prompt
        return prompt is not None and prompt.pid == self.process.pid and prompt.status is not None

    @property
    def prompt(self) -> str:
        """The prompt to show for the next line; empty while a program reads input."""
        return self.tty.prompt.text if self.tty.prompt is not None else ""

    def reopen(self) -> InteractiveShell:
        """Start another shell at the same terminal, after this one has ended."""
        return InteractiveShell(*self._settings)

    def type(self, line: str) -> ShellLine:
        """Type a line, or ``CONTROL_D``; return it without waiting."""
        return ShellLine(self, line)

    def take_output(self) -> Capture:
        """Return what was written since the last call."""
        output, self._output = self._output, Capture(self._shown_bytes)
        return output

    def get_foreground(self) -> list[Process]:
        """Return the processes that the shell waits for."""
        members = self.host.processes.values()
        return [
            member for member in members if member.group == self.process.group and member is not self.process
        ]

    def _show(self, data: bytes) -> None:
        data = data.replace(b"\r\n", b"\n")
        self._output.put(data)
        if self._on_output is not None:
            self._on_output(data)


class ShellLine(TypedLine):
    """A line typed into an interactive shell. It has ended when the shell or a program waits for the next one."""

    def __init__(self, shell: InteractiveShell, line: str) -> None:
        self._world = shell.world
        self._process = shell.process
        self._shell = shell
        if line == CONTROL_D:
            shell.tty.end()
        else:
            shell.tty.type(replace_surrogates(line).encode() + b"\n")

    def wait(self, seconds: float) -> bool:
        """Let at most this much virtual time pass; return whether the line has ended."""
        return self._shell.wait(seconds)

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self._shell.tty.interrupt(self._process)

    def kill(self) -> None:
        """Press Ctrl-C; kill what ignores it, and the shell if it does not come back."""
        self.interrupt()
        if not self.wait(1.0):
            for process in self._shell.get_foreground():
                process.send(Signal.KILL, outside=True)
            if not self.wait(1.0):
                self._process.send(Signal.KILL, outside=True)

    def stop(self) -> None:
        """Press Ctrl-C; kill the line if it does not end."""
        self.kill()

    def get_result(self, timeout_s: float | None = None) -> Completed:
        """Return status and output, both streams in one; with ``timeout_s``, those of a line that was interrupted."""
        prompt = self._shell.tty.prompt
        status = prompt.status if prompt is not None else None
        if not self._process.alive:
            status = self._process.status
        self.stdout, self.stderr = self._shell.take_output(), Capture()
        if timeout_s is not None:
            self.stdout.put(b"^C\n")
        return self._build_result(status or 0)


def _collect_family(process: Process) -> list[Process]:
    """Return a process and its descendants, without those it has left in the background."""
    family = [process]
    for member in family:
        family.extend(member.children.values())
    return family


def _read_output(stream: Capture) -> bytes:
    data = bytes(stream.data)
    if not stream.dropped_bytes:
        return data
    total = len(data) + stream.dropped_bytes
    note = (
        f"\n[cut: {len(data)} of {total} bytes are shown. To see the rest, write the output to a file (COMMAND > /tmp/out) "
        "and read the file in parts with head, tail or grep]\n"
    )
    return data + note.encode()
