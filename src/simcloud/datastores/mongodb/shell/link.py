"""A shell's connection to a server: dialling, login, commands. After an error the next command reconnects."""

from __future__ import annotations

from typing import Any, Final

from simcloud.datastores.mongodb.auth.scram import KEY_CPU_S, SHA1, SHA256, ClientSide, ScramError
from simcloud.datastores.mongodb.bson import Binary, Document
from simcloud.datastores.mongodb.shell.options import Address
from simcloud.datastores.mongodb.shell.tls_errors import Untrusted
from simcloud.datastores.mongodb.wire import MONGODB, MONGODB_TLS, Command, Reply, command_bytes
from simcloud.machine.files import FileError
from simcloud.machine.network import Connection, NetworkError
from simcloud.machine.process import Context
from simcloud.sim import TimedOut

CONNECT_TIMEOUT_S: Final = 30.0
HELLO_TIMEOUT_S: Final = 30.0
_WITHOUT_SESSION: Final = ("saslStart", "saslContinue", "isMaster", "hello")


class NoConnection(Exception):
    """The server could not be reached; ``cause`` is the network's reason."""

    def __init__(self, cause: NetworkError) -> None:
        super().__init__(str(cause))
        self.cause = cause


class BrokenLink(Exception):
    """The connection broke during a command."""

    def __init__(self, command: str) -> None:
        super().__init__(command)
        self.command = command


class Refused(Exception):
    """The server rejected a login."""

    def __init__(self, reply: Document) -> None:
        super().__init__(reply.get("errmsg", ""))
        self.reply = reply


Unreachable = (NoConnection, Untrusted, BrokenLink)
"""The ways not to reach a server, for ``except``."""


class Link:
    """A connection and its logged-in user."""

    def __init__(self, ctx: Context, address: Address, client: Document) -> None:
        self._ctx = ctx
        self.address = address
        self._client = client
        self._connection: Connection | None = None
        self._last = 0
        self._logins: list[tuple[str, str, str, str]] = []
        self.hello: Document = {}
        self.session: Document | None = None

    @property
    def place(self) -> str:
        """Host and port, as messages name them."""
        return f"{self.address.host}:{self.address.port}"

    async def open(self, timeout_s: float = CONNECT_TIMEOUT_S) -> None:
        """Connect and greet; raises ``NoConnection``, ``Untrusted`` or ``BrokenLink``."""
        protocol = MONGODB_TLS if self.address.tls else MONGODB
        try:
            self._connection = await self._ctx.dial(self.address.host, self.address.port, protocol, timeout_s)
        except NetworkError as error:
            raise NoConnection(error) from None
        if self.address.tls and not self.address.any_certificate:
            try:
                self._check_certificate(self._connection)
            except Untrusted:
                self.close()
                raise
        self.hello = await self._exchange("admin", {"isMaster": 1, "client": self._client}, HELLO_TIMEOUT_S)

    def _check_certificate(self, connection: Connection) -> None:
        listener = connection.peer.listener
        authorities = None
        if self.address.ca_file:
            try:
                authorities = self._ctx.files.read(self.address.ca_file)
            except FileError:
                authorities = b""
        shown = b"" if listener is None else listener.certificate
        if not shown:
            return  # the server speaks no TLS; that shows in a moment
        # Reading certificates takes a library of eight megabytes; few databases show one.
        from simcloud.datastores.mongodb.shell.trust import check

        check(shown, authorities, None if self.address.any_name else self.address.host, self._ctx.now)

    async def run(self, db: str, body: Document) -> Document:
        """Run a command; the reply may say that it failed. Raises ``NoConnection`` or ``BrokenLink``."""
        if self._connection is None or self._connection.closed:
            await self.open()
            for login in self._logins:
                await self._authenticate(*login)
        if self.session is not None and next(iter(body), "") not in _WITHOUT_SESSION:
            body = {**body, "lsid": self.session}
        return await self._exchange(db, body, None)

    async def _exchange(self, db: str, body: Document, timeout_s: float | None) -> Document:
        connection = self._connection
        assert connection is not None
        self._last += 1
        try:
            connection.send(Command(self._last, db, body), command_bytes(body))
            reply: Reply = await connection.receive(timeout_s)
        except (NetworkError, TimedOut):
            self.close()
            raise BrokenLink(next(iter(body), "")) from None
        return reply.body

    async def login(self, db: str, user: str, password: str, mechanism: str = "") -> None:
        """Log in; raises ``Refused``."""
        if not mechanism:
            asked = {"isMaster": 1, "saslSupportedMechs": f"{db}.{user}"}
            offered = (await self.run("admin", asked)).get("saslSupportedMechs") or []
            mechanism = SHA256 if SHA256 in offered else SHA1
        await self._authenticate(db, user, password, mechanism)
        self._logins = [each for each in self._logins if each[0] != db]
        self._logins.append((db, user, password, mechanism))

    async def _authenticate(self, db: str, user: str, password: str, mechanism: str) -> None:
        if mechanism not in (SHA1, SHA256):
            raise Refused(
                {"ok": 0.0, "errmsg": f"Received authentication for mechanism {mechanism} which is unknown"}
            )
        await self._ctx.cpu(KEY_CPU_S[mechanism])
        side = ClientSide(mechanism, user, password, self._ctx.random("shell login"))
        start = {"saslStart": 1, "mechanism": mechanism, "payload": Binary(side.first), "autoAuthorize": 1}
        reply = await self._step(db, start)
        try:
            proof = side.final(_payload(reply))
            reply = await self._step(db, _next(reply, proof))
            side.check(_payload(reply))
        except ScramError as error:
            raise Refused(
                {"ok": 0.0, "errmsg": str(error), "code": 18, "codeName": "AuthenticationFailed"}
            ) from None
        while not reply.get("done"):
            reply = await self._step(db, _next(reply, b""))

    async def _step(self, db: str, body: Document) -> Document:
        reply = await self.run(db, body)
        if not reply.get("ok"):
            raise Refused(reply)
        return reply

    def logout(self, db: str) -> None:
        """Forget a log-in."""
        self._logins = [each for each in self._logins if each[0] != db]

    def close(self) -> None:
        """Hang up."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _payload(reply: Document) -> bytes:
    payload: Any = reply.get("payload", b"")
    return payload.data if isinstance(payload, Binary) else bytes(payload)


def _next(reply: Document, payload: bytes) -> Document:
    return {"saslContinue": 1, "conversationId": reply.get("conversationId", 1), "payload": Binary(payload)}
