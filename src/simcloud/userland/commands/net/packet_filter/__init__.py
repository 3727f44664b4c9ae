"""iptables: which packets a machine or a pod lets pass."""

from simcloud.userland.commands.net.packet_filter import command

__all__ = ["command"]
