"""A plain name server on a machine, from a table: whom resolvers and CoreDNS ask in tests.

It answers for everything: what the table does not have, does not exist.
"""

from __future__ import annotations

from collections.abc import Mapping

from simcloud.machine.network.datagram import Datagram
from simcloud.machine.network.dns import DNS, NOERROR, NXDOMAIN, PORT, Question, Record, Reply, plain_name
from simcloud.machine.network.namespace import Namespace

TTL_S = 300


class NameServer:
    """Serves ``table`` on port 53 of a namespace; the table may change at any time."""

    def __init__(self, namespace: Namespace, table: Mapping[str, str] | None = None) -> None:
        self.table: dict[str, str] = {plain_name(name): address for name, address in (table or {}).items()}
        self._namespace = namespace
        self._socket = namespace.bind(PORT, DNS)
        self._socket.on_datagram = self._take

    def _take(self, datagram: Datagram) -> None:
        question = datagram.message
        if isinstance(question, Question) and self._namespace.is_up:
            reply = self.answer(question)
            self._socket.send_to(*datagram.source, reply, reply.size_bytes)

    def answer(self, question: Question) -> Reply:
        """What the table says."""
        address = self.table.get(question.name)
        if address is None:
            return Reply(question, NXDOMAIN)
        records = (Record(question.name, "A", address, TTL_S),) if question.kind == "A" else ()
        return Reply(question, NOERROR, records)
