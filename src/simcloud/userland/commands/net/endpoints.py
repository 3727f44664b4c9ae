"""Addresses and ports as tools print them, and the sockets of a namespace with their processes."""

from __future__ import annotations

from collections.abc import Iterator

from simcloud.machine.files import FileError
from simcloud.machine.network import SocketInfo
from simcloud.machine.process import Context, Process

WILDCARD = "0.0.0.0"


def format_endpoint(endpoint: tuple[str, int], wildcard: str = WILDCARD) -> str:
    """``address:port``, with a star for no port; the wildcard address may have another look."""
    address, port = endpoint
    return f"{wildcard if address == WILDCARD else address}:{port or '*'}"


def sockets_with_owners(ctx: Context) -> Iterator[tuple[SocketInfo, Process, int]]:
    """Every socket that belongs to a process, with that process and a descriptor number for it.

    Sockets are no streams here, so their descriptors are numbered behind those of the process.
    """
    used: dict[int, int] = {}
    for socket in ctx.container.namespace.sockets():
        owner = socket.owner
        if isinstance(owner, Process) and owner.alive:
            fd = used.get(owner.host_pid, max([2, *owner.streams]) + 1)
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
