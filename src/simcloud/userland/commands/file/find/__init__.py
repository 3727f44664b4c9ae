"""find: walk folders, test what is there, act on it."""

from simcloud.userland.commands.file.find import command

__all__ = ["command"]
