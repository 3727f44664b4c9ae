"""Addresses and ports as tools print them, and the sockets of a namespace with their processes."""

from __future__ import annotations

from collections.abc import Iterator

from simcloud.machine.files import FileError
from simcloud.machine.network import DUAL, ONLY_IPV6, WILDCARDS, Endpoint, SocketInfo
from simcloud.machine.process import Context, Process


def format_endpoint(endpoint: Endpoint, wildcard: str = "") -> str:
    """``address:port`` as netstat prints it, with a star for no port; wildcard addresses may have another look."""
    address, port = endpoint
    if wildcard and address in (*WILDCARDS, ONLY_IPV6):
        address = wildcard
    return f"{DUAL if address == ONLY_IPV6 else address}:{port or '*'}"


def show_address(socket: SocketInfo, address: str) -> str:
    """An address of a socket as ss prints it."""
    if address == DUAL:
        return "*"
    if address == ONLY_IPV6 or not socket.is_ipv6:
        return address
    return f"[::ffff:{address}]" if ":" not in address else f"[{address}]"


def sockets_with_owners(ctx: Context) -> Iterator[tuple[SocketInfo, Process, int]]:
    """Every socket of a process that can be seen from here, with that process and a descriptor number for it.

    Sockets are no streams here, so their descriptors are numbered behind those of the process.
    """
    used: dict[int, int] = {}
    visible = ctx.container.visible()
    for socket in ctx.container.namespace.sockets():
        owner = socket.owner
        if isinstance(owner, Process) and visible.get(ctx.container.pid_seen(owner)) is owner:
            fd = used.get(owner.host_pid, owner.first_socket)
            used[owner.host_pid] = fd + 1
            yield socket, owner, fd


def service_name(ctx: Context, port: int, transport: str) -> str | None:
    """The name that /etc/services has for a port; None where it has none, or is not there at all."""
    try:
        text = ctx.files.read("/etc/services").decode("utf-8", "replace")
    except FileError:
        return None
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if len(words) > 1 and words[1] == f"{port}/{transport}":
            return words[0]
    return None
