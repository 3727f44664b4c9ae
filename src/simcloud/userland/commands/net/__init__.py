"""Commands on the network: curl, wget, nc, ping, dig, nslookup, ss, netstat, ip, tc, iptables, ssh, openssl."""

from simcloud.userland.commands.net import (
    curl,
    ifconfig,
    interfaces,
    names,
    netcat,
    openssl,
    packet_filter,
    ping,
    sockets,
    ssh,
    traffic_control,
    wget,
)

__all__ = [
    "curl",
    "ifconfig",
    "interfaces",
    "names",
    "netcat",
    "openssl",
    "packet_filter",
    "ping",
    "sockets",
    "ssh",
    "traffic_control",
    "wget",
]
