"""Interactive processes in containers: ``exec`` and ``attach``.

While the client pauses (``pause``), output waits in the process, as with a full pipe. Input that was not read yet is
counted in ``pending_bytes``, which the sender is expected to check. When the client disconnects, the process gets the
end of its input and, if it continues to write, a broken pipe; a process that does neither continues, as in a real
container. With a terminal it gets SIGHUP.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from simcloud.kubernetes.kubelet.streams.terminal import Terminal
from simcloud.machine.process import (
    CommandNotFound,
    Container,
    ForkFailed,
    KilledBySignal,
    NotExecutable,
    Process,
    Signal,
    Stream,
)
from simcloud.sim import Condition, Kernel

OUTPUT: Final = 1
ERRORS: Final = 2
PIPE_BYTES: Final = 65_536


class Typed(Stream):
    """What a client types, for a process to read."""

    def __init__(self, kernel: Kernel, isatty: bool = False) -> None:
        super().__init__()
        self.isatty = isatty
        self.waiting = bytearray()
        self._on_wait: Callable[[], None] | None = None
        self._is_read = False
        self._ended = False
        self._pauses = 0
        self._changed = Condition(kernel)

    def watch(self, on_wait: Callable[[], None]) -> None:
        """Call a function whenever a reader waits, also if one waits already."""
        self._on_wait = on_wait
        if self._is_read:
            on_wait()

    def put(self, data: bytes) -> None:
        """More is typed."""
        if not self._ended and not self.closed:
            self.waiting += data
            self._changed.notify()

    def end(self) -> None:
        """End the input."""
        self._ended = True
        self._changed.notify()

    def end_once(self) -> None:
        """Let one reader see the end, as control-D does; what is typed later is read again."""
        self._pauses += 1
        self._changed.notify()

    async def read(self, size: int = 65_536) -> bytes:
        """What has been typed, waiting for it."""
        while not self.waiting:
            if self._pauses:
                self._pauses -= 1
                return b""
            if self._ended:
                return b""
            self._is_read = True
            if self._on_wait is not None:
                self._on_wait()
            try:
                await self._changed.wait()
            finally:
                self._is_read = False
        data = bytes(self.waiting[:size])
        del self.waiting[:size]
        return data

    def _on_release(self) -> None:
        self.waiting.clear()


class Shown(Stream):
    """What a process writes, handed to a client at once; while the client holds, the writer waits."""

    def __init__(self, session: ContainerSession, number: int, isatty: bool) -> None:
        super().__init__()
        self.isatty = isatty
        self._session = session
        self._number = number

    async def write(self, data: bytes) -> None:
        """Show it, or break the writer's pipe if nobody looks any more."""
        await self._session.show(self._number, data)

    def _on_release(self) -> None:
        self._session.close_output()


class ContainerSession:
    """A command that runs in a container for a client."""

    def __init__(
        self,
        container: Container,
        argv: list[str],
        *,
        stdin: bool,
        stderr: bool,
        tty: bool,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        uid: int = 0,
        gid: int = 0,
    ) -> None:
        self.on_output: Callable[[int, bytes], None] | None = None
        self.on_end: Callable[[int, str], None] | None = None
        self.echoes = True
        self.process: Process | None = None
        self.size = (0, 0)
        self._kernel = container.kernel
        self._room = Condition(self._kernel)
        self._held = self._gone = self._end_reported = False
        self._outputs_open = 0
        self._input = Typed(self._kernel, tty)
        self._terminal = (
            Terminal(self._type, self._input.end_once, self._echo, self._interrupt) if tty else None
        )
        streams: dict[int, Stream] = {0: self._input} if stdin else {}
        streams |= self._outputs(stderr, tty)
        try:
            self.process = container.start(argv, env=env, streams=streams, cwd=cwd, uid=uid, gid=gid)
        except (CommandNotFound, NotExecutable, ForkFailed) as error:
            self._kernel.call_later(0.0, self._end, _why_not(container, argv, error))
        for stream in dict.fromkeys(streams.values()):
            stream.close()
        if self.process is not None:
            self._kernel.spawn(self._wait(self.process), f"exec {self.process.name}")

    def _outputs(self, stderr: bool, tty: bool) -> dict[int, Stream]:
        output = Shown(self, OUTPUT, tty)
        self._outputs_open = 1
        if tty:
            return {1: output, 2: output}
        if not stderr:
            return {1: output}
        self._outputs_open = 2
        return {1: output, 2: Shown(self, ERRORS, tty)}

    # -- what the client does ------------------------------------------------------------------

    @property
    def pending_bytes(self) -> int:
        """What was typed and is not read yet."""
        return len(self._input.waiting)

    def watch_input(self, on_wait: Callable[[], None]) -> None:
        """Call a function whenever the process waits for input, also if it waits already."""
        self._input.watch(on_wait)

    def write(self, data: bytes) -> None:
        """Type."""
        if self._terminal is not None:
            self._terminal.type(data)
        else:
            self._input.put(data)

    def close_input(self) -> None:
        """The input ends."""
        self._input.end()

    def resize(self, columns: int, rows: int) -> None:
        """The client's terminal has another size."""
        self.size = (columns, rows)
        if self.process is not None:
            self.process.send(Signal.WINCH, outside=True)

    def pause(self) -> None:
        """Take no more output for now."""
        self._held = True

    def resume(self) -> None:
        """Take output again."""
        self._held = False
        self._room.notify()

    def stop(self) -> None:
        """The client has gone."""
        if self._gone:
            return
        self._gone = True
        self.on_output = self.on_end = None
        self._input.end()
        self.resume()
        if self._terminal is not None and self.process is not None:
            self.process.send(Signal.HUP, outside=True)

    def lose(self, why: str) -> None:
        """The container is lost together with its machine: say so to the client."""
        self._end(why)

    # -- what the process does -----------------------------------------------------------------

    async def show(self, number: int, data: bytes) -> None:
        """The process writes; much of it in pieces, between which it can be held."""
        for place in range(0, len(data), PIPE_BYTES):
            while self._held and not self._gone:
                await self._room.wait()
            if self._gone:
                raise KilledBySignal(Signal.PIPE)
            piece = data[place : place + PIPE_BYTES]
            if self.on_output is not None:
                self.on_output(number, piece if self._terminal is None else self._terminal.render(piece))

    def close_output(self) -> None:
        """One of the outputs has lost its last writer."""
        self._outputs_open -= 1
        self._room.notify()

    async def _wait(self, process: Process) -> None:
        await process.wait()
        while self._outputs_open:  # children may go on writing after the command has ended
            await self._room.wait()
        self._end("", process.status)

    def _end(self, why: str, status: int = 1) -> None:
        if not self._end_reported:
            self._end_reported = True
            if self.on_end is not None:
                self.on_end(status, why)

    # -- what a terminal does ------------------------------------------------------------------

    def _type(self, line: bytes) -> None:
        self._input.put(line)

    def _echo(self, data: bytes) -> None:
        if self.on_output is not None and self.echoes:
            self.on_output(OUTPUT, data)

    def _interrupt(self, signal: Signal) -> None:
        if self.process is not None:
            interrupt(self.process, signal)


def interrupt(process: Process, signal: Signal) -> None:
    """Send the signal of a key to what runs in the foreground: the innermost processes."""
    for innermost in _innermost(process):
        innermost.send(signal, outside=True)


def _innermost(process: Process) -> list[Process]:
    found, waiting = [], [process]
    while waiting:
        each = waiting.pop()
        if each.children:
            waiting += each.children.values()
        else:
            found.append(each)
    return found


def _why_not(container: Container, argv: list[str], error: Exception) -> str:
    """A container runtime's sentence for a command that cannot be started."""
    name = argv[0]
    if isinstance(error, ForkFailed):
        why = "fork/exec: resource temporarily unavailable"
    elif isinstance(error, NotExecutable):
        why = f'exec: "{name}": {str(error)[:1].lower()}{str(error)[1:]}'
    elif "/" in name:
        why = f'exec: "{name}": stat {name}: no such file or directory'
    else:
        why = f'exec: "{name}": executable file not found in $PATH'
    number = container.kernel.random(f"{container.name}/exec").getrandbits(256)
    return (
        f'error executing command in container: failed to exec in container: failed to start exec "{number:064x}": '
        f"OCI runtime exec failed: exec failed: unable to start container process: {why}"
    )
