"""Port-forward over a WebSocket's channels, as clients other than kubectl use it.

Every port has a channel for data and a channel for errors. Both begin with the port's number.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from starlette.websockets import WebSocket

from simcloud.kubernetes.api import ApiError, Forward, Object, Runtime
from simcloud.server.kubernetes.context import AppContext
from simcloud.server.kubernetes.paths import Target
from simcloud.server.kubernetes.streams import channels, flow
from simcloud.server.kubernetes.streams.channels import Dialect
from simcloud.server.kubernetes.streams.flow import Message, Outbox
from simcloud.server.kubernetes.streams.link import relay
from simcloud.server.kubernetes.streams.requests import find_pod, read_ports


async def serve(app: AppContext, socket: WebSocket, target: Target) -> None:
    """Connect to ports of a pod, for as long as any connection lives."""
    dialect = channels.choose(socket.scope["subprotocols"], channels.PORTS)
    pod, runtime = find_pod(app, target)
    ports = read_ports(socket.query_params)
    await socket.accept(dialect.name)
    connections = Connections(dialect, app.live.poke)
    connections.open(runtime, pod, ports)
    try:
        await relay(socket, connections.outbox, connections.take)
    finally:
        connections.close()


class Connections:
    """The connections of one client, by the number of their data channel."""

    def __init__(self, dialect: Dialect, poke: Callable[[], None]) -> None:
        self._dialect = dialect
        self._poke = poke
        self._forwards: dict[int, Forward] = {}
        self.outbox = Outbox(self._hold)

    def open(self, runtime: Runtime, pod: Object, ports: list[int]) -> None:
        """Connect to every port."""
        for number, port in enumerate(ports):
            for channel in (2 * number, 2 * number + 1):
                self._send(channel, port.to_bytes(2, "little"))
        for number, port in enumerate(ports):
            channel = 2 * number
            try:
                forward = runtime.forward(pod, port)
            except ApiError as error:
                self._send(channel + 1, error.message.encode())
                continue
            self._forwards[channel] = forward
            forward.on_data = partial(self._send, channel)
            forward.on_end = partial(self._end, channel)
        self._finish_if_done()
        self._poke()

    async def take(self, message: Message) -> None:
        """The client sends something; to a connection that is over, it is lost."""
        heard = self._dialect.decode(message)
        if heard is None:
            return
        channel, data = heard
        forward = self._forwards.get(channel)
        if forward is not None:
            forward.write(data)
            self._poke()
            await flow.room(forward, self._poke, lambda: None)

    def close(self) -> None:
        """The client has gone."""
        for forward in self._forwards.values():
            forward.on_data = forward.on_end = None
            forward.close()
        self._forwards.clear()
        self._poke()

    def _send(self, channel: int, data: bytes) -> None:
        for message in self._dialect.pieces(channel, data):
            self.outbox.put(message)

    def _end(self, channel: int, why: str) -> None:
        if self._forwards.pop(channel, None) is not None:
            if why:
                self._send(channel + 1, why.encode())
            self._finish_if_done()

    def _finish_if_done(self) -> None:
        if not self._forwards:
            self.outbox.finish()

    def _hold(self, held: bool) -> None:
        for forward in list(self._forwards.values()):
            flow.hold(forward, held)
        self._poke()
