"""Exec and attach over a WebSocket."""

from __future__ import annotations

from typing import Final

import msgspec
from starlette.websockets import WebSocket

from simcloud.kubernetes.api import InternalError, Object, Session
from simcloud.server.kubernetes.context import AppContext
from simcloud.server.kubernetes.paths import Target
from simcloud.server.kubernetes.streams import channels, flow
from simcloud.server.kubernetes.streams.channels import Dialect
from simcloud.server.kubernetes.streams.flow import Message, Outbox
from simcloud.server.kubernetes.streams.link import relay
from simcloud.server.kubernetes.streams.requests import StreamOptions, open_session, parse_options

LARGEST_SIZE: Final = 65_535


async def serve(app: AppContext, socket: WebSocket, target: Target) -> None:
    """Run a command, or join one, for as long as both sides want."""
    options = parse_options(socket.query_params, target.subresource)
    dialect = channels.choose(socket.scope["subprotocols"], channels.COMMANDS)
    session = open_session(app, target, options)
    talk = Talk(app, session, options, dialect)
    try:
        await socket.accept(dialect.name)
        await relay(socket, talk.outbox, talk.take)
    finally:
        session.stop()
        app.live.poke()


class _Size(msgspec.Struct):
    """The size of a terminal, as clients send it."""

    width: int = msgspec.field(name="Width")
    height: int = msgspec.field(name="Height")


class Talk:
    """A client, a process, and the channels between them."""

    def __init__(self, app: AppContext, session: Session, options: StreamOptions, dialect: Dialect) -> None:
        self._app = app
        self._session = session
        self._options = options
        self._dialect = dialect
        self.outbox = Outbox(self._hold)
        self._greet()
        session.on_output, session.on_end = self._show, self._end
        app.live.poke()

    async def take(self, message: Message) -> None:
        """Handle a message of the client. Messages that are invalid on their channel are ignored."""
        heard = self._dialect.decode(message)
        if heard is None:
            return
        channel, data = heard
        if channel == channels.STDIN and self._options.stdin:
            self._session.write(data)
        elif channel == channels.RESIZE and self._options.tty:
            self._resize(data)
        elif channel == channels.CLOSE and self._dialect.closes and data[:1] == bytes((channels.STDIN,)):
            self._session.close_input()
        self._app.live.poke()
        await flow.room(self._session, self._app.live.poke, self._greet)

    def _greet(self) -> None:
        """Send an empty message on the first channel that the client reads, to confirm the connection."""
        options = self._options
        first = channels.STDOUT if options.stdout else channels.STDERR if options.stderr else channels.ERROR
        self.outbox.put(self._dialect.encode(first, b""))

    def _show(self, number: int, data: bytes) -> None:
        wanted = self._options.stdout if number == channels.STDOUT else self._options.stderr
        if wanted:
            for message in self._dialect.pieces(number, data):
                self.outbox.put(message)

    def _end(self, code: int, why: str) -> None:
        payload = encode_outcome(self._dialect, code, why)
        if payload:
            self.outbox.put(self._dialect.encode(channels.ERROR, payload))
        self.outbox.finish()

    def _hold(self, held: bool) -> None:
        flow.hold(self._session, held)
        self._app.live.poke()

    def _resize(self, data: bytes) -> None:
        try:
            size = msgspec.json.decode(data, type=_Size)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return
        if 0 < size.width <= LARGEST_SIZE and 0 < size.height <= LARGEST_SIZE:
            self._session.resize(size.width, size.height)


def encode_outcome(dialect: Dialect, code: int, why: str) -> bytes:
    """Encode how a process ended, for the error channel; in the oldest versions success is empty."""
    status = _status(code, why)
    if dialect.tells_status:
        return msgspec.json.encode(status)
    return b"" if status["status"] == "Success" else str(status["message"]).encode()


def _status(code: int, why: str) -> Object:
    if why:
        # Both the node and the API server wrap the message.
        failed = InternalError(InternalError(why).message).status()
        return {key: value for key, value in failed.items() if key not in ("kind", "apiVersion")}
    if code == 0:
        return {"metadata": {}, "status": "Success"}
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"command terminated with non-zero exit code: command terminated with exit code {code}",
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]},
    }
