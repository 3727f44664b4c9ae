"""A container: processes that share a root filesystem, a network namespace and limits.

A machine's own processes live in a container too, its host: one whose files are the machine's disk and
whose limits are the machine's. What a container can run is the set of programs it was given; each
appears as an executable file on its PATH.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from simcloud.machine.emit import Emitter, Labels
from simcloud.machine.files import Disk, FileError, Files
from simcloud.machine.network.namespace import Namespace
from simcloud.machine.process.capabilities import DEFAULT
from simcloud.machine.process.cpu import ContainerCpu, MachineCpu
from simcloud.machine.process.errors import CommandNotFound, ForkFailed, NotExecutable
from simcloud.machine.process.kernel_threads import list_kernel_threads
from simcloud.machine.process.limits import Budget, Limits
from simcloud.machine.process.pids import MAX_PID, PidSpace
from simcloud.machine.process.process import (
    FORK_CPU_S,
    LOADING_CPU_OF_S,
    LOADING_CPU_S,
    START_TURNS,
    AnyProgram,
    Process,
    ProgramContext,
)
from simcloud.machine.process.signals import Signal
from simcloud.machine.process.streams import Capture, NullStream, Stream
from simcloud.sim import Kernel

BINARY: Final = b"\x7fELF\x02\x01\x01\x00program:"
"""How the file of a built-in program begins; the program's name follows."""

DEFAULT_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
TERMINAL: Final = "pts/0"
THREADS_PER_S: Final = 0.0007
"""New threads of a program with several: pools shrink and grow again."""


class Log(Protocol):
    """Where a container's output goes when it has a log."""

    def line(self, text: str, stream: str = "stdout", written_s: float = 0.0) -> None:
        """One line, without its newline."""

    def stream(self, name: str) -> Stream:
        """A stream whose lines go to the log."""


class MachineLog(Protocol):
    """What containers report to the kernel log of their machine."""

    def report_oom(self, victim: Process, container: Container, *, cgroup: bool) -> None:
        """A process is killed because its container, or else the machine, is out of memory."""

    def report_fault(self, process: Process) -> None:
        """A process is killed because it used memory that it does not have."""


class Host(Protocol):
    """What a container, and /proc inside it, need of their machine."""

    kernel: Kernel
    name: str
    kernel_release: str
    cgroup_version: int
    cpu: MachineCpu
    pids: PidSpace
    memory_bytes: int
    memory_used_bytes: int
    disk: Disk
    emitter: Emitter
    running: bool
    booted_at: float
    caches_dropped_at: float
    machine_id: str
    settings: dict[str, str]
    containers: dict[str, Container]
    processes: dict[int, Process]
    host: Container

    @property
    def kernel_log(self) -> MachineLog:
        """The kernel's own log."""

    @property
    def boot_id(self) -> str:
        """32 hexadecimal digits that no other boot has."""

    def clock(self) -> float:
        """The machine's idea of the time: virtual seconds since 1970, skew included."""

    def context_of(self, process: Process, container: Container) -> ProgramContext:
        """Make the context that a program running in that process gets."""

    def relieve_memory(self) -> None:
        """Kill the largest process while the machine is out of memory."""

    def cgroup_of(self, process: Process) -> str:
        """The control group of a process, as a path from the root of the machine's hierarchy."""

    def remove_container(self, name: str) -> Container:
        """Kill what runs in a container and forget it."""


class Container:
    """Where processes live."""

    def __init__(
        self,
        machine: Host,
        name: str,
        files: Files,
        namespace: Namespace,
        programs: Mapping[str, AnyProgram],
        *,
        env: Mapping[str, str] | None = None,
        hostname: str | None = None,
        limits: Limits | None = None,
        cpu_limit: float | None = None,
        memory_limit_bytes: int | None = None,
    ) -> None:
        self.machine = machine
        self.kernel: Kernel = machine.kernel
        self.name = name
        self.hostname: str = hostname if hostname is not None else name
        self.files = files
        self.namespace = namespace
        self.programs = programs
        self.env = {"PATH": DEFAULT_PATH, "HOME": "/root", **(env or {})}
        self.limits = limits if limits is not None else Limits()
        self.cpu: ContainerCpu = ContainerCpu(machine.cpu, cpu_limit)
        self.memory_limit_bytes: int | None = memory_limit_bytes
        self.memory_bytes: int = 0
        self.memory_peak_bytes: int = 0
        self.oom_kills: int = 0
        self.capabilities: tuple[str, ...] = DEFAULT
        """What root in here may do."""
        self.host_pids = False
        """Whether it has the machine's process numbers instead of its own; given before anything runs."""
        self.oom_group = False
        """Whether all of it dies when it is over its memory limit, and not only its largest process."""
        self.cgroup_path = "/system.slice"
        """Where the kernel accounts for it, as seen from the machine."""
        self.oom_score_adj = 0
        self.supervisor: Process | None = None
        """The process of the machine that started it."""
        self.log: Log | None = None
        self.labels: Labels = ()
        """What telemetry calls it (container, namespace, node, pod); given once by whoever runs it, () for none."""
        self.processes: dict[int, Process] = {}
        self._namespace_members: list[Container] = [self]
        """The containers of its PID namespace; the first one numbers the processes of all."""
        self._own_pids = PidSpace()
        self._first_pid = 1
        self._kernel_threads: tuple[tuple[float, float], dict[int, Process]] | None = None
        """Those of its machine, as they were when somebody in here last looked."""

    def __repr__(self) -> str:
        return f"<Container {self.name} on {self.machine.name}>"

    # -- starting ------------------------------------------------------------------------------

    def start(
        self,
        argv: list[str],
        *,
        program: AnyProgram | None = None,
        env: Mapping[str, str] | None = None,
        streams: Mapping[int, Stream] | None = None,
        cwd: str | None = None,
        uid: int = 0,
        gid: int = 0,
        parent: Process | None = None,
    ) -> Process:
        """Start a process from outside: a container's main program, or an ``exec`` into it.

        ``-bash`` starts a login shell. Raises ``CommandNotFound`` or ``NotExecutable`` when there is no such program.
        """
        files = self.files.fork()
        files.uid, files.gid = uid, gid
        if cwd is not None:
            files.chdir(cwd)
        environment = {**self.env, "HOSTNAME": self.hostname, **(env or {})}
        if program is None and argv[0].startswith("-"):
            program, _ = self.find_program([argv[0][1:]], environment, files)
        process = self.launch(
            argv,
            program=program,
            env=environment,
            files=files,
            streams=streams or {},
            budget=Budget(self.limits, self.kernel.now),
            parent=parent,
            group=None,
        )
        process.session = process
        if any(stream.isatty for stream in process.streams.values()):
            process.terminal = TERMINAL
        return process

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
        """Start a process with everything given; ``start`` and ``Context.start`` are the usual ways."""
        if not self.machine.running:
            raise NotExecutable(f"machine {self.machine.name} is not running")
        budget.spend_turns(START_TURNS, self.kernel.now)
        loading_s = 0.0
        if program is None:
            program, argv = self.find_program(argv, env, files)
            loading_s = LOADING_CPU_OF_S.get(argv[0], LOADING_CPU_S)
        if len(self.processes) >= self.limits.processes:
            raise ForkFailed
        held = {number: stream.dup() for number, stream in streams.items()}
        for number in (0, 1, 2):
            if number not in held:
                held[number] = NullStream()
        machine = self.machine
        host_pid = machine.pids.take(self.kernel.now - machine.booted_at, machine.processes)
        pid = host_pid if self._sees_machine else self._take_own_pid()
        if not self.processes:
            self._first_pid = pid
        process = Process(self, pid, host_pid, argv, env, files, held, budget, parent, group)
        process.cpu_s = FORK_CPU_S if loading_s else 0.0
        self.processes[pid] = process
        self.machine.processes[host_pid] = process
        process.begin(program, self.context_of(process), loading_s)
        return process

    def context_of(self, process: Process) -> ProgramContext:
        """Make the context that a program running in that process gets."""
        return self.machine.context_of(process, self)

    def find_program(
        self, argv: list[str], env: Mapping[str, str], files: Files
    ) -> tuple[AnyProgram, list[str]]:
        """The program that a command line names, and the argv it gets (scripts name an interpreter)."""
        path = self.which(argv[0], env, files)
        if path is None:
            raise CommandNotFound(argv[0])
        return self._load(path, argv, env, files)

    def which(self, name: str, env: Mapping[str, str], files: Files) -> str | None:
        """The file a command name stands for: as it is when it has a slash, else along the PATH."""
        if "/" in name:
            if files.is_dir(name):
                raise NotExecutable("Is a directory")
            if not files.exists(name):
                raise CommandNotFound(name)
            if not files.access(name, "x"):
                raise NotExecutable("Permission denied")
            return name
        for folder in env.get("PATH", "").split(":"):
            candidate = f"{folder or '.'}/{name}"
            if files.is_file(candidate) and files.access(candidate, "x"):
                return candidate
        return None

    def _load(
        self, path: str, argv: list[str], env: Mapping[str, str], files: Files
    ) -> tuple[AnyProgram, list[str]]:
        try:
            with_magic = files.open(path)
            head = with_magic.read(256)
            with_magic.close()
        except FileError as error:
            raise NotExecutable(error.strerror) from None
        if head.startswith(BINARY):
            name = head[len(BINARY) :].decode()
            program = self._programs_in(files).get(name)
            if program is None:
                raise NotExecutable("cannot execute binary file: Exec format error")
            return program, argv
        if head.startswith(b"#!"):
            line = head[2:].partition(b"\n")[0].decode("utf-8", "replace").split(None, 1)
            if line:
                interpreter = [line[0], *line[1:]]
                if interpreter[0].rpartition("/")[2] == "env" and len(interpreter) > 1:
                    interpreter = interpreter[1].split()
                    found = self.which(interpreter[0], env, files)
                    if found is None:
                        raise CommandNotFound(interpreter[0])
                    interpreter[0] = found
                if not files.exists(interpreter[0]):
                    raise NotExecutable(f"{interpreter[0]}: bad interpreter: No such file or directory")
                return self._load(interpreter[0], [*interpreter, path, *argv[1:]], env, files)
        if b"\0" in head:
            raise NotExecutable("cannot execute binary file: Exec format error")
        shell = self._programs_in(files).get("sh")
        if shell is None:
            raise NotExecutable("Exec format error")
        return shell, ["sh", path, *argv[1:]]

    def _programs_in(self, files: Files) -> Mapping[str, AnyProgram]:
        """The programs of the image whose root is seen; after a chroot into the machine's, those of the machine."""
        host = self.machine.host
        return host.programs if files.table is host.files.table else self.programs

    def _take_own_pid(self) -> int:
        first = self._namespace_members[0]
        return first._own_pids.take(first._age_s(), first.processes)

    def join_processes(self, other: Container) -> None:
        """Share the PID namespace of another container, before anything runs in this one."""
        self._namespace_members = other._namespace_members
        self._namespace_members.append(self)

    def use_pids(self, count: int) -> None:
        """Use up process numbers for the threads of a process."""
        self.machine.pids.used += count
        if not self._sees_machine:
            own_pids = self._namespace_members[0]._own_pids
            own_pids.used += count
            own_pids.forks_per_s = THREADS_PER_S

    @property
    def last_pid(self) -> int:
        """The process number that was handed out last, as seen from inside."""
        up_s = self.kernel.now - self.machine.booted_at
        first = self._namespace_members[0]
        seen = self.machine.pids.count(up_s) if self._sees_machine else first._own_pids.count(first._age_s())
        return seen % MAX_PID

    def _age_s(self) -> float:
        first = self.processes.get(self._first_pid)
        return self.kernel.now - first.started_at if first is not None else 0.0

    @property
    def is_host(self) -> bool:
        """Whether this is the machine's own container, from which all its processes are visible."""
        return self.machine.host is self

    @property
    def _sees_machine(self) -> bool:
        return self.host_pids or self.is_host

    def visible(self) -> dict[int, Process]:
        """The processes that can be seen from inside, by the number they have there."""
        programs = self.visible_programs()
        if self._sees_machine:
            return dict(sorted((self._list_kernel_threads() | programs).items()))
        return programs

    def visible_programs(self) -> dict[int, Process]:
        """The same without threads of the kernel."""
        if self._sees_machine:
            return dict(sorted(self.machine.processes.items()))
        members = self._namespace_members
        return dict(sorted((pid, process) for member in members for pid, process in member.processes.items()))

    def _list_kernel_threads(self) -> dict[int, Process]:
        machine = self.machine
        instant = self.kernel.now, machine.booted_at
        if self._kernel_threads is None or self._kernel_threads[0] != instant:
            age_s = self.kernel.now - machine.booted_at
            found = list_kernel_threads(machine.host, age_s, machine.cpu.cores, machine.pids)
            self._kernel_threads = instant, found
        return self._kernel_threads[1]

    def pid_seen(self, process: Process) -> int:
        """The number a process has for those inside this container."""
        return process.host_pid if self._sees_machine else process.pid

    # -- ending --------------------------------------------------------------------------------

    def free(self, process: Process, silent: bool) -> None:
        """Take back what a dead process held: memory, ports, connections, its place in the tree."""
        process.memory.use(0)
        if process.metrics is not None:
            self.machine.emitter.withdraw(process.metrics)
        if not silent:
            self.namespace.release(process)
        self.processes.pop(process.pid, None)
        self.machine.processes.pop(process.host_pid, None)
        parent = process.parent
        if parent is not None:
            parent.children.pop(process.pid, None)
            parent.children_cpu_s += process.cpu_s + process.children_cpu_s
        first = self.processes.get(self._first_pid)
        for child in process.children.values():
            child.parent = first
            if first is not None:
                first.children[child.pid] = child
        process.children = {}
        if process.pid == self._first_pid and not silent:
            self.kill_all(Signal.KILL)
        elif parent is not None:
            parent.send(Signal.CHLD)

    def kill_all(self, signal: Signal) -> None:
        """Send a signal to every process, from outside."""
        for process in list(self.processes.values()):
            process.send(signal, outside=True)

    def relieve_memory(self) -> None:
        """Kill the largest process while the container or its machine is over its memory."""
        limit = self.memory_limit_bytes
        while limit is not None and self.memory_bytes > limit and self.processes:
            self.oom_kill(self._largest(), cgroup=True)
            if self.oom_group:
                for process in list(self.processes.values()):
                    process.die(Signal.KILL)
        self.machine.relieve_memory()

    def _largest(self) -> Process:
        return max(self.processes.values(), key=lambda process: (process.memory.resident_bytes, process.pid))

    def oom_kill(self, process: Process, *, cgroup: bool) -> None:
        """Kill a process for want of memory: of its cgroup, or else of the machine."""
        self.oom_kills += 1
        self.machine.kernel_log.report_oom(process, self, cgroup=cgroup)
        process.die(Signal.KILL)

    def report_fault(self, process: Process) -> None:
        """Let the kernel log that a process used memory that it does not have."""
        self.machine.kernel_log.report_fault(process)

    # -- conveniences --------------------------------------------------------------------------

    def run(
        self,
        argv: list[str],
        stdin: Stream | None = None,
        env: Mapping[str, str] | None = None,
        limit_s: float = 86_400.0,
    ) -> Completed:
        """Run a command to its end from outside the world, advancing virtual time."""
        out, err = Capture(), Capture()
        streams: dict[int, Stream] = {1: out, 2: err}
        if stdin is not None:
            streams[0] = stdin
        process = self.start(argv, env=env, streams=streams)
        self.kernel.run_task(self.kernel.spawn(process.wait(), f"wait for {process.name}"), limit_s)
        return Completed(process.status, bytes(out.data), bytes(err.data))


class Completed:
    """How a command ended and what it wrote."""

    __slots__ = ("status", "stderr", "stdout")

    def __init__(self, status: int, stdout: bytes, stderr: bytes) -> None:
        self.status = status
        self.stdout = stdout
        self.stderr = stderr

    def __repr__(self) -> str:
        return f"Completed(status={self.status}, stdout={self.stdout!r}, stderr={self.stderr!r})"
