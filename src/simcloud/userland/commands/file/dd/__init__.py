"""dd: copy blocks of bytes, and say how many."""

from simcloud.userland.commands.file.dd import command

__all__ = ["command"]
