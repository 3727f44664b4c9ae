"""A client that behaves like mgo, the Go driver of the hotel's services.

Dialling fails after ten seconds with ``no reachable servers``. A socket times out after a minute of silence; after
a socket error the session must be refreshed, so here the next operation reconnects. Returned documents are shared
with the server: do not change them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from simcloud.datastores.mongodb.auth.scram import KEY_CPU_S, SHA1, ClientSide, ScramError
from simcloud.datastores.mongodb.bson import Binary, Document, ObjectId, ObjectIds
from simcloud.datastores.mongodb.wire import MONGODB, MONGODB_TLS, PORT, Command, Reply, command_bytes
from simcloud.machine.network import Connection, NetworkError
from simcloud.machine.process import Context
from simcloud.sim import TimedOut

DIAL_TIMEOUT_S: Final = 10.0
SOCKET_TIMEOUT_S: Final = 60.0
RETRY_S: Final = 0.5
POOL_LIMIT: Final = 4096
POOL_POLL_S: Final = 0.1


class MongoError(Exception):
    """An error of the driver or the server; ``code`` is the server's, or 0."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.code = code


class NotFound(MongoError):
    """``one()`` found nothing."""

    def __init__(self) -> None:
        super().__init__("not found")


class Socket:
    """A connection of the pool, which carries one command at a time."""

    __slots__ = ("_connection", "_last")

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._last = 0

    @property
    def dead(self) -> bool:
        """Whether it is known to be of no more use."""
        return self._connection.closed

    async def run(self, db: str, body: Document, timeout_s: float) -> Document:
        """Send a command and wait for its reply. Errors have Go's messages."""
        self._last += 1
        doing = "write"
        try:
            self._connection.send(Command(self._last, db, body), command_bytes(body))
            doing = "read"
            reply: Reply = await self._connection.receive(timeout_s)
        except TimedOut:
            raise self._make_error(doing, "i/o timeout") from None
        except NetworkError as error:
            raise (
                self._make_error(doing, str(error).lower()) if error.code else self._make_end_error()
            ) from None
        return reply.body

    def _make_error(self, doing: str, words: str) -> MongoError:
        (here, port), (there, remote_port) = self._connection.local, self._connection.remote
        self.close()
        return MongoError(f"{doing} tcp {here}:{port}->{there}:{remote_port}: {words}")

    def _make_end_error(self) -> MongoError:
        self.close()
        return MongoError("EOF")

    def close(self) -> None:
        """Hang up."""
        self._connection.close()


class MongoClient:
    """A session with one server, with a pool of sockets."""

    def __init__(
        self,
        ctx: Context,
        address: str,
        username: str | None = None,
        password: str | None = None,
        tls: bool = False,
        source: str = "admin",
    ) -> None:
        self._ctx = ctx
        host, _, port = address.partition(":")
        self._host, self._port = host, int(port or PORT)
        self._login = (username, password) if username is not None and password is not None else None
        self._protocol = MONGODB_TLS if tls else MONGODB
        self._idle: list[Socket] = []
        self._in_use = 0
        self._source = source
        self._random = ctx.random(f"mongo driver {address}")
        self._ids = ObjectIds(self._random)

    async def connect(self) -> None:
        """Reach the server within ten seconds, or fail with ``no reachable servers``."""
        deadline = self._ctx.kernel.now + DIAL_TIMEOUT_S
        self._idle.append(await self._reach(deadline))

    async def run(self, db: str, body: Document) -> Document:
        """Run any command; a reply that is not ok is raised."""
        while self._in_use >= POOL_LIMIT:
            await self._ctx.sleep(POOL_POLL_S)
        self._in_use += 1
        try:
            socket = await self._take()
            reply = await socket.run(db, body, SOCKET_TIMEOUT_S)
        finally:
            self._in_use -= 1
        self._idle.append(socket)
        if not reply["ok"]:
            raise MongoError(reply["errmsg"], reply["code"])
        return reply

    def collection(self, db: str, name: str) -> Collection:
        """Return a collection to work on."""
        return Collection(self, db, name)

    def close(self) -> None:
        """Hang up all sockets."""
        while self._idle:
            self._idle.pop().close()

    def new_id(self) -> ObjectId:
        """Return an id for a document that has none."""
        return self._ids.new(self._ctx.now)

    async def _take(self) -> Socket:
        while self._idle:
            socket = self._idle.pop()
            if not socket.dead:
                return socket
            socket.close()
        return await self._reach(self._ctx.kernel.now + DIAL_TIMEOUT_S)

    async def _reach(self, deadline: float) -> Socket:
        """Return a fresh socket, logged in; ``no reachable servers`` when there is none until the deadline."""
        kernel = self._ctx.kernel
        while True:
            try:
                socket = await self._dial(deadline)
                break
            except (NetworkError, MongoError):
                left_s = deadline - kernel.now
                if left_s <= 0:
                    raise MongoError("no reachable servers") from None
                await kernel.sleep(min(RETRY_S, left_s))
        if self._login is not None:
            try:
                await self._log_in(socket, *self._login)
            except MongoError:
                socket.close()
                raise
        return socket

    async def _dial(self, deadline: float) -> Socket:
        kernel = self._ctx.kernel
        left_s = max(0.0, deadline - kernel.now)
        connection = await self._ctx.dial(self._host, self._port, self._protocol, left_s)
        socket = Socket(connection)
        await socket.run("admin", {"ismaster": 1}, max(0.0, deadline - kernel.now))
        return socket

    async def _log_in(self, socket: Socket, user: str, password: str) -> None:
        """SCRAM-SHA-1, as mgo does it."""
        scram = ClientSide(SHA1, user, password, self._random)
        start = {"saslStart": 1, "mechanism": SHA1, "payload": Binary(scram.first), "autoAuthorize": 1}
        reply = await self._step(socket, start)
        await self._ctx.cpu(KEY_CPU_S[SHA1])
        try:
            proof = scram.final(reply["payload"].data)
            reply = await self._step(socket, _continue(reply, proof))
            scram.check(reply["payload"].data)
        except ScramError as error:
            raise MongoError(f"{error}") from None
        while not reply["done"]:
            reply = await self._step(socket, _continue(reply, b""))

    async def _step(self, socket: Socket, body: Document) -> Document:
        reply = await socket.run(self._source, body, SOCKET_TIMEOUT_S)
        if not reply["ok"]:
            message = f"server returned error on SASL authentication step: {reply['errmsg']}"
            raise MongoError(message, reply["code"])
        return reply


def _continue(reply: Document, payload: bytes) -> Document:
    return {"saslContinue": 1, "conversationId": reply["conversationId"], "payload": Binary(payload)}


class Collection:
    """Operations on one collection."""

    __slots__ = ("_client", "_db", "_name")

    def __init__(self, client: MongoClient, db: str, name: str) -> None:
        self._client = client
        self._db = db
        self._name = name

    def find(self, query: Document | None = None) -> Query:
        """Return a query to be run by ``all``, ``one`` or ``count``."""
        return Query(self._client, self._db, self._name, query or {})

    async def count(self) -> int:
        """Count all documents."""
        return await self.find().count()

    async def insert(self, *documents: Document) -> None:
        """Add documents."""
        full = [each if "_id" in each else {"_id": self._client.new_id(), **each} for each in documents]
        await self._write({"insert": self._name, "documents": full, "ordered": True})

    async def update(self, query: Document, change: Document) -> None:
        """Change one document; ``not found`` when none matches."""
        if not (await self._update(query, change, False))["n"]:
            raise NotFound

    async def upsert(self, query: Document, change: Document) -> None:
        """Change one document, or add it."""
        await self._update(query, change, True)

    async def remove(self, query: Document) -> None:
        """Remove one document; ``not found`` when none matches."""
        body = {"delete": self._name, "deletes": [{"q": query, "limit": 1}], "ordered": True}
        if not (await self._write(body))["n"]:
            raise NotFound

    async def ensure_index(self, *keys: str, unique: bool = False) -> None:
        """Make an index on these fields (``-field`` sorts downwards) unless it is there."""
        fields = {key.lstrip("+-"): -1 if key.startswith("-") else 1 for key in keys}
        name = "_".join(f"{field}_{way}" for field, way in fields.items())
        index: Document = {"key": fields, "name": name, "ns": f"{self._db}.{self._name}"}
        if unique:
            index["unique"] = True
        await self._client.run(self._db, {"createIndexes": self._name, "indexes": [index]})

    async def _update(self, query: Document, change: Document, upsert: bool) -> Document:
        part: Document = {"q": query, "u": change}
        if upsert:
            part["upsert"] = True
        return await self._write({"update": self._name, "updates": [part], "ordered": True})

    async def _write(self, body: Document) -> Document:
        reply = await self._client.run(self._db, body)
        errors: Sequence[Document] = reply.get("writeErrors") or ()
        if errors:
            raise MongoError(errors[0]["errmsg"], errors[0]["code"])
        return reply


class Query:
    """A query that has not been run yet."""

    __slots__ = ("_body", "_client", "_db", "_name")

    def __init__(self, client: MongoClient, db: str, name: str, query: Document) -> None:
        self._client = client
        self._db = db
        self._name = name
        self._body: Document = {"find": name, "filter": query}

    def sort(self, *keys: str) -> Query:
        """In this order; ``-field`` sorts downwards."""
        self._body["sort"] = {key.lstrip("+-"): -1 if key.startswith("-") else 1 for key in keys}
        return self

    def limit(self, count: int) -> Query:
        """Limit the number of results."""
        self._body["limit"] = count
        return self

    async def all(self) -> list[Document]:
        """Return every document that matches."""
        cursor = (await self._client.run(self._db, self._body))["cursor"]
        documents = list(cursor["firstBatch"])
        while cursor["id"]:
            more = {"getMore": cursor["id"], "collection": self._name}
            cursor = (await self._client.run(self._db, more))["cursor"]
            documents += cursor["nextBatch"]
        return documents

    async def one(self) -> Document:
        """Return the first that matches, or ``NotFound``."""
        body = {**self._body, "limit": 1, "batchSize": 1, "singleBatch": True}
        found: list[Document] = (await self._client.run(self._db, body))["cursor"]["firstBatch"]
        if not found:
            raise NotFound
        return found[0]

    async def count(self) -> int:
        """Count matching documents."""
        body = {"count": self._name, "query": self._body["filter"]}
        return int((await self._client.run(self._db, body))["n"])
