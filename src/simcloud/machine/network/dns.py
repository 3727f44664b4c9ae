"""DNS as typed messages: what crosses the port of a name server, and how one question is asked there.

Names are kept in lower case without their last dot. No bytes are made, so a message has no size limit and
nothing is ever truncated.
"""

from __future__ import annotations

from collections.abc import Generator
from types import coroutine
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

if TYPE_CHECKING:
    from simcloud.machine.network.namespace import Namespace

DNS: Final = "dns"
PORT: Final = 53

NOERROR: Final = "NOERROR"
SERVFAIL: Final = "SERVFAIL"
NXDOMAIN: Final = "NXDOMAIN"
REFUSED: Final = "REFUSED"

HEAD_BYTES: Final = 12
RECORD_BYTES: Final = 14


class Question(Struct, frozen=True):
    """What is asked: the records of one kind ("A", "SRV", …) that a name has."""

    name: str
    kind: str

    @property
    def size_bytes(self) -> int:
        """What it takes on the wire."""
        return HEAD_BYTES + len(self.name) + 6


class Record(Struct, frozen=True):
    """One record; ``data`` is written as ``dig`` prints it."""

    name: str
    kind: str
    data: str
    ttl_s: int = 30


class Reply(Struct, frozen=True):
    """A name server's answer. ``authority`` is the SOA record that stands under a negative one."""

    question: Question
    code: str
    answers: tuple[Record, ...] = ()
    authority: tuple[Record, ...] = ()
    additional: tuple[Record, ...] = ()
    authoritative: bool = False

    @property
    def addresses(self) -> list[str]:
        """The addresses in it, whatever alias they stand under."""
        return [record.data for record in self.answers if record.kind in ("A", "AAAA")]

    @property
    def size_bytes(self) -> int:
        """What it takes on the wire."""
        records = (*self.answers, *self.authority, *self.additional)
        return self.question.size_bytes + sum(
            RECORD_BYTES + len(record.name) + len(record.data) for record in records
        )


def plain_name(name: str) -> str:
    """A name as messages hold it."""
    return name.lower().removesuffix(".")


@coroutine
def ask(
    namespace: Namespace,
    server: str,
    question: Question,
    timeout_s: float,
    port: int = PORT,
    owner: object = None,
) -> Generator[float | None, Any, Reply]:
    """Put one question to a name server, once.

    Raises ``TimedOut`` when no answer came, ``ConnectionRefused`` when nobody serves that port, and
    ``NetworkUnreachable`` while the interface is down.
    """
    socket = namespace.bind(0, DNS, owner=owner)
    try:
        socket.connect(server, port)
        socket.send(question, question.size_bytes)
        while True:
            datagram = yield from socket.receive(timeout_s)
            if isinstance(datagram.message, Reply) and datagram.message.question == question:
                return datagram.message
    finally:
        socket.close()
