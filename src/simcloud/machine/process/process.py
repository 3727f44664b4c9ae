"""A process: a program's main task, its children, its open streams, and how it ends.

Death comes in one order only: the process is marked dead and its files are taken away, the machine's
kernel frees its ports and connections, its streams are closed, and then its coroutines are dropped.
Whatever clean-up code they still hold finds nothing to act on: a killed database flushes nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, Final, NamedTuple, Protocol
from zlib import crc32

from simcloud.machine.emit import Metrics
from simcloud.machine.files import Files
from simcloud.machine.network.namespace import Namespace
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

FORK_CPU_S: Final = 0.0012
"""The CPU time that the kernel takes to start a program; nothing waits for it."""
LOADING_CPU_S: Final = 0.0005
LOADING_CPU_OF_S: Final = {"curl": 0.011}
"""The CPU time it takes to start a program from its file; with many libraries, more."""

START_TURNS: Final = 20
"""What starting a program costs of its work's budget of turns."""

PAGE_BYTES: Final = 4096
BASE_PAGES: Final = 512
SIZES: Final = {
    "init": (3_155, 38_909), "systemd-journald": (4_250, 8_190), "systemd-udevd": (1_790, 5_040), "ps": (1_035, 1_737),
    "systemd-logind": (1_960, 4_420), "dbus-daemon": (1_150, 1_170), "cron": (670, 980), "agetty": (262, 1_206),
    "sshd": (2_255, 1_603), "bash": (1_003, 796),
}  # fmt: skip
"""Pages of programs that are resident at their start, and what their address space has beside them."""
HOST_OPEN_FILES: Final = (1024, 524_288)
MOST_OPEN_FILES: Final = 1_048_576
MOST_OWN_DESCRIPTORS: Final = 13
RUNTIME_BYTES: Final = 1180 * 1024**2
"""The address space that the runtime of a language or a server reserves beside its heap."""
SMALL_BYTES: Final = 8 * 1024**2
"""Programs with less memory than this are plain C."""


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
    cgroup_path: str
    oom_score_adj: int
    supervisor: Process | None
    namespace: Namespace

    @property
    def is_host(self) -> bool:
        """Whether it has the machine's own processes."""

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

    def use_pids(self, count: int) -> None:
        """Use up process numbers for the threads of a process."""

    def free(self, process: Process, silent: bool) -> None:
        """Release what a dead process held."""

    def relieve_memory(self) -> None:
        """Kill the largest process while the container or its machine is over its memory."""

    def oom_kill(self, process: Process, *, cgroup: bool) -> None:
        """Kill a process for want of memory."""

    def report_fault(self, process: Process) -> None:
        """Let the kernel log that a process used memory that it does not have."""


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


class Counted(NamedTuple):
    """Counters of a program: attributes of an object, or entries of a dictionary (all if no names are given)."""

    owner: Any
    names: tuple[str, ...] = ()
    most: Callable[[str], float] | None = None
    """How much the one of that name can have counted before it was observed."""
    rates: Callable[[float, float], Mapping[str, float]] | None = None
    """What each counts per second from one time to another, for counters that learn of it later."""


class Process:
    """One running program in a container."""

    __slots__ = (
        "_threads", "accounts", "alive", "argv", "budget", "capabilities", "children", "children_cpu_s",
        "comm", "container", "counted", "cpu_s", "ended", "ended_by", "env", "files", "group",
        "held_network", "host_pid", "kernel", "main", "memory", "metrics", "on_skip", "open_files",
        "parent", "pid", "report", "session", "signals", "started_at", "status", "stopped", "streams",
        "terminal", "unpaid_turns",
    )  # fmt: skip

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
        self.session: Process = parent.session if parent is not None else self
        """The process that leads its session."""
        self.terminal = ""
        """The terminal of the session that it leads."""
        self.signals: Signals = Signals(parent.signals if parent is not None else None)
        self.children: dict[int, Process] = {}
        self.started_at = self.kernel.now
        self.cpu_s = 0.0
        self.children_cpu_s = 0.0
        """CPU time of children that have ended, and of theirs."""
        self._threads = 1
        self.open_files = HOST_OPEN_FILES if container.is_host else (MOST_OPEN_FILES, MOST_OPEN_FILES)
        """The limits, soft and hard, that it is shown to have."""
        self.comm = ""
        """The name it has given itself, if any."""
        self.capabilities: tuple[str, ...] | None = parent.capabilities if parent is not None else None
        """What it may do as root, if it entered its container from elsewhere; None for what the container allows."""
        self.held_network: Namespace | None = None
        """The network namespace of the pod that it holds, if it does; its container is the machine's then."""
        self.unpaid_turns = 0
        self.alive = True
        self.stopped = False
        self.status = 0
        self.ended_by: Signal | None = None
        self.ended: Event[int] = Event(self.kernel)
        self.main: Task[None] | None = None
        self.metrics: Metrics | None = None
        self.report: Callable[[], Any] | None = None
        """Returns what the program tells a client that asks for its state; exporters read it without packets."""
        self.accounts: Callable[[], dict[str, str]] | None = None
        """Returns the users and roles of a database, each with its permissions as text."""
        self.counted: list[Counted] = []
        """What the program counts of its work."""
        self.on_skip: list[Callable[[float], None]] = []
        """Called with the seconds when time is skipped, after the machine's clock was set."""
        if parent is not None:
            parent.children[pid] = self
        self.memory = Memory(self, self._choose_size())

    def __repr__(self) -> str:
        return f"<Process {self.pid} {' '.join(self.argv)[:60]}>"

    @property
    def name(self) -> str:
        """The program's base name, as ``ps`` shows it."""
        return self.comm or (self.argv[0].rpartition("/")[2].removeprefix("-")[:15] if self.argv else "")

    @property
    def _program(self) -> str:
        """The base name of its program, whatever it calls itself (``-bash``, ``sshd: root@pts/0``)."""
        return self.argv[0].partition(":")[0].rpartition("/")[2].lstrip("-") if self.argv else ""

    def _choose_size(self) -> int:
        """Return the memory that it has from the start, in bytes."""
        pages = SIZES.get(self._program, (BASE_PAGES, 0))[0]
        if self.container.is_host or self._program in SIZES:
            pages += crc32(f"{self.container.name}/{self._program}".encode()) % (pages // 6)
        return pages * PAGE_BYTES

    @property
    def state(self) -> str:
        """T for stopped, else S: a process that can be looked at is waiting for something."""
        return "T" if self.stopped else "S"

    @property
    def nice(self) -> int:
        """How much it lets others go first."""
        return 0

    @property
    def threads(self) -> int:
        """How many threads it has. A new one takes a process number."""
        return self._threads

    @threads.setter
    def threads(self, count: int) -> None:
        self.container.use_pids(max(0, count - self._threads))
        self._threads = count

    @property
    def virtual_bytes(self) -> int:
        """Its address space: libraries and reserved room, beside what is resident."""
        resident, own = self.memory.resident_bytes, crc32(self.name.encode()) % 1000 / 1000
        if self._program in SIZES:
            size: float = resident + SIZES[self._program][1] * PAGE_BYTES
        elif resident < SMALL_BYTES:
            size = resident + (2.2 + 3 * own) * 1024**2
        else:
            size = 2 * resident + RUNTIME_BYTES * (0.99 + own / 4)
        return int(size) // PAGE_BYTES * PAGE_BYTES

    def start_runtime(self) -> None:
        """Start the threads of a language's runtime."""
        self.threads = 7 + crc32(f"{self.container.name}/threads".encode()) % 6

    @property
    def first_socket(self) -> int:
        """The descriptor of its first socket, after its streams and what a runtime waits for events with."""
        return max(2, *self.streams) + min(self._threads, MOST_OWN_DESCRIPTORS)

    @property
    def visible_parent(self) -> Process | None:
        """Its parent as the machine sees it: for a container's first process, the one that supervises the container."""
        supervisor = self.container.supervisor
        return self.parent or (supervisor if supervisor is not self else None)

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
            if ending.signal is Signal.SEGV:
                self.container.report_fault(self)
            self._end(128 + ending.signal, ending.signal)
        except LimitExceeded as limit:
            await self._complain(str(limit))
            self._end(LIMIT_STATUS, None)
        except ProcessDead:
            pass

    def _become(self, image: BecomeProgram) -> ProgramContext:
        self.budget.spend_turns(START_TURNS, self.kernel.now)
        self.argv, self.env, self.comm = image.argv, image.env, ""
        for stream in self.streams.values():
            stream.close()
        self.streams = image.streams
        self.signals = Signals(self.signals)
        self.on_skip.clear()
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

    __slots__ = ("_process", "_spare", "declared_bytes", "resident_bytes")

    def __init__(self, process: Process, resident_bytes: int) -> None:
        self._process = process
        self._spare = 0.0
        self.declared_bytes = 0
        self.resident_bytes = 0
        self.use(resident_bytes)

    def use(self, size_bytes: int) -> None:
        """Set the memory of the process. This may trigger the OOM killer."""
        process = self._process
        self.declared_bytes = size_bytes
        if self._spare:
            size_bytes = int(size_bytes * (1.0 - self._spare)) & ~4095
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
        self.use(max(0, self.declared_bytes + change_bytes))

    def set_spare(self, share: float) -> None:
        """Keep a share of what the process declares out of its resident memory: pages that it has not touched."""
        if share != self._spare:
            self._spare = share
            self.use(self.declared_bytes)
