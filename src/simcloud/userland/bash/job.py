"""One background job: its processes, and its state as ``jobs`` prints it."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from simcloud.machine.process import Process, Signal

DESCRIPTIONS: Final = {
    Signal.HUP: "Hangup", Signal.INT: "Interrupt", Signal.QUIT: "Quit", Signal.ILL: "Illegal instruction",
    Signal.TRAP: "Trace/breakpoint trap", Signal.ABRT: "Aborted", Signal.BUS: "Bus error",
    Signal.FPE: "Floating point exception", Signal.KILL: "Killed", Signal.USR1: "User defined signal 1",
    Signal.SEGV: "Segmentation fault", Signal.USR2: "User defined signal 2", Signal.PIPE: "Broken pipe",
    Signal.ALRM: "Alarm clock", Signal.TERM: "Terminated", Signal.STKFLT: "Stack fault",
    Signal.XCPU: "CPU time limit exceeded", Signal.XFSZ: "File size limit exceeded",
    Signal.VTALRM: "Virtual timer expired", Signal.PROF: "Profiling timer expired", Signal.IO: "I/O possible",
    Signal.PWR: "Power failure", Signal.SYS: "Bad system call",
}  # fmt: skip


class Job(Struct):
    """A background command: its processes and its source text."""

    number: int
    processes: list[Process]
    text: str
    notified: bool = False

    @property
    def pid(self) -> int:
        """The process that ``$!`` names: the last of a pipeline."""
        return self.processes[-1].pid

    @property
    def running(self) -> bool:
        """Whether any of its processes is alive."""
        return any(process.alive for process in self.processes)

    @property
    def stopped(self) -> bool:
        """Whether it was stopped by a signal."""
        return any(process.alive and process.stopped for process in self.processes)

    @property
    def status(self) -> int:
        """The exit status of its last process."""
        return self.processes[-1].status

    def describe(self) -> str:
        """The state as ``jobs`` prints it."""
        if self.running:
            return "Stopped" if self.stopped else "Running"
        signal = self.processes[-1].ended_by
        if signal is not None:
            return DESCRIPTIONS.get(signal, f"Unknown signal {int(signal)}")
        return "Done" if self.status == 0 else f"Exit {self.status}"
