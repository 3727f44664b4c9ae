"""Commands over the network: curl, wget, nc, ping, dig, nslookup, ss, netstat, ip."""

from aiopslab.machine.shell.commands.net import (
    curl,
    interfaces,
    names,
    netcat,
    older_forms,
    ping,
    sockets,
    wget,
)

__all__ = ["curl", "interfaces", "names", "netcat", "older_forms", "ping", "sockets", "wget"]
