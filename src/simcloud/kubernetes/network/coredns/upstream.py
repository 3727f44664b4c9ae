"""The ``forward`` and ``cache`` plugins: upstream name servers and a cache of their answers."""

from __future__ import annotations

from random import Random
from typing import Final

from simcloud.kubernetes.network.coredns.settings import CacheSettings, Forward, below
from simcloud.machine.network import ConnectionRefused, Namespace, NetworkError, dns
from simcloud.sim import Kernel, TimedOut

DEADLINE_S: Final = 5.0
READ_S: Final = 2.0
ROUNDS: Final = 3
"""Rounds after which servers that refuse are taken for dead."""

CAPACITY: Final = 9984
SHORTEST_S: Final = 5


class UpstreamFailure(Exception):
    """No server gave an answer; the text is what the errors plugin logs."""


class Forwarder:
    """Asks other servers for names below a zone."""

    def __init__(self, settings: Forward, namespace: Namespace, random: Random) -> None:
        self.settings = settings
        self._namespace = namespace
        self._random = random
        self._turn = 0
        self._under_way = 0

    def takes(self, name: str) -> bool:
        """Whether names like this are forwarded."""
        excepted = any(below(name, zone) for zone in self.settings.excepted)
        return below(name, self.settings.zone) and not excepted

    async def ask(self, question: dns.Question) -> dns.Reply:
        """The answer of one of the servers; raises ``UpstreamFailure``."""
        limit = self.settings.max_concurrent
        if self._under_way >= limit:
            raise UpstreamFailure(f"concurrent queries exceeded maximum {limit}")
        self._under_way += 1
        try:
            return await self._ask(question)
        finally:
            self._under_way -= 1

    async def _ask(self, question: dns.Question) -> dns.Reply:
        kernel = self._namespace.kernel
        deadline = kernel.now + DEADLINE_S
        failure, refusals = "", 0
        servers = self._in_order()
        tried = 0
        while kernel.now < deadline and refusals < ROUNDS * len(servers):
            address, port = servers[tried % len(servers)]
            tried += 1
            try:
                reply: dns.Reply = await dns.ask(self._namespace, address, question, READ_S, port)
            except TimedOut:
                failure = f"read udp {self._namespace.address}->{address}:{port}: i/o timeout"
            except ConnectionRefused:
                refusals += 1
                failure = f"read udp {self._namespace.address}->{address}:{port}: read: connection refused"
            except NetworkError as error:
                raise UpstreamFailure(f"dial udp {address}:{port}: {str(error).lower()}") from None
            else:
                return reply
        raise UpstreamFailure(failure)

    def _in_order(self) -> list[tuple[str, int]]:
        servers = list(self.settings.servers)
        if len(servers) > 1 and self.settings.policy == "random":
            self._random.shuffle(servers)
        elif self.settings.policy == "round_robin":
            self._turn += 1
            servers = servers[self._turn % len(servers) :] + servers[: self._turn % len(servers)]
        return servers


class Cache:
    """Keeps answers as long as they say, and as the settings allow."""

    def __init__(self, settings: CacheSettings, kernel: Kernel) -> None:
        self._settings = settings
        self._kernel = kernel
        self._kept: dict[dns.Question, tuple[float, dns.Reply]] = {}
        self.hits = 0
        self.misses = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, question: dns.Question) -> dns.Reply | None:
        """A kept answer that still holds."""
        kept = self._kept.get(question)
        if kept is not None and kept[0] > self._kernel.now:
            self.hits += 1
            return kept[1]
        self.misses += 1
        return None

    def put(self, reply: dns.Reply) -> None:
        """Keep an answer, if answers like it are kept."""
        settings, name = self._settings, reply.question.name
        if reply.code not in (dns.NOERROR, dns.NXDOMAIN) or not any(
            below(name, zone) for zone in settings.zones
        ):
            return
        positive = reply.code == dns.NOERROR and bool(reply.answers)
        disabled = settings.no_success if positive else settings.no_denial
        if any(below(name, zone) for zone in disabled):
            return
        records = reply.answers if positive else reply.authority
        ttl_s = min((record.ttl_s for record in records), default=SHORTEST_S)
        limit_s = settings.success_s if positive else settings.denial_s
        self._kept.pop(reply.question, None)
        self._kept[reply.question] = (self._kernel.now + min(ttl_s, limit_s), reply)
        if len(self._kept) > CAPACITY:
            del self._kept[next(iter(self._kept))]
