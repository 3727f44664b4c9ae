"""The properties of a process that ps and top print."""

from __future__ import annotations

from typing import Final

from simcloud.machine.proc import state_letter
from simcloud.machine.process import MAX_PID, Context, Process
from simcloud.userland.commands.system.accounts import Accounts
from simcloud.userland.commands.system.dates import Moment, format_moment, zone_of

DAY_S: Final = 86_400
PID_WIDTH: Final = len(str(MAX_PID - 1))
VIRTUAL_SHARE: Final = 2
"""Address space per resident byte."""


class Facts:
    """The properties of the processes that are visible to a command."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._accounts = Accounts(ctx.files)
        self._zone = zone_of(ctx.env)
        self.processes: list[Process] = list(ctx.container.visible().values())

    def pid(self, process: Process) -> int:
        """Its number, as seen from here."""
        return self._ctx.container.pid_seen(process)

    def parent_pid(self, process: Process) -> int:
        """The number of its parent; 0 when that cannot be seen from here."""
        parent = process.parent
        return self.pid(parent) if parent is not None and parent in self.processes else 0

    def group(self, process: Process) -> int:
        """The number of its process group, as seen from here."""
        leader = process.container.processes.get(process.group)
        return self.pid(leader) if leader is not None else process.group

    def session(self, process: Process) -> int:
        """The number of its session: that of the first process its container was given."""
        while process.parent is not None and process.parent in self.processes and process.parent.pid != 1:
            process = process.parent
        return self.pid(process)

    def user(self, process: Process) -> str:
        """The name of its user."""
        return self._accounts.user(process.uid)

    def group_name(self, process: Process) -> str:
        """The name of its group of users."""
        return self._accounts.group(process.files.gid)

    def user_number(self, name: str) -> int | None:
        """The number of a user by name or number."""
        number = self._accounts.uid(name)
        return int(name) if number is None and name.isdecimal() and name.isascii() else number

    def command_line(self, process: Process) -> str:
        """All its words; of one that has none, its name in brackets."""
        return " ".join(process.argv) if process.argv else f"[{process.name}]"

    def state(self, process: Process) -> str:
        """R for the one that asks, T for stopped, else S."""
        return "R" if process is self._ctx.process else state_letter(process)

    def full_state(self, process: Process) -> str:
        """With an s for the leader of a session."""
        return self.state(process) + ("s" if self.session(process) == self.pid(process) else "")

    def age_s(self, process: Process) -> float:
        """Return the running time of a process."""
        return self._ctx.kernel.now - process.started_at

    def start_time(self, process: Process, form: str) -> str:
        """Return the start time of a process."""
        return format_moment(Moment.of(self._ctx.now - self.age_s(process)), form, self._zone)

    def start_clock(self, process: Process) -> str:
        """The hour it was started, or the day if that is more than a day ago."""
        return self.start_time(process, "%H:%M" if self.age_s(process) < DAY_S else "%b%d")

    def cpu_percent(self, process: Process) -> float:
        """Its share of one core, over its life."""
        whole_s = int(self.age_s(process))
        return min(100.0 * process.cpu_s / whole_s, 999.9) if whole_s else 0.0

    def memory_percent(self, process: Process) -> float:
        """Its share of the machine's memory."""
        return 100 * process.memory.resident_bytes / self._ctx.machine.memory_bytes

    def resident_kib(self, process: Process) -> int:
        """The memory it holds."""
        return process.memory.resident_bytes // 1024

    def virtual_kib(self, process: Process) -> int:
        """The address space it has."""
        return self.resident_kib(process) * VIRTUAL_SHARE


def clock(seconds: float) -> str:
    """``[DD-]HH:MM:SS``."""
    whole = int(seconds)
    text = f"{whole // 3600 % 24:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"
    return f"{whole // DAY_S}-{text}" if whole >= DAY_S else text


def format_elapsed(seconds: float) -> str:
    """``[[DD-]HH:]MM:SS``."""
    text = clock(seconds)
    return text.removeprefix("00:") if text.startswith("00:") and seconds < 3600 else text
