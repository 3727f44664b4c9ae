"""ls and its kin, and tree."""

from aiopslab.machine.shell.commands.file.listing import command, tree

__all__ = ["command", "tree"]
