"""curl, for HTTP, in the words of curl 7.88."""

from aiopslab.machine.shell.commands.net.curl import command

__all__ = ["command"]
