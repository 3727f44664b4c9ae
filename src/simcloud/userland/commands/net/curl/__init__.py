"""curl, for HTTP, in the words of curl 7.88."""

from simcloud.userland.commands.net.curl import command

__all__ = ["command"]
