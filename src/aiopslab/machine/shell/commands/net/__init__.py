"""Commands over the network: curl, wget, nc, ping, dig, nslookup, ss, netstat, ip, openssl."""

from aiopslab.machine.shell.commands.net import (
    certificates,
    curl,
    interfaces,
    names,
    netcat,
    older_forms,
    ping,
    sockets,
    wget,
)

__all__ = ["certificates", "curl", "interfaces", "names", "netcat", "older_forms", "ping", "sockets", "wget"]
