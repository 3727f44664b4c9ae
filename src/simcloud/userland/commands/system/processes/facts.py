"""The properties of a process that ps and top print."""

from __future__ import annotations

from typing import Final

from simcloud.machine.proc import vary
from simcloud.machine.process import MAX_PID, PAGE_BYTES, Context, Process
from simcloud.userland.commands.system.accounts import Accounts
from simcloud.userland.commands.system.dates import Moment, format_moment, zone_of

DAY_S: Final = 86_400
PID_WIDTH: Final = len(str(MAX_PID - 1))


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
        parent = process.visible_parent
        return self.pid(parent) if parent is not None and parent in self.processes else 0

    def group(self, process: Process) -> int:
        """The number of its process group, as seen from here."""
        leader = process.container.processes.get(process.group)
        return self.pid(leader) if leader is not None else process.group

    def session(self, process: Process) -> int:
        """The number of the process that leads its session."""
        return self.pid(process.session) if process.session in self.processes else 0

    def terminal(self, process: Process) -> str:
        """The terminal of its session."""
        return process.session.terminal or "?"

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
        """R for the one that asks, else the state in which it waits."""
        return "R" if process is self._ctx.process else process.state

    def full_state(self, process: Process) -> str:
        """With < or N for its priority, s for the leader of a session, l for several threads and + in the foreground."""
        priority = "<" if process.nice < 0 else "N" if process.nice else ""
        leader = "s" if process.session is process else ""
        return (
            self.state(process)
            + priority
            + leader
            + "l" * (process.threads > 1)
            + "+" * self._is_foreground(process)
        )

    def _is_foreground(self, process: Process) -> bool:
        """A shell is in the foreground of its terminal while no command is."""
        leader = process.session
        if not leader.terminal or process.group != leader.group:
            return False
        return process is not leader or not any(
            child.group == leader.group for child in leader.children.values()
        )

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
        return process.memory.resident_bytes // PAGE_BYTES * (PAGE_BYTES // 1024)

    def virtual_kib(self, process: Process) -> int:
        """The address space it has."""
        return process.virtual_bytes // 1024

    def common_kib(self, process: Process) -> int:
        """The part of its resident memory that others may share: mostly its program's file."""
        return int(self.resident_kib(process) * (0.35 + vary(process.name) / 4)) // 4 * 4


def clock(seconds: float) -> str:
    """``[DD-]HH:MM:SS``."""
    whole = int(seconds)
    text = f"{whole // 3600 % 24:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"
    return f"{whole // DAY_S}-{text}" if whole >= DAY_S else text


def format_elapsed(seconds: float) -> str:
    """``[[DD-]HH:]MM:SS``."""
    text = clock(seconds)
    return text.removeprefix("00:") if text.startswith("00:") and seconds < 3600 else text
