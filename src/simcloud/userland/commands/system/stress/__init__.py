"""stress and stress-ng: programs that load a machine on purpose."""

from simcloud.userland.commands.system.stress import command, stress_ng

__all__ = ["command", "stress_ng"]
