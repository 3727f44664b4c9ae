"""The states of a connection, as ``ss`` names them."""

from __future__ import annotations

from typing import Final

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
