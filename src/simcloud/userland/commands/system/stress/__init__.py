"""stress and stress-ng: programs that use up a machine on purpose."""

from simcloud.userland.commands.system.stress import command, next_generation

__all__ = ["command", "next_generation"]
