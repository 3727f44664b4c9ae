"""iptables: the packet filter of a machine or a pod."""

from simcloud.userland.commands.net.packet_filter import command as command
