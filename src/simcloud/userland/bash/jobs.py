"""The table of background jobs, which ``&`` fills and ``jobs``, ``wait``, ``kill`` and ``disown`` use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simcloud.machine.process import NullStream, Process, Signal, Stream
from simcloud.sim import Event, first_of
from simcloud.userland.bash.job import DESCRIPTIONS, Job
from simcloud.userland.bash.pipelines import start_background
from simcloud.userland.bash.printer import command_text
from simcloud.userland.bash.syntax import Command

if TYPE_CHECKING:
    from simcloud.userland.bash.interfaces import Shell

STATE_WIDTH: Final = 24
MAX_REMEMBERED: Final = 1024


class Jobs:
    """The jobs of one shell."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.table: dict[int, Job] = {}
        self.inherited: dict[int, Job] = {}
        """Jobs of the shell this one was copied from: only to be shown."""
        self.statuses: dict[int, int] = {}
        """Exit statuses of finished background processes, kept for ``wait``."""
        self.known: dict[int, Process] = {}

    def remember(self, process: Process) -> None:
        """A process that has no job but may be waited for."""
        self.known[process.pid] = process
        while len(self.known) > MAX_REMEMBERED:
            del self.known[next(iter(self.known))]

    async def background(self, command: Command) -> int:
        """Start a command with ``&``."""
        shell = self.shell
        fds: dict[int, Stream] = {**shell.ctx.process.streams, 0: NullStream()}
        processes = await start_background(shell, command, fds, new_group=shell.is_interactive)
        self.sweep()
        job = Job(max(self.table, default=0) + 1, processes, command_text(command))
        self.table[job.number] = job
        for process in processes:
            self.remember(process)
        shell.last_background = job.pid
        if shell.is_interactive:
            await shell.err(f"[{job.number}] {job.pid}\n")
        return 0

    # -- looking up ----------------------------------------------------------------------------

    def current(self) -> Job | None:
        """``%+``: the job started last that still runs, or just the last."""
        running = [job for job in self.table.values() if job.running]
        jobs = running or list(self.table.values())
        return jobs[-1] if jobs else None

    def previous(self) -> Job | None:
        """``%-``."""
        current = self.current()
        others = [job for job in self.table.values() if job is not current]
        running = [job for job in others if job.running]
        candidates = running or others
        return candidates[-1] if candidates else None

    def find(self, spec: str) -> Job | None:
        """The job that ``%1``, ``%+``, ``%-``, ``%name`` or ``%?text`` means."""
        name = spec.removeprefix("%")
        if name in ("", "+", "%"):
            return self.current()
        if name == "-":
            return self.previous() or self.current()
        if name.isdigit():
            return self.table.get(int(name[:9]))
        for job in self.table.values():
            if (name[0] == "?" and name[1:] in job.text) or job.text.startswith(name):
                return job
        return None

    def by_pid(self, pid: int) -> Job | None:
        """The job a process belongs to."""
        for job in self.table.values():
            if any(process.pid == pid for process in job.processes):
                return job
        return None

    def mark(self, job: Job) -> str:
        """``+`` for the current job, ``-`` for the one before it."""
        if job is self.current():
            return "+"
        return "-" if job is self.previous() else " "

    def line(self, job: Job, with_pids: bool = False) -> str:
        """The line ``jobs`` prints."""
        pid = f"{job.processes[0].pid:5d} " if with_pids else " "
        suffix = " &" if job.running and not job.stopped else ""
        return f"[{job.number}]{self.mark(job)} {pid}{job.describe():<{STATE_WIDTH}}{job.text}{suffix}\n"

    # -- endings -------------------------------------------------------------------------------

    def forget(self, job: Job) -> None:
        """Take a finished job off the table; its status stays known."""
        self.table.pop(job.number, None)
        self.statuses[job.pid] = job.status
        while len(self.statuses) > MAX_REMEMBERED:
            del self.statuses[next(iter(self.statuses))]

    async def reap(self) -> None:
        """Between commands: drop finished jobs, telling about those that a signal killed."""
        if not self.shell.is_interactive:
            await self.report_ended()

    async def report_ended(self) -> None:
        """Report the jobs that have ended since; an interactive shell does so after each program, and forgets them."""
        for job in list(self.table.values()):
            if not job.running and not job.notified:
                await self.report_end(job)
        if self.shell.is_interactive:
            self.sweep()

    async def report_end(self, job: Job) -> None:
        """Report the end of a job: an interactive shell always, others only if a signal killed it."""
        if self.shell.is_interactive:
            await self.shell.err(self.line(job))
        else:
            await self.announce(job.processes[-1], job.text)
        job.notified = True

    def sweep(self) -> None:
        """Forget jobs whose end has been reported."""
        for job in list(self.table.values()):
            if job.notified:
                self.forget(job)

    async def announce(self, process: Process, text: str, foreground: bool = False) -> None:
        """Report that a signal killed a process, in the cases where bash does."""
        signal = process.ended_by
        shell = self.shell
        if signal is not None and shell.traps.terminated_by is not None:
            await shell.ctx.kernel.sleep(0)  # the same signal ends the shell: its cancellation comes here
        if signal is None or signal in (Signal.INT, Signal.PIPE):
            return
        description = DESCRIPTIONS.get(signal, f"Unknown signal {int(signal)}")
        if shell.mode == "interactive" or signal is Signal.TERM or shell.traps.is_trapped(signal):
            if foreground:
                await shell.err(f"{description}\n")
        else:
            place = f" line {shell.line}:" if shell.mode == "script" else ""
            await shell.err(
                f"{shell.error_name}:{place} {process.pid:5d} {description:<{STATE_WIDTH}}{text}\n"
            )

    async def wait_for(self, process: Process) -> int | None:
        """Wait for a process; None when a trapped signal came first."""
        if not process.alive:
            return process.status
        traps = self.shell.traps
        if not traps.any_set:
            return await process.wait()
        if traps.pending:
            return None
        signalled = traps.arrival()
        which, _ = await first_of(
            self.shell.ctx.kernel, [process.wait(), _none(signalled)], f"wait[{self.shell.ctx.process.pid}]"
        )
        return process.status if which == 0 or not process.alive else None


async def _none(event: Event[None]) -> int:
    await event.wait()
    return 0
