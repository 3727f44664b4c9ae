"""The journal of a machine: the messages of its services, of the init system and of the kernel.

Entries outlast a reboot; the oldest are forgotten. Services write all their output at priority ``info``, as systemd
does for what a service prints.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

JOURNAL_LINES: Final = 5_000
RECEIVE_S: Final = 85e-6
"""From a service's writing a line to the journal's reading it."""
STEP_BYTES: Final = 8 * 1024**2
"""The journal's file grows by steps of this size."""
BYTES_PER_S: Final = 13.0
KERNEL: Final = "kernel"
INIT: Final = "systemd"
EMERGENCY, ALERT, CRITICAL, ERROR, WARNING, NOTICE, INFO, DEBUG = range(8)


class Entry(NamedTuple):
    """One line of the journal. ``time_s`` is the machine's clock, ``up_s`` the time since its boot."""

    time_s: float
    up_s: float
    boot_id: str
    unit: str
    """The unit that the line is about; empty for the kernel's."""
    identifier: str
    pid: int
    text: str
    priority: int = INFO
    command: str = ""
    """The command line of the process that wrote it."""

    @property
    def by_init(self) -> bool:
        """Whether the init system wrote it about a unit, and not the unit itself."""
        return self.identifier == INIT


class Journal:
    """The messages of one machine, in the order of time."""

    def __init__(
        self, now: Callable[[], tuple[float, float, str]], kernel: Callable[[], list[Entry]]
    ) -> None:
        self._now = now
        self.sources: list[Callable[[], Iterable[Entry]]] = [kernel]
        """Entries that are made when the journal is read."""
        self._entries: deque[Entry] = deque(maxlen=JOURNAL_LINES)

    def add(
        self,
        unit: str,
        identifier: str,
        pid: int,
        text: str,
        priority: int = INFO,
        command: str = "",
        written_s: float = 0.0,
    ) -> None:
        """Write a line about a unit; it is received just after it was written."""
        time_s, up_s, boot_id = self._now()
        late_s = max(0.0, written_s + RECEIVE_S - time_s) if written_s else 0.0
        entry = Entry(time_s + late_s, up_s + late_s, boot_id, unit, identifier, pid, text, priority, command)
        self._entries.append(entry)

    def date_back(self, seconds: float) -> None:
        """Make all entries older."""
        for _ in range(len(self._entries)):
            entry = self._entries.popleft()
            self._entries.append(entry._replace(time_s=entry.time_s - seconds))

    def close_boot(self) -> None:
        """Store the kernel's messages of the boot that ends."""
        entries = self.list_entries()
        self._entries.clear()
        self._entries.extend(entries)

    def list_entries(self, unit: str = "") -> list[Entry]:
        """Return all entries, or those about one unit."""
        made = (entry for source in self.sources for entry in source())
        found = (entry for entry in (*self._entries, *made) if not unit or entry.unit == unit)
        return sorted(found, key=lambda entry: entry.time_s)

    def measure_bytes(self) -> int:
        """Return the size of the journal's file. A machine logs more than the lines that are kept here."""
        return (1 + int(self._now()[1] * BYTES_PER_S / STEP_BYTES)) * STEP_BYTES
