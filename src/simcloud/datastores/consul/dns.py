"""Consul's DNS: ``srv-geo.service.consul`` and ``<node>.node.consul`` on port 8600."""

from __future__ import annotations

from typing import Final

from simcloud.datastores.consul.state import Service, State
from simcloud.machine.network import Datagram, DatagramSocket, NetworkError, dns
from simcloud.machine.process import Context

DOMAIN: Final = ".consul"
SOA: Final = dns.Record("consul", "SOA", "ns.consul. hostmaster.consul. 1767603600 3600 600 86400 0", 0)


class DnsServer:
    """Answers DNS questions from the catalogue, in random order."""

    def __init__(self, ctx: Context, state: State) -> None:
        self._state = state
        self._chance = ctx.random("dns")

    def take(self, socket: DatagramSocket, datagram: Datagram) -> None:
        """Answer a question that has arrived."""
        question = datagram.message
        if isinstance(question, dns.Question):
            reply = self.answer(question)
            try:
                socket.send_to(*datagram.source, reply, reply.size_bytes)
            except NetworkError:
                pass  # the network is down: the client will time out

    def answer(self, question: dns.Question) -> dns.Reply:
        """Answer one question."""
        name = question.name
        if not name.endswith(DOMAIN):
            return dns.Reply(question, dns.REFUSED)
        words = name.removesuffix(DOMAIN).removesuffix(".dc1").split(".")
        if len(words) >= 2 and words[-1] == "node":
            node = self._state.node
            return self._reply(question, [node.address] if node.name == ".".join(words[:-1]) else [])
        if len(words) == 3 and words[-1] == "service":
            return self._services(question, words[1].removeprefix("_"), words[0].removeprefix("_"))
        if len(words) == 2 and words[-1] == "service":
            return self._services(question, words[0], "")
        return self._reply(question, [])

    def _services(self, question: dns.Question, name: str, tag: str) -> dns.Reply:
        found = [
            service for service in self._state.instances(name) if tag in ("", "tcp") or tag in service.tags
        ]
        self._chance.shuffle(found)
        if question.kind == "SRV" and found:
            return self._locations(question, found)
        return self._reply(question, list(dict.fromkeys(self._address(service) for service in found)))

    def _locations(self, question: dns.Question, services: list[Service]) -> dns.Reply:
        answers, additional = [], []
        for service in services:
            address = self._address(service)
            host = "".join(f"{int(part):02x}" for part in address.split(".")) + ".addr.dc1.consul"
            answers.append(dns.Record(question.name, "SRV", f"1 1 {service.port} {host}.", 0))
            additional.append(dns.Record(host, "A", address, 0))
        return dns.Reply(question, dns.NOERROR, tuple(answers), (), tuple(additional), authoritative=True)

    def _address(self, service: Service) -> str:
        return service.address or self._state.node.address

    def _reply(self, question: dns.Question, addresses: list[str]) -> dns.Reply:
        if not addresses:
            return dns.Reply(question, dns.NXDOMAIN, authority=(SOA,), authoritative=True)
        if question.kind not in ("A", "ANY"):
            return dns.Reply(question, dns.NOERROR, authority=(SOA,), authoritative=True)
        records = tuple(dns.Record(question.name, "A", address, 0) for address in addresses)
        return dns.Reply(question, dns.NOERROR, records, authoritative=True)
