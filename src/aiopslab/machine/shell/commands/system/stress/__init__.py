"""stress and stress-ng: programs that use up a machine on purpose."""

from aiopslab.machine.shell.commands.system.stress import command, next_generation

__all__ = ["command", "next_generation"]
