"""Commands over the machine itself: its clock, its processes, its memory, who one is."""

from aiopslab.machine.shell.commands.system import clock, date, identity, processes, signals, status

__all__ = ["clock", "date", "identity", "processes", "signals", "status"]
