"""A process: a program's main task, its children, its open streams, and how it ends.

Death comes in one order only: the process is marked dead and its files are taken away, the machine's
kernel frees its ports and connections, its streams are closed, and then its coroutines are dropped.
Whatever clean-up code they still hold finds nothing to act on: a killed database flushes nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, Final, Protocol

from simcloud.machine.emit import Metrics
from simcloud.machine.files import Files
from simcloud.machine.process.errors import (
    ExitProgram,
    KilledBySignal,
    LimitExceeded,
    ProcessDead,
)
from simcloud.machine.process.limits import Budget, Limits
from simcloud.machine.process.signals import IGNORED_BY_DEFAULT, STOPPING, Signal, Signals
from simcloud.machine.process.streams import Stream
from simcloud.sim import Cancelled, Event, Kernel, Task

AnyProgram = Callable[[Any], Coroutine[Any, Any, int | None]]
"""A program as the process layer sees it; ``Program`` of this package says what the argument is."""

LIMIT_STATUS: Final = 125
"""The exit status of a program that ran into a count limit."""

LOADING_CPU_S: Final = 0.0005
"""The CPU time it takes to load a program from its file."""

START_TURNS: Final = 20
"""What starting a program costs of its work's budget of turns."""

BASE_RESIDENT_BYTES: Final = 2 * 1024 * 1024


class ProgramContext(Protocol):
    """What a process needs of the context that its program gets."""

    def cpu(self, seconds: float) -> Awaitable[None]:
        """Compute for that many seconds of a healthy core."""


class MachineMemory(Protocol):
    """What a process needs of its machine: the memory account."""

    memory_bytes: int
    memory_used_bytes: int


class ProcessContainer(Protocol):
    """What a process needs of the container it runs in."""

    kernel: Kernel
    name: str
    files: Files
    limits: Limits
    memory_bytes: int
    memory_peak_bytes: int
    processes: dict[int, Process]

    @property
    def machine(self) -> MachineMemory:
        """The machine that the container runs on."""

    def context_of(self, process: Process) -> ProgramContext:
        """Make the context that a program running in that process gets."""

    def launch(
        self,
        argv: list[str],
        *,
        program: AnyProgram | None,
        env: dict[str, str],
        files: Files,
        streams: Mapping[int, Stream],
        budget: Budget,
        parent: Process | None,
        group: int | None,
    ) -> Process:
        """Start another process in the container."""

    def free(self, process: Process, silent: bool) -> None:
        """Release what a dead process held."""

    def relieve_memory(self) -> None:
        """Kill the largest process while the container or its machine is over its memory."""

    def oom_kill(self, process: Process, reason: str) -> None:
        """Kill a process for want of memory."""


class BecomeProgram(Cancelled):
    """The process goes on as another program (``ctx.exec``); nothing of this one is left.

    It takes the streams along as they stand: what the old program closes or puts back on its way
    out does not matter to the new one.
    """

    def __init__(
        self, program: AnyProgram, argv: list[str], env: dict[str, str], streams: Mapping[int, Stream]
    ) -> None:
        super().__init__(argv[0])
        self.program = program
        self.argv = argv
        self.env = env
        self.streams = {number: stream.dup() for number, stream in streams.items()}


class Process:
    """One running program in a container."""

    def __init__(
        self,
        container: ProcessContainer,
        pid: int,
        host_pid: int,
        argv: list[str],
        env: dict[str, str],
        files: Files,
        streams: dict[int, Stream],
        budget: Budget,
        parent: Process | None,
        group: int | None,
    ) -> None:
        self.container = container
        self.kernel: Kernel = container.kernel
        self.pid = pid
        self.host_pid = host_pid
        self.argv = argv
        self.env = env
        self.files = files
        self.streams = streams
        self.budget = budget
        self.parent = parent
        self.group = group if group is not None else pid
        self.signals: Signals = Signals(parent.signals if parent is not None else None)
        self.children: dict[int, Process] = {}
        self.started_at = self.kernel.now
        self.cpu_s = 0.0
        self.unpaid_turns = 0
        self.alive = True
        self.stopped = False
        self.status = 0
        self.ended_by: Signal | None = None
        self.ended: Event[int] = Event(self.kernel)
        self.main: Task[None] | None = None
        self.metrics: Metrics | None = None
        if parent is not None:
            parent.children[pid] = self
        self.memory = Memory(self, BASE_RESIDENT_BYTES)

    def __repr__(self) -> str:
        return f"<Process {self.pid} {' '.join(self.argv)[:60]}>"

    @property
    def name(self) -> str:
        """The program's base name, as ``ps`` shows it."""
        return self.argv[0].rpartition("/")[2][:15] if self.argv else ""

    @property
    def uid(self) -> int:
        """The user the process runs as."""
        return self.files.uid

    def begin(self, program: AnyProgram, context: ProgramContext, loading_s: float) -> None:
        """Start the program's main task, after so much CPU time for loading it."""
        name = f"{self.container.name}:{self.name}[{self.pid}]"
        self.main = self.kernel.spawn(self._live(program, context, loading_s), name)

    def spawn(self, work: Coroutine[Any, Any, Any], name: str, supervised: bool = False) -> Task[Any]:
        """Start a task of this process (a thread, a request's handler); it dies with the process."""
        task = self.kernel.spawn(work, name, self.main, supervised)
        if self.stopped:
            task.pause()
        return task

    async def wait(self) -> int:
        """Wait for the end; the status as ``$?`` shows it."""
        return await self.ended.wait()

    async def _live(self, program: AnyProgram, context: ProgramContext, loading_s: float) -> None:
        try:
            while True:
                if loading_s:
                    await context.cpu(loading_s)
                try:
                    status = await program(context)
                    break
                except BecomeProgram as image:
                    program, loading_s = image.program, LOADING_CPU_S
                    context = self._become(image)
            self._end(int(status or 0) & 0xFF, None)
        except ExitProgram as ending:
            self._end(ending.status & 0xFF, None)
        except KilledBySignal as ending:
            self._end(128 + ending.signal, ending.signal)
        except LimitExceeded as limit:
            await self._complain(str(limit))
            self._end(LIMIT_STATUS, None)
        except ProcessDead:
            pass

    def _become(self, image: BecomeProgram) -> ProgramContext:
        self.budget.spend_turns(START_TURNS, self.kernel.now)
        self.argv, self.env = image.argv, image.env
        for stream in self.streams.values():
            stream.close()
        self.streams = image.streams
        self.signals = Signals(self.signals)
        if self.main is not None:
            self.main.drop_children()
        return self.container.context_of(self)

    async def _complain(self, message: str) -> None:
        stream = self.streams.get(2)
        if stream is not None and not stream.closed:
            try:
                await stream.write(f"{self.name}: {message}\n".encode("utf-8", "surrogateescape"))
            except KilledBySignal:
                pass

    # -- signals -------------------------------------------------------------------------------

    def send(self, signal: Signal, outside: bool = False) -> None:
        """Deliver a signal. ``outside`` is whoever stands outside the container, such as its runtime.

        As in Linux, the first process of a container is immune to what it does not handle, and to
        SIGKILL and SIGSTOP too when they come from inside.
        """
        if not self.alive:
            return
        disposition = self.signals.disposition(signal)
        if signal is Signal.CONT and self.stopped:
            self._resume()
        if disposition == "ignore":
            return
        if disposition != "default":
            disposition(signal)
            return
        protected = self.pid == 1 and not (outside and signal in (Signal.KILL, Signal.STOP))
        if protected or signal in IGNORED_BY_DEFAULT:
            return
        if signal in STOPPING:
            self._stop()
        else:
            self.die(signal)

    def _stop(self) -> None:
        self.stopped = True
        if self.main is not None:
            self.main.pause()

    def _resume(self) -> None:
        self.stopped = False
        if self.main is not None:
            self.main.resume()

    # -- the end -------------------------------------------------------------------------------

    def die(self, signal: Signal) -> None:
        """End at once, by a signal that is not handled."""
        self._end(128 + signal, signal)

    def exit(self, status: int) -> None:
        """End at once with a status, whichever of its tasks says so."""
        self._end(status & 0xFF, None)

    def _end(self, status: int, signal: Signal | None) -> None:
        if not self.alive:
            return
        self.alive = False
        self.status = status
        self.ended_by = signal
        self.files.revoke()
        self.container.free(self, silent=False)
        for stream in self.streams.values():
            stream.close()
        self.streams = {}
        self._drop_tasks()
        self.ended.set(status)

    def vanish(self) -> None:
        """End with the machine: close nothing and notify nobody."""
        if self.alive:
            self.alive = False
            self.files.revoke()
            self.container.free(self, silent=True)
            self._drop_tasks()

    def _drop_tasks(self) -> None:
        if self.main is not None:
            self.main.drop_children()
            self.main.drop()


class Memory:
    """One process's resident memory, as it reports it by ``use`` and ``grow``."""

    __slots__ = ("_process", "resident_bytes")

    def __init__(self, process: Process, resident_bytes: int) -> None:
        self._process = process
        self.resident_bytes = 0
        self.use(resident_bytes)

    def use(self, size_bytes: int) -> None:
        """Set the memory of the process. This may trigger the OOM killer."""
        process = self._process
        change = size_bytes - self.resident_bytes
        self.resident_bytes = size_bytes
        container = process.container
        container.memory_bytes += change
        container.memory_peak_bytes = max(container.memory_peak_bytes, container.memory_bytes)
        container.machine.memory_used_bytes += change
        if change > 0:
            container.relieve_memory()
            if not process.alive and process.kernel.current is not None:
                raise ProcessDead

    def grow(self, change_bytes: int) -> None:
        """Increase (or decrease) the memory of the process."""
        self.use(max(0, self.resident_bytes + change_bytes))
