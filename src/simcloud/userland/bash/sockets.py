"""``/dev/tcp/host/port``: a network connection as a stream of bytes."""

from __future__ import annotations

from simcloud.machine.network import Closed, Connection, NetworkError
from simcloud.machine.process import KilledBySignal, Signal, Stream


class SocketStream(Stream):
    """Both ends of a plain TCP connection."""

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self._connection = connection
        self._rest = b""

    async def read(self, size: int = 65_536) -> bytes:
        """What has arrived, up to ``size`` bytes."""
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
