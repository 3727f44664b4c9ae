"""tc: control how packets leave an interface."""

from simcloud.userland.commands.net.traffic_control import command as command
