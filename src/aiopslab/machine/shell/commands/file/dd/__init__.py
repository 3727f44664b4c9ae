"""dd: copy blocks of bytes, and say how many."""

from aiopslab.machine.shell.commands.file.dd import command

__all__ = ["command"]
