"""Name queries of the lookup tools, to a name server if there is one.

On a machine whose resolver is only a table there is no server to ask; then the table answers instead.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from simcloud.machine.files import FileError
from simcloud.machine.network import (
    ConnectionRefused,
    DnsSettings,
    NameNotFound,
    NetworkError,
    StubResolver,
    dns,
    is_address,
    read_resolv_conf,
    stub_resolver,
)
from simcloud.machine.process import Context
from simcloud.sim import TimedOut

DEFAULT_SERVER: Final = "127.0.0.53"
CODES: Final = {"NOERROR": 0, "SERVFAIL": 2, "NXDOMAIN": 3, "REFUSED": 5}
TIMEOUT_S: Final = 5.0
TRIES: Final = 3
NO_ANSWER: Final = "no servers could be reached"


class Answer(NamedTuple):
    """A DNS status and the records found; ``complaints`` are the failed attempts."""

    verdict: str
    addresses: list[str]
    records: tuple[dns.Record, ...] = ()
    authority: tuple[dns.Record, ...] = ()
    name: str = ""
    authoritative: bool = False
    from_server: bool = False
    complaints: tuple[str, ...] = ()


class Server(NamedTuple):
    """A name server with its timeout and number of attempts."""

    address: str
    port: int = dns.PORT
    timeout_s: float = TIMEOUT_S
    tries: int = TRIES


def settings_of(ctx: Context) -> DnsSettings:
    """Parse /etc/resolv.conf."""
    try:
        return read_resolv_conf(ctx.files.read("/etc/resolv.conf").decode("utf-8", "replace"))
    except FileError:
        return DnsSettings()


def name_server(ctx: Context) -> str:
    """The first name server of /etc/resolv.conf."""
    return next(iter(settings_of(ctx).nameservers), DEFAULT_SERVER)


async def look_up(
    ctx: Context, name: str, kind: str = "A", server: Server | None = None, search: bool = False
) -> Answer:
    """The records of a name. With ``search``, the domains of /etc/resolv.conf are tried as well."""
    if server is None and not isinstance(ctx.container.namespace.resolver, StubResolver):
        return await _in_table(ctx, name, kind)
    chosen = server if server is not None else Server(name_server(ctx))
    names = [each for each, _ in stub_resolver.candidates(name, settings_of(ctx))] if search else [name]
    answer = Answer(dns.NXDOMAIN, [])
    for candidate in names:
        answer = await _at_server(ctx, dns.Question(dns.plain_name(candidate), kind), chosen)
        if answer.records or answer.verdict not in (dns.NOERROR, dns.NXDOMAIN):
            return answer
    return answer


async def _at_server(ctx: Context, question: dns.Question, server: Server) -> Answer:
    complaints = []
    where = f"{server.address}#{server.port}"
    for _ in range(server.tries):
        try:
            reply: dns.Reply = await dns.ask(
                ctx.container.namespace,
                server.address,
                question,
                server.timeout_s,
                server.port,
                ctx.process,
            )
        except TimedOut:
            complaints.append(f";; communications error to {where}: timed out\n")
        except ConnectionRefused:
            complaints.append(f";; communications error to {where}: connection refused\n")
        except NetworkError as error:
            complaints.append(f";; communications error to {where}: {str(error).lower()}\n")
        else:
            return Answer(
                reply.code,
                reply.addresses,
                reply.answers,
                reply.authority,
                question.name,
                reply.authoritative,
                from_server=True,
                complaints=tuple(complaints),
            )
    return Answer(NO_ANSWER, [], name=question.name, complaints=tuple(complaints))


async def _in_table(ctx: Context, name: str, kind: str) -> Answer:
    """Return the answer of a resolver that is only a table of addresses."""
    try:
        addresses = await ctx.container.namespace.resolve(name)
    except NameNotFound:
        return Answer(dns.NXDOMAIN, [])
    except NetworkError:
        return Answer(dns.SERVFAIL, [])
    found = addresses if kind in ("A", "ANY") else []
    return Answer(
        dns.NOERROR, found, tuple(dns.Record(dns.plain_name(name), "A", each) for each in found), name=name
    )


async def look_up_host(ctx: Context, name: str) -> tuple[str, list[str]]:
    """The full name and the addresses that the C library finds for a name, with /etc/hosts. Raises ``NetworkError``."""
    namespace = ctx.container.namespace
    if isinstance(namespace.resolver, StubResolver) and not is_address(name):
        return await namespace.resolver.look_up(namespace, name)
    return name, await namespace.resolve(name)


def reverse_name(address: str) -> str:
    """The name by which an address is looked up."""
    return ".".join([*reversed(address.split(".")), "in-addr", "arpa"]) if is_address(address) else address
