"""Commands over the machine itself: its clock, its processes, its memory, who one is."""

from aiopslab.machine.shell.commands.system import (
    date,
    environment,
    identity,
    kernel,
    launching,
    lookup,
    memory,
    mounting,
    open_files,
    processes,
    uptime,
    waiting,
    watching,
)

__all__ = [
    "date",
    "environment",
    "identity",
    "kernel",
    "launching",
    "lookup",
    "memory",
    "mounting",
    "open_files",
    "processes",
    "uptime",
    "waiting",
    "watching",
]
