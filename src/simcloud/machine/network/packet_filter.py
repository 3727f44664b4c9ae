"""The packet filter of a namespace, as ``iptables`` sets it: rules that let packets pass, swallow them or refuse them.

Without rules there is no filter and nothing is asked. With one, every packet of a connection meets the chains on its
way: OUTPUT where it begins, FORWARD on the machines of pods, INPUT where it ends. Each end of a connection to a
Service sees the addresses that it knows; FORWARD sees the pods' own. Rules of the table ``nat`` send the first packet of a
connection elsewhere, where it begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network
from random import Random
from typing import Final, NamedTuple, Protocol

from msgspec import Struct, field

from simcloud.machine.network.routing import Endpoint

CHAINS: Final = ("INPUT", "FORWARD", "OUTPUT")
ACCEPT: Final = "ACCEPT"
DROP: Final = "DROP"
REJECT: Final = "REJECT"
DNAT: Final = "DNAT"
REDIRECT: Final = "REDIRECT"
NAT_CHAINS: Final = ("OUTPUT",)
"""The chains of the table ``nat`` that have an effect."""
MOST_RULES: Final = 1_000


class Packet(NamedTuple):
    """What rules look at. ``new`` is the first packet of a conversation."""

    transport: str
    source: Endpoint
    target: Endpoint
    size_bytes: int
    new: bool


class Rule(Struct, eq=False):
    """One rule; None and empty match everything. ``spec`` is the rule in the format of ``iptables -S``."""

    verdict: str
    transport: str = "all"
    source: IPv4Network | None = None
    target: IPv4Network | None = None
    source_ports: tuple[int, int] | None = None
    target_ports: tuple[int, int] | None = None
    states: tuple[str, ...] = ()
    interface: str = ""
    probability: float = 1.0
    """The share of the packets it is about that it takes; the rest pass it by."""
    chance: Random | None = None
    to: Endpoint | None = None
    """Where DNAT and REDIRECT send packets; port 0 keeps the packet's own."""
    spec: str = ""
    packets: int = 0
    bytes: int = 0

    def matches(self, packet: Packet) -> bool:
        """Whether the rule takes a packet; draws if it takes only a share of them."""
        return self.concerns(packet) and (self.chance is None or self.chance.random() < self.probability)

    def concerns(self, packet: Packet) -> bool:
        """Whether a packet is one of those that the rule is about."""
        if self.transport not in ("all", packet.transport):
            return False
        if self.states and ("NEW" if packet.new else "ESTABLISHED") not in self.states:
            return False
        loops = packet.source[0].startswith("127.")
        if self.interface and (self.interface == "lo") is not loops:
            return False
        return (
            _within(self.source, packet.source[0])
            and _within(self.target, packet.target[0])
            and _between(self.source_ports, packet.source[1])
            and _between(self.target_ports, packet.target[1])
        )


def _within(network: IPv4Network | None, address: str) -> bool:
    return network is None or _to_number(address) & int(network.netmask) == int(network.network_address)


@lru_cache(maxsize=4096)
def _to_number(address: str) -> int:
    return int(IPv4Address(address))


def _between(ports: tuple[int, int] | None, port: int) -> bool:
    return ports is None or ports[0] <= port <= ports[1]


class Chain(Struct, eq=False):
    """Rules in their order, and what becomes of packets that none of them is about."""

    policy: str = ACCEPT
    rules: list[Rule] = field(default_factory=list)
    packets: int = 0
    bytes: int = 0

    def verdict(self, packet: Packet) -> str:
        """What becomes of a packet; whoever decided counts it."""
        rule = self.decide(packet)
        return rule.verdict if rule is not None else self.policy

    def decide(self, packet: Packet) -> Rule | None:
        """Return the rule that decides about a packet, None where the policy does; counts the packet."""
        for rule in self.rules:
            if rule.verdict and rule.matches(packet):
                rule.packets += 1
                rule.bytes += packet.size_bytes
                return rule
        self.packets += 1
        self.bytes += packet.size_bytes
        return None

    def foresee(self, packet: Packet) -> str:
        """Return the verdict about a packet that is not sent; rules that take only a share of packets are ignored."""
        certain = (rule for rule in self.rules if rule.verdict and rule.chance is None)
        return next((rule.verdict for rule in certain if rule.concerns(packet)), self.policy)


class PacketFilter:
    """The three chains of a namespace, and those that send connections elsewhere."""

    def __init__(self) -> None:
        self.chains = {name: Chain() for name in CHAINS}
        self.nat = {name: Chain() for name in NAT_CHAINS}

    def redirect(self, packet: Packet) -> Endpoint:
        """Return where the first packet of a connection that begins here really goes."""
        rule = self.nat["OUTPUT"].decide(packet)
        if rule is None or rule.to is None:
            return packet.target
        address, port = rule.to
        return address, port or packet.target[1]

    @property
    def idle(self) -> bool:
        """Whether it lets everything pass, as one that is not there."""
        chains = (*self.chains.values(), *self.nat.values())
        return all(chain.policy == ACCEPT and not chain.rules for chain in chains)


class Filtered(Protocol):
    """A namespace that may have a packet filter."""

    filter: PacketFilter | None


class Ways(NamedTuple):
    """The chains between two namespaces, in the order that packets meet them."""

    leaves: Chain | None
    passes: tuple[Chain, ...]
    enters: Chain | None

    def verdict(self, sent: Packet, real: Packet, got: Packet) -> str:
        """What becomes of a packet, as its sender, those in between and its receiver see it."""
        for chain, packet in self._chains(sent, real, got):
            found = chain.verdict(packet)
            if found != ACCEPT:
                return found
        return ACCEPT

    def foresee(self, sent: Packet, real: Packet, got: Packet) -> str:
        """Return the verdict about a packet that is not sent."""
        verdicts = (chain.foresee(packet) for chain, packet in self._chains(sent, real, got))
        return next((verdict for verdict in verdicts if verdict != ACCEPT), ACCEPT)

    def _chains(self, sent: Packet, real: Packet, got: Packet) -> Iterator[tuple[Chain, Packet]]:
        if self.leaves is not None:
            yield self.leaves, sent
        for chain in self.passes:
            yield chain, real
        if self.enters is not None:
            yield self.enters, got


def ways_between(
    source: Filtered, target: Filtered, hosts: tuple[Filtered | None, Filtered | None, Filtered | None]
) -> Ways | None:
    """The filters on the way; None when there are none. ``hosts`` are the namespaces of the machines on it."""

    def chain(namespace: Filtered | None, name: str) -> Chain | None:
        filter_ = namespace.filter if namespace is not None else None
        return filter_.chains[name] if filter_ is not None else None

    between = [host for end, host in zip((source, None, target), hosts, strict=True) if host is not end]
    passes = [chain(host, "FORWARD") for host in dict.fromkeys(between)]
    found = Ways(
        chain(source, "OUTPUT"), tuple(each for each in passes if each is not None), chain(target, "INPUT")
    )
    return found if found.leaves or found.passes or found.enters else None
