"""iptables: which packets a machine or a pod lets pass."""

from aiopslab.machine.shell.commands.net.packet_filter import command

__all__ = ["command"]
