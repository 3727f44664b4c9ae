"""What a program sees of the world: its arguments, environment, streams, files, network and clock.

A program is ``async def main(ctx) -> int | None``. A shell command is the same thing, so every command
can be a container's entry point and every program can be typed in a shell.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Coroutine, Generator, Mapping
from types import coroutine
from typing import TYPE_CHECKING, Any, Final, NoReturn, Protocol

from simcloud.machine.emit import Metrics
from simcloud.machine.files import FileError, Files
from simcloud.machine.network.connection import Connection
from simcloud.machine.network.listener import BACKLOG, Listener
from simcloud.machine.process.container import Completed, Container, Host
from simcloud.machine.process.errors import ExitProgram
from simcloud.machine.process.process import AnyProgram, BecomeProgram, Memory, Process
from simcloud.machine.process.signals import Signals
from simcloud.machine.process.streams import (
    BadDescriptor,
    ByteSource,
    Capture,
    FileStream,
    Pipe,
    Stream,
    read_all,
    read_lines,
)
from simcloud.sim import Event, Kernel, Task

if TYPE_CHECKING:  # units run processes, so they load after this package
    from simcloud.machine.journal import Journal
    from simcloud.machine.kernel_log import KernelLog
    from simcloud.machine.units import Unit

TURN_CPU_S: Final = 0.00001
"""What one turn of an interpreter's loop costs of a core."""

PAY_TURNS: Final = 1_000
BACKGROUND_S: Final = 10.0
"""Number of turns after which their CPU time is charged."""

CONNECT_TIMEOUT_S: Final = 127.0
DESCRIPTOR_FOLDERS: Final = ("/dev/fd/", "/proc/self/fd/")
STANDARD_STREAMS: Final = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}


class ProgramMachine(Host, Protocol):
    """What programs see of their machine: what containers need, its services, and its power switch."""

    units: dict[str, Unit]
    journal: Journal
    off_at: float | None
    clock_skew_s: float

    @property
    def kernel_log(self) -> KernelLog:
        """The kernel's own log."""

    def lose(self) -> None:
        """Cut the power: everything stops, and what was not on disk is gone."""

    def boot(self) -> None:
        """Bring the power back: a machine without containers, with what its disk still holds."""


class Context:
    """One process's view of the world; programs get it as their only argument."""

    __slots__ = ("args", "container", "env", "files", "kernel", "machine", "process")

    def __init__(self, process: Process, container: Container, machine: ProgramMachine) -> None:
        self.process = process
        self.args: list[str] = process.argv
        self.env: dict[str, str] = process.env
        self.files: Files = process.files
        self.kernel: Kernel = process.kernel
        self.container = container
        self.machine = machine

    # -- streams -------------------------------------------------------------------------------

    @property
    def stdin(self) -> Stream:
        """Descriptor 0."""
        return self.process.streams[0]

    @property
    def stdout(self) -> Stream:
        """Descriptor 1."""
        return self.process.streams[1]

    @property
    def stderr(self) -> Stream:
        """Descriptor 2."""
        return self.process.streams[2]

    async def out(self, text: str) -> None:
        """Write text to stdout."""
        await self.process.streams[1].write(text.encode("utf-8", "surrogateescape"))

    def log(self, text: str, written_s: float = 0.0) -> None:
        """One line in the container's log, at once; ``written_s`` is the time that the line names, if that is later."""
        if self.container.log is not None:
            self.container.log.line(text, written_s=written_s)

    @property
    def metrics(self) -> Metrics:
        """What the process counts and measures; it bears the container's labels and ends with the process."""
        process = self.process
        if process.metrics is None:
            process.metrics = Metrics(self.container.labels, self.container.namespace.address)
            self.machine.emitter.expose(process.metrics)
        return process.metrics

    async def err(self, text: str) -> None:
        """Write text to stderr, as far as it can be written: there is nowhere else to complain."""
        try:
            await self.process.streams[2].write(text.encode("utf-8", "surrogateescape"))
        except (FileError, BadDescriptor):
            pass

    def lines(self, stream: Stream) -> AsyncIterator[bytes]:
        """The stream's lines, newlines included, as they arrive."""
        return read_lines(stream)

    async def open(
        self,
        path: str,
        *,
        read: bool = True,
        write: bool = False,
        create: bool = False,
        truncate: bool = False,
        append: bool = False,
        exclusive: bool = False,
        mode: int = 0o666,
    ) -> Stream:
        """A stream on a file, a device, a named pipe or one of the process's own descriptors.

        Opening a named pipe waits until its other end is opened too.
        """
        own = self._own_descriptor(path)
        if own is not None:
            return own.dup()
        if len(self.process.streams) >= self.container.limits.open_files:
            raise FileError("EMFILE", path)
        if self.files.is_fifo(path):
            return await self._open_fifo(path, write)
        file = self.files.open(
            path,
            read=read,
            write=write,
            create=create,
            truncate=truncate,
            append=append,
            exclusive=exclusive,
            mode=mode,
        )
        return FileStream(self.kernel, file)

    async def read_file(self, path: str) -> bytes:
        """Read a file, or what comes through a named pipe or a descriptor such as that of ``<(...)``."""
        stream = await self.open(path)
        try:
            return await read_all(stream)
        finally:
            stream.close()

    def _own_descriptor(self, path: str) -> Stream | None:
        number = STANDARD_STREAMS.get(path)
        if number is None:
            for folder in DESCRIPTOR_FOLDERS:
                if path.startswith(folder) and path[len(folder) :].isdigit():
                    number = int(path[len(folder) :])
        if number is None:
            return None
        if number not in self.process.streams:
            raise FileError("ENOENT", path)
        return self.process.streams[number]

    async def _open_fifo(self, path: str, write: bool) -> Stream:
        node = self.files.fifo(path)
        if not isinstance(node.pipe, FifoMeeting):
            node.pipe = FifoMeeting(self.kernel)
        return await node.pipe.enter(write)

    # -- time, CPU, memory, chance -------------------------------------------------------------

    @property
    def now(self) -> float:
        """The machine's clock: virtual seconds since 1970."""
        return self.machine.clock()

    async def sleep(self, seconds: float) -> None:
        """Wait in virtual time."""
        await self.kernel.sleep(seconds)

    @coroutine
    def cpu(self, seconds: float) -> Generator[float, Any, None]:
        """Use CPU time of a healthy core; this takes longer when cores are busy."""
        now = self.kernel.now
        self.process.cpu_s += seconds
        wait_s = self.container.cpu.charge(now, seconds) - now
        yield wait_s if wait_s > 0.0 else 0.0

    def use_background_cpu(self, share: float) -> None:
        """Use a share of a core for as long as the process lives: timers, garbage collection, statistics."""
        self.spawn(self._work_in_background(share), "background work")

    async def _work_in_background(self, share: float) -> None:
        random = self.random("background work")
        while True:
            await self.kernel.sleep(BACKGROUND_S)
            seconds = share * BACKGROUND_S * random.uniform(0.7, 1.3)
            self.process.cpu_s += seconds
            self.container.cpu.charge(self.kernel.now, seconds)

    @property
    def memory(self) -> Memory:
        """The process's resident memory."""
        return self.process.memory

    @property
    def signals(self) -> Signals:
        """How the process answers signals."""
        return self.process.signals

    def capable(self, capability: str) -> bool:
        """Whether the process has one of the rights of root (``NET_ADMIN``)."""
        return self.files.uid == 0 and capability in self.capabilities

    @property
    def capabilities(self) -> tuple[str, ...]:
        """What root may do here: what the process brought along, else what its container allows."""
        own = self.process.capabilities
        return own if own is not None else self.container.capabilities

    @property
    def on_machine(self) -> bool:
        """Whether the root of the process's files is the machine's own: outside containers, or after a chroot."""
        return self.files.table is self.machine.host.files.table

    def chroot(self, files: Files) -> None:
        """See other files from their root on; what this process becomes or starts sees them, too."""
        view = files.fork()
        view.uid, view.gid, view.umask, view.cwd = self.files.uid, self.files.gid, self.files.umask, "/"
        view.life = self.files.life
        self.process.files = self.files = view

    def random(self, name: str) -> random.Random:
        """A random stream of this container."""
        return self.kernel.random(f"{self.container.name}/{name}")

    def spend_turn(self, count: int = 1) -> None:
        """Pay for turns of a loop that might never end otherwise."""
        process = self.process
        process.unpaid_turns += count
        process.budget.spend_turns(count, self.kernel.now)

    async def pay_time(self) -> None:
        """Let the CPU time pass that turns have cost so far, once it is worth an event.

        Interpreters call this now and then: a loop that never sleeps keeps a core busy, and whoever
        set it a time limit gets to act.
        """
        process = self.process
        if process.unpaid_turns >= PAY_TURNS:
            seconds, process.unpaid_turns = process.unpaid_turns * TURN_CPU_S, 0
            await self.cpu(seconds)

    def spend_bytes(self, count: int) -> None:
        """Pay for data produced or held."""
        self.process.budget.spend_bytes(count, self.kernel.now)

    # -- network -------------------------------------------------------------------------------

    def listen(self, port: int, protocol: str, address: str = "0.0.0.0", backlog: int = BACKLOG) -> Listener:
        """Accept connections of that protocol on a port, until the process ends."""
        return self.container.namespace.listen(port, protocol, address, self.process, backlog)

    async def dial(
        self, host: str, port: int, protocol: str, timeout_s: float = CONNECT_TIMEOUT_S
    ) -> Connection:
        """Connect to a host (a name or an address); raises a ``NetworkError`` when that fails."""
        return await self.container.namespace.dial(host, port, protocol, timeout_s, owner=self.process)

    # -- other tasks and processes -------------------------------------------------------------

    def spawn(self, work: Coroutine[Any, Any, Any], name: str) -> Task[Any]:
        """Run something beside the main task, as a thread of this process."""
        return self.process.spawn(work, name)

    def start(
        self,
        argv: list[str],
        *,
        program: AnyProgram | None = None,
        env: Mapping[str, str] | None = None,
        fds: Mapping[int, Stream] | None = None,
        cwd: str | None = None,
        new_group: bool = False,
    ) -> Process:
        """Start a child process, by default with this one's environment, folder and streams.

        Raises ``CommandNotFound``, ``NotExecutable`` or ``ForkFailed``.
        """
        files = self.files.fork()
        if cwd is not None:
            files.chdir(cwd)
        return self.container.launch(
            argv,
            program=program,
            env=dict(self.env if env is None else env),
            files=files,
            streams=self.process.streams if fds is None else fds,
            budget=self.process.budget,
            parent=self.process,
            group=None if new_group else self.process.group,
        )

    async def exec(self, argv: list[str], env: Mapping[str, str] | None = None) -> NoReturn:
        """Become another program: same process, same streams, and no way back.

        Raises ``CommandNotFound`` or ``NotExecutable`` when there is no such program.
        """
        environment = dict(self.env if env is None else env)
        program, argv = self.container.find_program(argv, environment, self.files)
        raise BecomeProgram(program, argv, environment, self.process.streams)

    async def run(
        self, argv: list[str], stdin: bytes = b"", env: Mapping[str, str] | None = None
    ) -> Completed:
        """Run a child to its end and collect what it writes."""
        out, err = Capture(), Capture()
        process = self.start(argv, env=env, fds={0: ByteSource(stdin), 1: out, 2: err})
        status = await process.wait()
        return Completed(status, bytes(out.data), bytes(err.data))

    def pipe(self) -> tuple[Stream, Stream]:
        """A new pipe: what is written to the second comes out of the first."""
        pipe = Pipe(self.kernel)
        return pipe.reader, pipe.writer

    def exit(self, status: int) -> NoReturn:
        """End the program here."""
        raise ExitProgram(status)


class FifoMeeting:
    """A named pipe: those who open it wait for somebody at the other end."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._pipe: Pipe | None = None
        self._waiting: dict[bool, list[Any]] = {True: [], False: []}

    async def enter(self, write: bool) -> Stream:
        """Open one end; returns when the other end is open too."""
        pipe = self._pipe
        if pipe is None or (pipe.reader.closed and pipe.writer.closed):
            pipe = self._pipe = Pipe(self._kernel)
            pipe.reader.close()  # nobody holds an end yet
            pipe.writer.close()
        end: Stream = (pipe.writer if write else pipe.reader).dup()
        other = pipe.reader if write else pipe.writer
        for waiter in self._waiting[not write]:
            waiter.set()
        self._waiting[not write].clear()
        if other.closed:
            opened: Event[None] = Event(self._kernel)
            self._waiting[write].append(opened)
            await opened.wait()
        return end
