"""find: walk folders, test what is there, act on it."""

from aiopslab.machine.shell.commands.file.finding import command

__all__ = ["command"]
