"""xargs: build command lines from input and run them."""

from aiopslab.machine.shell.commands.file.batching import command

__all__ = ["command"]
