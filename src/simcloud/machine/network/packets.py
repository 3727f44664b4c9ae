"""States of connections as ``ss`` names them, and packets: messages with their sizes, and control packets."""

from __future__ import annotations

from typing import Any, Final

LISTEN: Final = "LISTEN"
SYN_SENT: Final = "SYN-SENT"
SYN_RECV: Final = "SYN-RECV"
ESTABLISHED: Final = "ESTAB"
CLOSE_WAIT: Final = "CLOSE-WAIT"
LAST_ACK: Final = "LAST-ACK"
FIN_WAIT: Final = "FIN-WAIT-2"
TIME_WAIT: Final = "TIME-WAIT"
CLOSED: Final = "CLOSED"
UNCONNECTED: Final = "UNCONN"


Packet = tuple[Any, int]
"""A message and its size in bytes."""

UNTYPED: Final = ("raw", "tcp")
"""The protocols of programs that only move bytes (nc): they take whatever comes."""

MESSAGE_BYTES: Final = 256
"""The size of a message whose sender does not say."""

CONTROL_BYTES: Final = 60
"""The size of a packet that carries no data."""

WINDOW_BYTES: Final = 4 << 20
"""``drain`` waits while the peer has not read more than this."""

BUFFER_BYTES: Final = 64 << 20
"""``send`` raises while the peer has not read more than this: the limit for those who never drain."""


class _Control:
    """A packet that speaks to the kernel, not to the program."""

    __slots__ = ()


OPEN: Final[Packet] = (_Control(), CONTROL_BYTES)
"""The dialler's first packet: the connection stands."""

FIN: Final[Packet] = (_Control(), CONTROL_BYTES)
"""No more will come."""
