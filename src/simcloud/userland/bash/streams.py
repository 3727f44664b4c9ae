"""Streams that the shell itself makes: here-documents, closed descriptors and ``/dev/tcp`` connections."""

from __future__ import annotations

from typing import Final

from simcloud.machine.network import Closed, Connection, NetworkError
from simcloud.machine.process import (
    BadDescriptor,
    FileStream,
    KilledBySignal,
    PipeReader,
    Signal,
    Stream,
    Tty,
)

CHUNK_BYTES: Final = 4096


class ClosedStream(Stream):
    """Replaces a closed standard stream: every use of it is an error."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._number = number

    async def write(self, data: bytes) -> None:
        """An error, except that complaints about errors have nowhere to go."""
        if self._number != 2:
            raise BadDescriptor


class HereText(Stream):
    """The text of a here-document or here-string."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self._data = data
        self._position = 0

    async def read(self, size: int = 65_536) -> bytes:
        """The next bytes of the text."""
        data = self._data[self._position : self._position + size]
        self._position += len(data)
        return data

    def take_until(self, delimiter: bytes) -> tuple[bytes, bool]:
        """Bytes up to a delimiter (taken but not given), and whether the text ended first."""
        found = self._data.find(delimiter, self._position)
        end = len(self._data) if found < 0 else found
        data = self._data[self._position : end]
        self._position = end if found < 0 else end + 1
        return data, found < 0


def safe_size(stream: Stream, delimiter: bytes) -> int:
    """How many bytes can be read without taking what lies behind the next delimiter.

    A file can be wound back and a device does not mind, so a chunk will do; of a pipe, what waits in it can be
    looked at; anything else is read byte by byte.
    """
    if isinstance(stream, FileStream):
        return CHUNK_BYTES
    if isinstance(stream, (PipeReader, Tty)):
        waiting = stream.typed if isinstance(stream, Tty) else stream._pipe.buffer
        found = waiting.find(delimiter)
        return found + 1 if found >= 0 else max(1, len(waiting))
    return 1


class SocketStream(Stream):
    """The connection behind ``/dev/tcp/host/port``."""

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self._connection = connection
        self._rest = b""

    async def read(self, size: int = 65_536) -> bytes:
        """Read the available bytes, at most ``size``."""
        if not self._rest:
            try:
                message = await self._connection.receive()
            except (Closed, NetworkError):
                return b""
            self._rest = message if isinstance(message, bytes) else str(message).encode()
        data, self._rest = self._rest[:size], self._rest[size:]
        return data

    async def write(self, data: bytes) -> None:
        """Send bytes."""
        try:
            self._connection.send(data, len(data))
        except NetworkError:
            raise KilledBySignal(Signal.PIPE) from None

    def _on_release(self) -> None:
        self._connection.close()
