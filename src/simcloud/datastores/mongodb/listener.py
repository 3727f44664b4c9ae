"""The port of mongod: accepts connections, with or without TLS, and refuses others."""

from __future__ import annotations

from typing import Final

from simcloud.datastores.mongodb.server import THREAD_BYTES, Server, Session
from simcloud.datastores.mongodb.session import serve
from simcloud.datastores.mongodb.wire import MONGODB, MONGODB_TLS
from simcloud.machine.files import FileError
from simcloud.machine.network import HTTP, Connection, Listener, NetworkError, respond

TAKEN: Final = {
    "disabled": (MONGODB,),
    "allowTLS": (MONGODB, MONGODB_TLS),
    "preferTLS": (MONGODB, MONGODB_TLS),
    "requireTLS": (MONGODB_TLS,),
}
ADVICE: Final = "It looks like you are trying to access MongoDB over HTTP on the native driver port.\r\n"


class MongoListener:
    """Listens on every address that the server is bound to."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._listeners: list[Listener] = []
        names = server.options.bind_ip.split(",")
        addresses = ["0.0.0.0"] if "*" in names or "0.0.0.0" in names else names
        try:
            for address in addresses:
                self._listen("127.0.0.1" if address == "localhost" else address)
        except NetworkError:
            self.close()
            raise

    def _listen(self, address: str) -> None:
        server = self._server
        listener = server.ctx.listen(server.options.port, "tcp", address)
        self._listeners.append(listener)
        if server.options.tls_mode != "disabled":
            try:
                listener.certificate = server.ctx.files.read(server.options.tls_certificate)
            except FileError:
                pass  # it was there a moment ago; a reader sees none
        listener.on_accept = self._accept

    def close(self) -> None:
        """Stop listening."""
        for listener in self._listeners:
            listener.close()

    def _accept(self, connection: Connection) -> None:
        server = self._server
        server.connections_created += 1
        session = Session(server, connection, server.connections_created)
        count = len(server.sessions)
        if count >= server.options.max_connections:
            text = "Connection refused because there are too many open connections"
            server.log.say("NETWORK", 22942, "listener", text, connectionCount=count)
            connection.close()
            return
        server.sessions[session.number] = session
        server.ctx.memory.grow(THREAD_BYTES)
        server.ctx.process.threads += 1
        server.log.say(
            "NETWORK", 22943, "listener", "Connection accepted",
            remote=session.remote, connectionId=session.number, connectionCount=count + 1,
        )  # fmt: skip
        spoken = connection.peer.protocol
        if spoken in TAKEN[server.options.tls_mode]:
            connection.protocol = spoken  # the listener takes anything; from here on it is this
            server.ctx.spawn(serve(session), session.name)
        else:
            server.ctx.spawn(self._turn_away(session, connection, spoken), session.name)

    async def _turn_away(self, session: Session, connection: Connection, spoken: str) -> None:
        """Refuse a client that uses another protocol: read its first message, answer or log it, and close."""
        log = self._server.log
        try:
            await connection.receive()
        except NetworkError:
            pass
        else:
            if spoken == HTTP:
                connection.protocol = HTTP
                response = respond(200, ADVICE, Content_Type="text/plain", Connection="close")
                try:
                    connection.send(response, response.size_bytes)
                except NetworkError:
                    pass
            elif spoken == MONGODB:
                self._handshake_failed(session, "The server is configured to only allow SSL connections")
            elif spoken == MONGODB_TLS:
                self._handshake_failed(
                    session, "SSL handshake received but server is started without SSL support"
                )
        session.end()
        log.say(
            "NETWORK", 22944, session.name, "Connection ended",
            remote=session.remote, connectionId=session.number, connectionCount=len(self._server.sessions),
        )  # fmt: skip

    def _handshake_failed(self, session: Session, reason: str) -> None:
        error = {"code": 141, "codeName": "SSLHandshakeFailed", "errmsg": reason}
        self._server.log.say(
            "NETWORK", 22988, session.name, "Error receiving request from client. Ending connection from remote",
            error=error, remote=session.remote, connectionId=session.number,
        )  # fmt: skip
