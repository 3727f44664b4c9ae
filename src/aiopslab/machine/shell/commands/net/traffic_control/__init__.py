"""tc: what happens to packets on their way out of an interface."""

from aiopslab.machine.shell.commands.net.traffic_control import command

__all__ = ["command"]
