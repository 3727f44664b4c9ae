"""Commands over the network: curl, wget, nc, ping, dig, nslookup, ss, netstat, ip, tc, iptables, ssh, openssl."""

from aiopslab.machine.shell.commands.net import (
    certificates,
    curl,
    interfaces,
    names,
    netcat,
    older_forms,
    packet_filter,
    ping,
    sockets,
    ssh,
    traffic_control,
    wget,
)

__all__ = [
    "certificates",
    "curl",
    "interfaces",
    "names",
    "netcat",
    "older_forms",
    "packet_filter",
    "ping",
    "sockets",
    "ssh",
    "traffic_control",
    "wget",
]
