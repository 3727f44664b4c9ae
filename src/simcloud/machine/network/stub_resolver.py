"""How programs find names where there are name servers, as in a pod: /etc/hosts first, then the name servers of /etc/resolv.conf.

The rules are glibc's. A name with fewer dots than ``ndots`` is first looked for in the search domains, others
first as they are. Each server is given 5 s, all of them twice. Only IPv4 is asked for: nothing else is on this
network, and an AAAA beside every A would only double the traffic.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from simcloud.machine.network.dns import NOERROR, NXDOMAIN, Question, Reply, ask, plain_name
from simcloud.machine.network.errors import ConnectionRefused, NameNotFound, NetworkError, ResolverFailure
from simcloud.sim import TimedOut

if TYPE_CHECKING:
    from simcloud.machine.network.namespace import Namespace

TIMEOUT_S: Final = 5.0
ATTEMPTS: Final = 2
NAMESERVERS: Final = 3
"""Servers beyond the third are ignored, as libc does."""


class DnsSettings(Struct, frozen=True):
    """What /etc/resolv.conf says, and the addresses that /etc/hosts gives to names."""

    nameservers: tuple[str, ...] = ()
    searches: tuple[str, ...] = ()
    ndots: int = 1
    timeout_s: float = TIMEOUT_S
    attempts: int = ATTEMPTS
    options: tuple[str, ...] = ()
    """The options line as the pod's author and the kubelet put it together, for the file."""
    hosts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def resolv_conf(self) -> str:
        """The text of /etc/resolv.conf, as the kubelet writes it."""
        lines = [f"search {' '.join(self.searches)}"] if self.searches else []
        lines += [f"nameserver {server}" for server in self.nameservers]
        if self.options:
            lines.append(f"options {' '.join(self.options)}")
        return "".join(f"{line}\n" for line in lines)


class StubResolver:
    """The resolver of one network namespace."""

    def __init__(self, settings: DnsSettings) -> None:
        self.settings = settings
        self._hosts = {plain_name(name): addresses for name, addresses in settings.hosts.items()}
        self._hosts.setdefault("localhost", ("127.0.0.1",))

    async def resolve(self, namespace: Namespace, name: str) -> list[str]:
        """The addresses of a name; raises ``NameNotFound`` or ``ResolverFailure``."""
        return (await self.look_up(namespace, name))[1]

    async def look_up(self, namespace: Namespace, name: str) -> tuple[str, list[str]]:
        """The full name that was found and its addresses; raises as ``resolve`` does."""
        known = self._hosts.get(plain_name(name))
        if known is not None:
            return name, list(known)
        unanswered = False
        silent = False
        for candidate, is_search in candidates(name, self.settings):
            if silent and is_search:
                continue  # after silence only the name as it is gets another chance
            reply = await self._ask_servers(namespace, candidate, name)
            if reply is None:
                silent = True
            elif reply.code == NOERROR and reply.addresses:
                return reply.answers[-1].name, reply.addresses
            elif reply.code not in (NOERROR, NXDOMAIN):
                unanswered = True
        if silent or unanswered:
            raise ResolverFailure(name, answered=not silent)
        raise NameNotFound(name)

    async def _ask_servers(self, namespace: Namespace, candidate: str, name: str) -> Reply | None:
        """The best answer that the servers gave; None when no server said anything."""
        settings = self.settings
        question = Question(plain_name(candidate), "A")
        servers = settings.nameservers[:NAMESERVERS] or ("127.0.0.1",)
        failure: Reply | None = None
        refusals = 0
        for _ in range(settings.attempts):
            for server in servers:
                try:
                    reply: Reply = await ask(namespace, server, question, settings.timeout_s)
                except ConnectionRefused:
                    refusals += 1
                except TimedOut:
                    continue
                except NetworkError:
                    raise ResolverFailure(name) from None
                else:
                    if reply.code in (NOERROR, NXDOMAIN):
                        return reply
                    failure = reply
        if refusals == settings.attempts * len(servers):
            raise ResolverFailure(name, refused=True)
        return failure


def candidates(name: str, settings: DnsSettings) -> Iterator[tuple[str, bool]]:
    """The full names to ask for, in order, each with whether a search domain was added."""
    if name.endswith("."):
        yield name, False
        return
    as_it_is_first = name.count(".") >= settings.ndots
    if as_it_is_first:
        yield name, False
    for domain in settings.searches:
        yield f"{name}.{domain}", True
    if not as_it_is_first:
        yield name, False


def read_resolv_conf(text: str) -> DnsSettings:
    """The settings that stand in a /etc/resolv.conf."""
    nameservers: list[str] = []
    searches: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    for words in (line.split() for line in text.splitlines()):
        if len(words) > 1 and words[0] == "nameserver":
            nameservers.append(words[1])
        elif words and words[0] in ("search", "domain"):
            searches = tuple(words[1:])
        elif words and words[0] == "options":
            options = tuple(words[1:])
    return DnsSettings(
        tuple(nameservers),
        searches,
        int(number_option(options, "ndots", 1)),
        number_option(options, "timeout", TIMEOUT_S),
        int(number_option(options, "attempts", ATTEMPTS)),
        options,
    )


def number_option(options: Iterable[str], name: str, otherwise: float) -> float:
    """The number that an option such as ``ndots:5`` has."""
    for option in options:
        key, _, value = option.partition(":")
        if key == name and value.isdecimal():
            return float(value)
    return otherwise
