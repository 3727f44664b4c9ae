"""A server block of CoreDNS: a query passes its plugins in CoreDNS's fixed order.

``cache``, ``rewrite``, ``template``, ``hosts`` and ``kubernetes`` answer at once; ``forward`` waits for another
server. Other known plugins are accepted and have no effect.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from random import Random
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from simcloud.kubernetes.network.coredns import settings
from simcloud.kubernetes.network.coredns.corefile import ServerBlock, WrongArguments
from simcloud.kubernetes.network.coredns.edits import Hosts, Rewrite, Template
from simcloud.kubernetes.network.coredns.records import Catalogue, KubernetesRecords
from simcloud.kubernetes.network.coredns.upstream import Cache, Forwarder, UpstreamFailure
from simcloud.machine.network import Namespace, dns

LOOPS: Final = 2
"""Its own question comes by twice, at start; a third time means that it goes round in circles."""

Resolve = Callable[[dns.Question], Awaitable[dns.Reply]]


class Surroundings(Struct, frozen=True):
    """What plugins need of the program they run in."""

    namespace: Namespace
    random: Random
    catalogue: Catalogue
    read: Callable[[str], str | None]
    is_synced: Callable[[], bool]
    complain: Callable[[str], None]
    loop_found: Callable[[Chain], None]


class Chain:
    """The plugins of one server block. Building it checks all settings: ``CorefileError``."""

    def __init__(self, block: ServerBlock, around: Surroundings) -> None:
        self.block = block
        self._around = around
        self._rewrites: list[Rewrite] = []
        self._templates: list[Template] = []
        self._hosts: list[Hosts] = []
        self.kubernetes: list[KubernetesRecords] = []
        self._forwards: list[Forwarder] = []
        self.cache: Cache | None = None
        self.logs = block.find("log") is not None
        self._tells_errors = block.find("errors") is not None
        self.loop_name = ""
        self._loops_seen = 0
        for line in block.directives:
            match line.name:
                case "rewrite":
                    self._rewrites.append(Rewrite(line))
                case "template":
                    self._templates.append(Template.of(line, block.zones))
                case "hosts":
                    self._hosts.append(Hosts(line, around.read))
                case "kubernetes":
                    made = settings.kubernetes(line, block.zones)
                    self.kubernetes.append(KubernetesRecords(made, around.catalogue))
                case "forward":
                    to = settings.forward(line, around.read)
                    self._forwards.append(Forwarder(to, around.namespace, around.random))
                case "cache":
                    self.cache = Cache(settings.cache(line, block.zones), around.namespace.kernel)
                case "loop":
                    if line.args:
                        raise settings.PluginError("loop", WrongArguments(line.line, line.args[-1]))
                    low, high = around.random.randrange(10**18), around.random.randrange(10**18)
                    self.loop_name = f"{low}.{high}"

    def zone_of(self, name: str) -> str | None:
        """The zone of this block that a name is in."""
        found = [zone for zone in self.block.zones if settings.below(name, zone)]
        return max(found, key=len) if found else None

    def answer_at_once(self, question: dns.Question) -> dns.Reply | None:
        """The answer, when nobody else needs to be asked for it."""
        if self.cache is not None:
            kept = self.cache.get(question)
            if kept is not None:
                return kept
        reply = self._local(self._rewritten(question))
        if reply is None or _needs_more(reply):
            return None
        return self._finish(question, reply)

    async def answer(self, question: dns.Question, resolve: Resolve) -> dns.Reply:
        """The answer, with the help of other servers; ``resolve`` asks this program again."""
        asked = self._rewritten(question)
        reply = self._local(asked)
        if reply is None:
            reply = await self._forward(asked)
        if _needs_more(reply):
            alias = reply.answers[-1]
            further = await resolve(dns.Question(dns.plain_name(alias.data), asked.kind))
            reply = replace(reply, answers=(*reply.answers, *further.answers))
        return self._finish(question, reply)

    def _rewritten(self, question: dns.Question) -> dns.Question:
        for rule in self._rewrites:
            changed = rule.rewritten(question)
            if changed != question and rule.stops:
                return changed
            question = changed
        return question

    def _local(self, question: dns.Question) -> dns.Reply | None:
        tables: list[Template | Hosts] = [*self._templates, *self._hosts]
        for table in tables:
            reply = table.answer(question)
            if reply is not None:
                return reply
        for plugin in self.kubernetes:
            if plugin.zone_of(question.name) is None:
                continue
            if not self._around.is_synced():
                return dns.Reply(question, dns.SERVFAIL)
            reply = plugin.answer(question)
            if reply is not None:
                return reply
        return None

    async def _forward(self, question: dns.Question) -> dns.Reply:
        if question.kind == "HINFO" and question.name == self.loop_name:
            self._loops_seen += 1
            if self._loops_seen > LOOPS:
                self._around.loop_found(self)
                return dns.Reply(question, dns.SERVFAIL)
        failure = "no next plugin found"
        for forwarder in self._forwards:
            if forwarder.takes(question.name):
                try:
                    return await forwarder.ask(question)
                except UpstreamFailure as error:
                    failure = str(error)
                break
        if self._tells_errors:
            self._around.complain(f"[ERROR] plugin/errors: 2 {question.name}. {question.kind}: {failure}")
        return dns.Reply(question, dns.SERVFAIL)

    def _finish(self, question: dns.Question, reply: dns.Reply) -> dns.Reply:
        """The reply to the question that was asked, under the name that was asked for."""
        asked = reply.question.name
        if reply.question != question:
            answers = tuple(
                replace(record, name=question.name) if record.name == asked else record
                for record in reply.answers
            )
            reply = replace(reply, question=question, answers=answers)
        if self.cache is not None:
            self.cache.put(reply)
        return reply


def _needs_more(reply: dns.Reply) -> bool:
    """Whether the reply ends in an alias whose own addresses are wanted."""
    kind = reply.question.kind
    return bool(reply.answers) and kind in ("A", "AAAA") and reply.answers[-1].kind == "CNAME"
