"""The packet filter of a namespace, as ``iptables`` sets it: rules that let packets pass, swallow them or refuse them.

Without rules there is no filter and nothing is asked. With one, every packet of a connection meets the chains on its
way: OUTPUT where it begins, FORWARD on the machines of pods, INPUT where it ends. Each end of a connection to a
Service sees the addresses that it knows; FORWARD sees the pods' own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network
from random import Random
from typing import Final, NamedTuple, Protocol

from simcloud.machine.network.routing import Endpoint

CHAINS: Final = ("INPUT", "FORWARD", "OUTPUT")
ACCEPT: Final = "ACCEPT"
DROP: Final = "DROP"
REJECT: Final = "REJECT"
MOST_RULES: Final = 1_000


class Packet(NamedTuple):
    """What rules look at. ``new`` is the first packet of a conversation."""

    transport: str
    source: Endpoint
    target: Endpoint
    size_bytes: int
    new: bool


@dataclass(slots=True, eq=False)
class Rule:
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
    spec: str = ""
    extra: str = ""
    packets: int = 0
    bytes: int = 0

    def matches(self, packet: Packet) -> bool:
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
            and (self.chance is None or self.chance.random() < self.probability)
        )


def _within(network: IPv4Network | None, address: str) -> bool:
    return network is None or IPv4Address(address) in network


def _between(ports: tuple[int, int] | None, port: int) -> bool:
    return ports is None or ports[0] <= port <= ports[1]


@dataclass(slots=True, eq=False)
class Chain:
    """Rules in their order, and what becomes of packets that none of them is about."""

    policy: str = ACCEPT
    rules: list[Rule] = field(default_factory=list)
    packets: int = 0
    bytes: int = 0

    def verdict(self, packet: Packet) -> str:
        """What becomes of a packet; whoever decided counts it."""
        for rule in self.rules:
            if rule.verdict and rule.matches(packet):
                rule.packets += 1
                rule.bytes += packet.size_bytes
                return rule.verdict
        self.packets += 1
        self.bytes += packet.size_bytes
        return self.policy


class PacketFilter:
    """The three chains of a namespace."""

    def __init__(self) -> None:
        self.chains = {name: Chain() for name in CHAINS}

    @property
    def idle(self) -> bool:
        """Whether it lets everything pass, as one that is not there."""
        return all(chain.policy == ACCEPT and not chain.rules for chain in self.chains.values())


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
        for chain, packet in (
            (self.leaves, sent),
            *((each, real) for each in self.passes),
            (self.enters, got),
        ):
            found = chain.verdict(packet) if chain is not None else ACCEPT
            if found != ACCEPT:
                return found
        return ACCEPT


def ways_between(
    source: Filtered, target: Filtered, hosts: tuple[Filtered | None, Filtered | None]
) -> Ways | None:
    """The filters on the way; None when there are none. ``hosts`` are the machines' own namespaces."""

    def chain(namespace: Filtered | None, name: str) -> Chain | None:
        filter_ = namespace.filter if namespace is not None else None
        return filter_.chains[name] if filter_ is not None else None

    between = [host for end, host in zip((source, target), hosts, strict=True) if host is not end]
    passes = [chain(host, "FORWARD") for host in dict.fromkeys(between)]
    found = Ways(
        chain(source, "OUTPUT"), tuple(each for each in passes if each is not None), chain(target, "INPUT")
    )
    return found if found.leaves or found.passes or found.enters else None
