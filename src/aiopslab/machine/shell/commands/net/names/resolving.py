"""Asking the resolver, as the tools that look up names see it."""

from __future__ import annotations

from typing import Final, NamedTuple

from aiopslab.machine.files import FileError
from aiopslab.machine.network import NameNotFound, NetworkError, is_address
from aiopslab.machine.process import Context

DEFAULT_SERVER: Final = "127.0.0.53"
CODES: Final = {"NOERROR": 0, "SERVFAIL": 2, "NXDOMAIN": 3}


class Answer(NamedTuple):
    """A verdict in the words of DNS, and the addresses of a name."""

    verdict: str
    addresses: list[str]


def name_server(ctx: Context) -> str:
    """The first name server of /etc/resolv.conf."""
    try:
        text = ctx.files.read("/etc/resolv.conf").decode("utf-8", "replace")
    except FileError:
        return DEFAULT_SERVER
    for line in text.splitlines():
        words = line.split()
        if len(words) > 1 and words[0] == "nameserver":
            return words[1]
    return DEFAULT_SERVER


async def look_up(ctx: Context, name: str, kind: str = "A") -> Answer:
    """What the resolver knows of a name. Only addresses (A) are known."""
    try:
        addresses = await ctx.container.namespace.resolve(name)
    except NameNotFound:
        return Answer("NXDOMAIN", [])
    except NetworkError:
        return Answer("SERVFAIL", [])
    return Answer("NOERROR", addresses if kind in ("A", "ANY") else [])


def reverse_name(address: str) -> str:
    """The name by which an address is looked up."""
    return ".".join([*reversed(address.split(".")), "in-addr", "arpa"]) if is_address(address) else address
