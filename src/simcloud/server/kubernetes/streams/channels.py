"""Several channels in one WebSocket: a message's first byte is the number of its channel.

There are several versions: in the base64 ones the number is a digit and the rest is base64; version 4 reports the end
as a Status instead of plain text; version 5 can close a channel (message 255, channel).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from simcloud.kubernetes.api import BadRequest

STDIN: Final = 0
STDOUT: Final = 1
STDERR: Final = 2
ERROR: Final = 3
RESIZE: Final = 4
CLOSE: Final = 255

MESSAGE_BYTES: Final = 4 << 20
"""The largest message that is taken."""

PIECE_BYTES: Final = 32 << 10
"""The most data that is sent in one message: some clients take none of 64 KiB."""


class BadMessage(Exception):
    """An invalid message, which ends the connection. ``code`` is the WebSocket close code."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(why)
        self.code = code


@dataclass(frozen=True, slots=True)
class Dialect:
    """A version of the protocol."""

    name: str | None
    base64: bool = False
    tells_status: bool = True
    closes: bool = False

    def encode(self, channel: int, data: bytes) -> bytes | str:
        """Return a message of a channel; text in the base64 variants."""
        if self.base64:
            return f"{channel}{base64.b64encode(data).decode()}"
        return bytes((channel,)) + data

    def pieces(self, channel: int, data: bytes) -> Iterator[bytes | str]:
        """Split data into messages of a channel."""
        for place in range(0, len(data), PIECE_BYTES):
            yield self.encode(channel, data[place : place + PIECE_BYTES])

    def decode(self, message: bytes | str) -> tuple[int, bytes] | None:
        """Return a message's channel and data; None for an empty one, which means nothing."""
        raw = message.encode("utf-8", "surrogatepass") if isinstance(message, str) else message
        if len(raw) > MESSAGE_BYTES:
            raise BadMessage(1009, f"a message of more than {MESSAGE_BYTES} bytes")
        if not raw:
            return None
        if not self.base64:
            return raw[0], raw[1:]
        try:
            return raw[0] - ord("0"), base64.b64decode(raw[1:], validate=True)
        except (binascii.Error, ValueError):
            raise BadMessage(1007, "a message that is not base64") from None


COMMANDS: Final = (
    Dialect("v5.channel.k8s.io", closes=True),
    Dialect("v4.channel.k8s.io"),
    Dialect("v4.base64.channel.k8s.io", base64=True),
    Dialect("channel.k8s.io", tells_status=False),
    Dialect("base64.channel.k8s.io", base64=True, tells_status=False),
)
"""For exec and attach."""

PORTS: Final = (
    Dialect("v4.channel.k8s.io"),
    Dialect("v4.base64.channel.k8s.io", base64=True),
    Dialect("portforward.k8s.io"),
)
"""For port-forward by channels."""

PLAIN: Final = Dialect(None, tells_status=False)
"""For a client that names no variant."""


def choose(asked: Sequence[str], known: Sequence[Dialect]) -> Dialect:
    """Return the first that the client asks for and that is known."""
    if not asked:
        return PLAIN
    named = {dialect.name: dialect for dialect in known}
    for name in asked:
        if name in named:
            return named[name]
    spoken = " ".join(sorted(str(dialect.name) for dialect in known))
    raise BadRequest(f"requested protocol(s) are not supported: [{' '.join(asked)}]; supports [{spoken}]")
