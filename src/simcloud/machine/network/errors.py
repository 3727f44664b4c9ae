"""What can go wrong between computers, each with the words Linux has for it.

``str(error)`` is the sentence a program would print, ``error.code`` the name of the errno. A protocol
mismatch has no errno: each client turns it into the complaint its own protocol library would make.
"""

from __future__ import annotations

from typing import ClassVar

from simcloud.sim import Closed as QueueClosed


class NetworkError(Exception):
    """Any failure of the network as a program sees it."""

    code: ClassVar[str] = ""
    words: ClassVar[str] = ""

    def __init__(self) -> None:
        super().__init__(self.words)


class Closed(NetworkError, QueueClosed):
    """The orderly end: the peer hung up and everything it sent was read, or this end was closed."""

    words = "Connection closed"


class ConnectionRefused(NetworkError):
    """The machine is there, but nothing listens on that port."""

    code = "ECONNREFUSED"
    words = "Connection refused"


class ConnectionTimedOut(NetworkError):
    """An established connection's peer stopped acknowledging, and the kernel gave up on it."""

    code = "ETIMEDOUT"
    words = "Connection timed out"


class ConnectTimedOut(ConnectionTimedOut):
    """No answer to the attempt to connect, within its time-out or the kernel's own."""


class HostUnreachable(NetworkError):
    """Nobody answers for that address on the last hop."""

    code = "EHOSTUNREACH"
    words = "No route to host"


class NetworkUnreachable(NetworkError):
    """This end has no interface that could carry it."""

    code = "ENETUNREACH"
    words = "Network is unreachable"


class ConnectionReset(NetworkError):
    """The peer's kernel knows nothing of this connection, or its program died with data unread."""

    code = "ECONNRESET"
    words = "Connection reset by peer"


class BrokenPipe(ConnectionReset):
    """Sent on a connection that is known to be reset, or whose peer hung up before it was reset."""

    code = "EPIPE"
    words = "Broken pipe"


class NotConnected(NetworkError):
    """Sent without saying where to, on a socket that is not connected."""

    code = "ENOTCONN"
    words = "Transport endpoint is not connected"


class NoBufferSpace(NetworkError):
    """The peer reads nothing and the buffers in between are full: the limit on what one may send ahead."""

    code = "ENOBUFS"
    words = "No buffer space available"


class AddressInUse(NetworkError):
    """Another socket has that address and port."""

    code = "EADDRINUSE"
    words = "Address already in use"


class AddressNotAvailable(NetworkError):
    """The address is not one of this namespace's, or no ephemeral port is left."""

    code = "EADDRNOTAVAIL"
    words = "Cannot assign requested address"


class InvalidArgument(NetworkError):
    """There is no such port number."""

    code = "EINVAL"
    words = "Invalid argument"


class NameNotFound(NetworkError):
    """The resolver's answer was: there is no such name."""

    code = "EAI_NONAME"
    words = "Name or service not known"

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class ResolverFailure(NetworkError):
    """The resolver gave no answer: no server said anything, or none listens, or the one that answered could not tell."""

    code = "EAI_AGAIN"
    words = "Temporary failure in name resolution"

    def __init__(self, name: str, *, refused: bool = False, answered: bool = False) -> None:
        super().__init__()
        self.name = name
        self.refused = refused
        self.answered = answered


class ProtocolMismatch(NetworkError):
    """One side spoke a protocol the other does not understand."""

    def __init__(self, spoken: str, expected: str) -> None:
        Exception.__init__(self, f"{spoken} was spoken where {expected} is expected")
        self.spoken = spoken
        self.expected = expected
