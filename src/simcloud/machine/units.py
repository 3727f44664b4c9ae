"""The services of a machine and its init system: start, stop, restart, journal.

A unit runs one process of the machine's own. Code that provides a service creates a ``Unit``; ``systemctl`` and the
boot of the machine do the rest. Events of units are written to the machine's journal, to which services may write
too (``log``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Final, Protocol
from zlib import crc32

from simcloud.machine.journal import INFO, INIT, NOTICE, WARNING, Journal
from simcloud.machine.process.container import Host
from simcloud.machine.process.process import Process
from simcloud.machine.process.signals import Signal
from simcloud.sim import TimedOut

STOP_TIMEOUT_S: Final = 90.0
"""A process that has not ended by then after it was asked to is killed."""

PREPARATION_PIDS: Final = 8
"""The commands that run before a service start others in turn."""
PACKAGED: Final = "/lib/systemd/system"
LOCAL: Final = "/etc/systemd/system"


class ServiceHost(Host, Protocol):
    """What a unit needs of its machine."""

    journal: Journal
    units: dict[str, Unit]


class Unit:
    """One service. ``launch`` starts its process; after a death that nobody asked for it is started again.

    Its unit file and drop-ins are files of the machine: ``folder`` says where, ``text`` and ``drop_ins`` what they
    contain. Changing them has no effect on the service.
    """

    def __init__(
        self,
        machine: ServiceHost,
        name: str,
        description: str,
        launch: Callable[[], Process],
        *,
        documentation: str = "",
        restart_s: float | None = None,
        text: str = "",
        drop_ins: Mapping[str, str] | None = None,
        folder: str = PACKAGED,
        group: str = "/system.slice",
    ) -> None:
        self.name = name
        self.description = description
        self.documentation = documentation
        self.enabled = True
        self.masked = False
        self.process: Process | None = None
        self.state = "inactive"
        self.since_s = machine.clock()
        self.active_s: float | None = None
        """When it last became active."""
        self.result = ""
        """How the last process ended, as the init system words it; empty while none has."""
        self.restart_s = restart_s
        self.restarts = 0
        self.path = f"{folder}/{name}"
        self.drop_ins = [f"{folder}/{name}.d/{file}" for file in drop_ins or ()]
        self.cgroup_path = f"{group}/{name}"
        settings = "\n".join((text, *(drop_ins or {}).values())).splitlines()
        self.has_task_limit = "TasksMax=infinity" not in settings
        commands = [
            line.removeprefix("ExecStartPre=") for line in settings if line.startswith("ExecStartPre=")
        ]
        self.preparations = {command.lstrip("-").replace('"', ""): 0 for command in commands}
        """The commands that run before its process starts, and the number that each last had as a process."""
        self.helpers: dict[Process, None] = {}
        """Other processes that belong to it."""
        self._machine = machine
        self._launch = launch
        self._ended: Process | None = None
        """The last process whose end was noticed."""
        machine.units[name] = self
        self._write_files(text, drop_ins or {})

    def _write_files(self, text: str, drop_ins: Mapping[str, str]) -> None:
        files = self._machine.host.files
        documentation = "".join(f"Documentation={page}\n" for page in self.documentation.split())
        files.mkdir(self.path.rpartition("/")[0], 0o755, parents=True)
        files.put(
            self.path, f"[Unit]\nDescription={self.description}\n{documentation}{text}".encode(), mode=0o644
        )
        for path, content in zip(self.drop_ins, drop_ins.values(), strict=True):
            files.mkdir(path.rpartition("/")[0], 0o755, parents=True)
            files.put(path, content.encode(), mode=0o644)

    def log(self, text: str, written_s: float = 0.0) -> None:
        """Write a line of the service's own output to the journal; ``written_s`` is the time that the line names."""
        process = self.process
        if process is not None:
            identifier, command = _name_command(*process.argv)
            self._machine.journal.add(self.name, identifier, process.host_pid, text, INFO, command, written_s)

    @property
    def running(self) -> bool:
        """Whether its process lives."""
        return self.process is not None and self.process.alive

    def list_processes(self) -> list[Process]:
        """Its living processes, the main one first."""
        main = [self.process] if self.process is not None else []
        return [process for process in (*main, *self.helpers) if process.alive]

    def start(self) -> None:
        """Start the process, unless it runs."""
        if self.running:
            return
        self._machine.host.use_pids(1 + crc32(self.name.encode()) % 14)  # what systemd runs before it
        for index, command in enumerate(self.preparations):
            step = PREPARATION_PIDS * index // len(self.preparations)
            self.preparations[command] = self._machine.host.last_pid + step
        if self.preparations:
            self._machine.host.use_pids(PREPARATION_PIDS)
        self.process = self._launch()
        self._become("active")
        self._say(f"Started {self.name} - {self.description}.")
        self._machine.kernel.spawn(self._watch(self.process), f"{self._machine.name}: {self.name}")

    def stop(self) -> None:
        """Ask the process to end; it is not started again. ``stopped`` waits for it."""
        if self.state == "activating":
            self._become("inactive")
        process = self.process
        if process is None or not process.alive:
            return
        self._become("deactivating")
        self._say(f"Stopping {self.name} - {self.description}...")
        process.send(Signal.TERM, outside=True)

    async def wait_stopped(self) -> None:
        """Wait until the process has ended, and kill it when that takes too long."""
        process = self.process
        if process is None:
            return
        try:
            if process.alive:
                await process.ended.wait(STOP_TIMEOUT_S)
        except TimedOut:
            self._say(f"{self.name}: State 'stop-sigterm' timed out. Killing.", WARNING)
            process.send(Signal.KILL, outside=True)
        self._notice_end(process)

    def date_back(self, seconds: float) -> None:
        """Make its state older."""
        self.since_s -= seconds
        self.active_s = self.active_s - seconds if self.active_s is not None else None

    def lose_power(self) -> None:
        """Become inactive without a journal entry, because the machine lost power."""
        self._become("inactive")

    async def _watch(self, process: Process) -> None:
        await process.wait()
        self._notice_end(process)
        if self.state != "activating" or self.restart_s is None or process is not self.process:
            return
        await self._machine.kernel.sleep(self.restart_s)
        if self.state == "activating" and self._machine.running:
            self.restarts += 1
            self._say(f"{self.name}: Scheduled restart job, restart counter is at {self.restarts}.")
            self._say(f"Stopped {self.name} - {self.description}.")
            self.start()

    def _notice_end(self, process: Process) -> None:
        """Draw the conclusions from the end of the process, once."""
        if process is not self.process or process.alive or self._ended is process:
            return
        self._ended = process
        self.result = _result(process)
        clean = process.status == 0 or process.ended_by is Signal.TERM
        if self.state == "deactivating":
            self._become("inactive")
            self._say(f"{self.name}: Deactivated successfully.")
            self._say(f"Stopped {self.name} - {self.description}.")
        elif clean:
            self._say(f"{self.name}: Deactivated successfully.")
            self._become("inactive" if self.restart_s is None else "activating")
        else:
            self._say(f"{self.name}: Main process exited, {self.result}", NOTICE)
            kind = "signal" if process.ended_by else "exit-code"
            self._say(f"{self.name}: Failed with result '{kind}'.", WARNING)
            self._become("failed" if self.restart_s is None else "activating")
        if process.cpu_s >= 0.001:
            self._say(f"{self.name}: Consumed {format_cpu_time(process.cpu_s)} CPU time.")

    def _become(self, state: str) -> None:
        self.state, self.since_s = state, self._machine.clock()
        if state == "active":
            self.active_s = self.since_s

    def _say(self, text: str, priority: int = INFO) -> None:
        self._machine.journal.add(self.name, INIT, 1, text, priority, "/sbin/init")


@lru_cache(maxsize=256)
def _name_command(*argv: str) -> tuple[str, str]:
    """Return the name and the line of a command. All lines of a journal share them."""
    return argv[0].rpartition("/")[2], " ".join(argv)


def _result(process: Process) -> str:
    if process.ended_by is not None:
        return f"code=killed, status={int(process.ended_by)}/{process.ended_by.name}"
    return f"code=exited, status={process.status}/{'SUCCESS' if process.status == 0 else 'FAILURE'}"


def format_cpu_time(seconds: float) -> str:
    """A span of processor time as systemd writes it: ``1min 2.345s``, ``210ms``."""
    words = []
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        count, seconds = divmod(seconds, size)
        if count:
            words.append(f"{count:.0f}{unit}")
    if seconds >= 1 or words:
        words.append(f"{seconds:.3f}s")
    else:
        words.append(f"{seconds * 1000:.0f}ms")
    return " ".join(words)


def start_enabled(units: Iterable[Unit]) -> None:
    """What happens at the end of a boot."""
    for unit in list(units):
        if unit.enabled and not unit.masked:
            unit.start()
