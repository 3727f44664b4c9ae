"""tc: what happens to packets on their way out of an interface."""

from simcloud.userland.commands.net.traffic_control import command

__all__ = ["command"]
