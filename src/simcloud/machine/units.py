"""The services of a machine and its init system: start, stop, restart, journal.

A unit runs one process of the machine's own. Code that provides a service creates a ``Unit``; ``systemctl`` and the
boot of the machine do the rest. Events of units are written to the machine's journal, to which services may write
too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple, Protocol

from simcloud.machine.process.process import Process
from simcloud.machine.process.signals import Signal
from simcloud.sim import Kernel, TimedOut

JOURNAL_LINES: Final = 5_000
STOP_TIMEOUT_S: Final = 90.0
"""A process that has not ended by then after it was asked to is killed."""


class Entry(NamedTuple):
    """One line of the journal; the time is the machine's."""

    time_s: float
    unit: str
    sender: str
    text: str


class Journal:
    """What services and the init system have had to say, the oldest forgotten. It lasts through a reboot."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._entries: deque[Entry] = deque(maxlen=JOURNAL_LINES)

    def add(self, unit: str, sender: str, text: str) -> None:
        """A line about a unit; ``sender`` is a program with its process number (``kubelet[2]``)."""
        self._entries.append(Entry(self._clock(), unit, sender, text))

    def entries(self, unit: str = "") -> list[Entry]:
        """All lines there are, or those about one unit."""
        return [each for each in self._entries if not unit or each.unit == unit]


class ServiceHost(Protocol):
    """What a unit needs of its machine."""

    kernel: Kernel
    name: str
    running: bool
    journal: Journal
    units: dict[str, Unit]

    def clock(self) -> float:
        """The machine's idea of the time: virtual seconds since 1970, skew included."""


class Unit:
    """One service. ``launch`` starts its process; after a death that nobody asked for it is started again."""

    def __init__(
        self,
        machine: ServiceHost,
        name: str,
        description: str,
        launch: Callable[[], Process],
        *,
        documentation: str = "",
        restart_s: float | None = None,
    ) -> None:
        self.name = name
        self.description = description
        self.documentation = documentation
        self.enabled = True
        self.masked = False
        self.process: Process | None = None
        self.state = "inactive"
        self.since_s = machine.clock()
        self.result = ""
        """How the last process ended, as the init system words it; empty while none has."""
        self._machine = machine
        self._launch = launch
        self._restart_s = restart_s
        self._restarts = 0
        machine.units[name] = self

    @property
    def running(self) -> bool:
        """Whether its process lives."""
        return self.process is not None and self.process.alive

    def start(self) -> None:
        """Start the process, unless it runs."""
        if self.running:
            return
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
        if process is None or not process.alive:
            return
        try:
            await process.ended.wait(STOP_TIMEOUT_S)
        except TimedOut:
            self._say(f"{self.name}: State 'stop-sigterm' timed out. Killing.")
            process.send(Signal.KILL, outside=True)

    def lose_power(self) -> None:
        """Become inactive without a journal entry, because the machine lost power."""
        self._become("inactive")

    async def _watch(self, process: Process) -> None:
        await process.wait()
        if process is not self.process:
            return
        how = process.ended_by
        if self.state == "deactivating":
            self.result = _result(process)
            self._become("inactive")
            self._say(f"{self.name}: Deactivated successfully.")
            self._say(f"Stopped {self.name} - {self.description}.")
            return
        self.result = _result(process)
        clean = process.status == 0 or how is Signal.TERM
        if not clean:
            self._say(f"{self.name}: Main process exited, {self.result}")
            self._say(f"{self.name}: Failed with result '{'signal' if how else 'exit-code'}'.")
        if self._restart_s is None:
            self._become("inactive" if clean else "failed")
            return
        self._become("activating")
        await self._machine.kernel.sleep(self._restart_s)
        if self.state == "activating" and self._machine.running:
            self._restarts += 1
            self._say(f"{self.name}: Scheduled restart job, restart counter is at {self._restarts}.")
            self.start()

    def _become(self, state: str) -> None:
        self.state, self.since_s = state, self._machine.clock()

    def _say(self, text: str) -> None:
        self._machine.journal.add(self.name, "systemd[1]", text)


def _result(process: Process) -> str:
    if process.ended_by is not None:
        return f"code=killed, status={int(process.ended_by)}/{process.ended_by.name}"
    return f"code=exited, status={process.status}/{'SUCCESS' if process.status == 0 else 'FAILURE'}"


def start_enabled(units: Iterable[Unit]) -> None:
    """What happens at the end of a boot."""
    for unit in list(units):
        if unit.enabled and not unit.masked:
            unit.start()
