"""The filters of ss: ``state established``, ``sport = :80``, ``dport != :5432``.

Conditions on ports are joined by ``and`` or ``or`` (``or`` binds less); parentheses are ignored.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct, field

from simcloud.machine.network import SocketInfo
from simcloud.userland.commands.options import UsageError

STATES: Final = {
    "established": ("ESTAB",), "syn-sent": ("SYN-SENT",), "syn-recv": ("SYN-RECV",), "fin-wait-1": ("FIN-WAIT-1",),
    "fin-wait-2": ("FIN-WAIT-2",), "time-wait": ("TIME-WAIT",), "close-wait": ("CLOSE-WAIT",),
    "last-ack": ("LAST-ACK",), "listening": ("LISTEN",), "listen": ("LISTEN",), "closed": ("UNCONN",),
    "all": ("ESTAB", "SYN-SENT", "SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT", "CLOSE-WAIT", "LAST-ACK",
            "LISTEN", "UNCONN"),
    "connected": ("ESTAB", "SYN-SENT", "SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT", "CLOSE-WAIT", "LAST-ACK"),
    "synchronized": ("ESTAB", "SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT", "CLOSE-WAIT", "LAST-ACK"),
}  # fmt: skip
OPERATORS: Final = {"=": True, "==": True, "eq": True, "!=": False, "ne": False}
SIDES: Final = ("sport", "dport", "src", "dst")
FAILED: Final = 255


class _Condition(Struct, frozen=True):
    side: str
    is_equal: bool
    address: str
    port: str

    def holds(self, socket: SocketInfo) -> bool:
        address, port = socket.local if self.side in ("sport", "src") else socket.remote
        same = (not self.address or address == self.address) and (not self.port or str(port) == self.port)
        return same is self.is_equal


class SocketFilter(Struct):
    """Selects sockets by state (any if none is given) and by alternative lists of conditions."""

    states: list[str] = field(default_factory=list)
    alternatives: list[list[_Condition]] = field(default_factory=lambda: [[]])

    def accepts(self, socket: SocketInfo) -> bool:
        """Whether a socket is wanted."""
        if self.states and socket.state not in self.states:
            return False
        return any(all(condition.holds(socket) for condition in each) for each in self.alternatives)


def read_filter(name: str, operands: list[str]) -> SocketFilter:
    """The filter that the operands of ss spell."""
    text = " ".join(operands).replace("(", " ").replace(")", " ")
    words = iter(text.split())
    found = SocketFilter()
    for word in words:
        if word == "state":
            state = next(words, "")
            if state not in STATES:
                raise UsageError(f"{name}: wrong state name: {state}", FAILED)
            found.states += STATES[state]
        elif word in ("or", "|", "||"):
            found.alternatives.append([])
        elif word in SIDES:
            operator = next(words, "")
            value = operator if word in ("src", "dst") and operator not in OPERATORS else next(words, "")
            if word in ("sport", "dport") and operator not in OPERATORS:
                raise _wrong(word)
            found.alternatives[-1].append(_condition(word, OPERATORS.get(operator, True), value))
        elif word not in ("and", "&", "&&"):
            raise _wrong(word)
    return found


def _condition(side: str, is_equal: bool, value: str) -> _Condition:
    if side in ("sport", "dport"):
        return _Condition(side, is_equal, "", value.rpartition(":")[2])
    address, _, port = value.partition(":")
    return _Condition(side, is_equal, address, port)


def _wrong(word: str) -> UsageError:
    return UsageError(
        f'Error: an inet prefix is expected rather than "{word}".\nCannot parse dst/src address.', 1
    )
