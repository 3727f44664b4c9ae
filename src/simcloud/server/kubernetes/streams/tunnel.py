"""Port-forward as kubectl uses it: SPDY inside a WebSocket.

Every connection is a pair of streams with one request number: the data stream and the error stream, whose sending
side kubectl closes at once. SPDY's windows are ignored, as kubectl does; the WebSocket has flow control.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from simcloud.kubernetes.api import ApiError, BadRequest, Forward
from simcloud.server.kubernetes.spdy import (
    Data,
    Frame,
    FrameReader,
    FrameWriter,
    GoAway,
    Ping,
    ResetStream,
    SynReply,
    SynStream,
)
from simcloud.server.kubernetes.spdy.frames import CANCEL, PROTOCOL_ERROR, REFUSED_STREAM
from simcloud.server.kubernetes.streams import flow
from simcloud.server.kubernetes.streams.flow import Message, Outbox
from simcloud.server.kubernetes.streams.requests import read_port

PROTOCOL: Final = "SPDY/3.1+portforward.k8s.io"
PAIRS_AT_MOST: Final = 256
"""Maximum number of connections of one client."""


@dataclass(slots=True)
class _Pair:
    """The two streams of a connection; 0 for a stream that is not open."""

    request: str
    port: int
    data: int = 0
    error: int = 0
    forward: Forward | None = None


class Tunnel:
    """The connections of a client. ``connect`` opens a connection to a port of its pod."""

    def __init__(self, connect: Callable[[int], Forward], poke: Callable[[], None]) -> None:
        self._connect = connect
        self._poke = poke
        self._reader = FrameReader()
        self._writer = FrameWriter()
        self._last_stream = 0
        self._pairs: dict[str, _Pair] = {}
        self._by_stream: dict[int, _Pair] = {}
        self._written: list[Forward] = []
        self._held = False
        self.outbox = Outbox(self._hold)

    async def take(self, message: Message) -> None:
        """Handle bytes of the client, in any pieces."""
        data = message.encode("utf-8", "surrogatepass") if isinstance(message, str) else message
        for frame in self._reader.feed(data):
            self._handle(frame)
        self._poke()
        written, self._written = self._written, []
        for forward in dict.fromkeys(written):
            await flow.room(forward, self._poke, self._probe)

    def close(self) -> None:
        """The client has gone."""
        for pair in list(self._pairs.values()):
            self._drop(pair)
        self._poke()

    def _handle(self, frame: Frame) -> None:
        match frame:
            case SynStream():
                self._begin(frame)
            case Data(stream, data, fin):
                self._pass_on(stream, data, fin)
            case ResetStream(stream):
                pair = self._by_stream.get(stream)
                if pair is not None:
                    self._drop(pair)
            case Ping(number) if number % 2 == 1:
                self._send(frame)
            case GoAway():
                self.outbox.finish()
            case _:
                pass  # windows, settings and replies to what was never asked

    def _begin(self, frame: SynStream) -> None:
        if frame.stream % 2 == 0 or frame.stream <= self._last_stream:
            self._send(ResetStream(frame.stream, PROTOCOL_ERROR))
            return
        self._last_stream = frame.stream
        kind = frame.headers.get("streamtype", "")
        try:
            if kind not in ("data", "error"):
                raise BadRequest(f'invalid stream type "{kind}"')
            port = read_port(frame.headers.get("port", ""), frame.headers.get("port", ""))
        except BadRequest:
            self._send(ResetStream(frame.stream, CANCEL))
            return
        request = frame.headers.get("requestid") or str(frame.stream - 2 * (kind == "data"))
        pair = self._pairs.get(request)
        if pair is None:
            if len(self._pairs) >= PAIRS_AT_MOST:
                self._send(ResetStream(frame.stream, REFUSED_STREAM))
                return
            pair = self._pairs[request] = _Pair(request, port)
        self._send(SynReply(frame.stream))
        self._join(pair, frame.stream, kind)

    def _join(self, pair: _Pair, stream: int, kind: str) -> None:
        if pair.data if kind == "data" else pair.error:
            message = f"error processing stream for request {pair.request}: {kind} stream already assigned"
            if pair.error:
                self._send(Data(pair.error, message.encode()))
            return
        if kind == "data":
            pair.data = stream
        else:
            pair.error = stream
        self._by_stream[stream] = pair
        if pair.data and pair.error:
            self._open(pair)

    def _open(self, pair: _Pair) -> None:
        try:
            forward = self._connect(pair.port)
        except ApiError as error:
            self._finish(pair, error.message)
            return
        pair.forward = forward
        forward.on_data = lambda data: self._send(Data(pair.data, data))
        forward.on_end = lambda why: self._finish(pair, why)
        if self._held:
            flow.hold(forward, True)

    def _pass_on(self, stream: int, data: bytes, fin: bool) -> None:
        pair = self._by_stream.get(stream)
        if pair is None or pair.data != stream or pair.forward is None:
            return  # of a stream that is over, or not a pair yet, or only there to be read
        if data:
            pair.forward.write(data)
            self._written.append(pair.forward)
        if fin:
            pair.forward.close()

    def _finish(self, pair: _Pair, why: str) -> None:
        """A connection is over for the pod: say why, and end both streams."""
        if self._pairs.get(pair.request) is pair:
            self._send(Data(pair.data, b"", fin=True))
            self._send(Data(pair.error, why.encode(), fin=True))
            self._forget(pair)

    def _drop(self, pair: _Pair) -> None:
        """A connection is over for the client."""
        if pair.forward is not None:
            pair.forward.on_data = pair.forward.on_end = None
            pair.forward.close()
        self._forget(pair)

    def _forget(self, pair: _Pair) -> None:
        self._pairs.pop(pair.request, None)
        self._by_stream.pop(pair.data, None)
        self._by_stream.pop(pair.error, None)
        pair.forward = None

    def _send(self, frame: Frame) -> None:
        self.outbox.put(self._writer.write(frame))

    def _probe(self) -> None:
        self._send(Ping(2))

    def _hold(self, held: bool) -> None:
        self._held = held
        for pair in list(self._pairs.values()):
            if pair.forward is not None:
                flow.hold(pair.forward, held)
        self._poke()
