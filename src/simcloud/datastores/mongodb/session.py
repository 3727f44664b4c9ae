"""One client's connection: a thread of the server that answers its commands one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simcloud.datastores.mongodb.auth.roles import CLUSTER, allows
from simcloud.datastores.mongodb.bson import Document
from simcloud.datastores.mongodb.commands.authenticating import LogIn
from simcloud.datastores.mongodb.commands.locking import WRITES
from simcloud.datastores.mongodb.commands.registry import CommandInfo, Request
from simcloud.datastores.mongodb.failures import MongoFailure
from simcloud.datastores.mongodb.rendering import show
from simcloud.datastores.mongodb.wire import Command, Reply, reply_bytes
from simcloud.machine.network import Connection, NetworkError

if TYPE_CHECKING:
    from simcloud.datastores.mongodb.server import Server

THREAD_BYTES: Final = 1024 * 1024
FIRST_STEPS: Final = frozenset({"createUser", "grantRole", "createRole"})
"""What a local client may do while there is no user at all."""


class Session:
    """A connection and who is logged in on it."""

    def __init__(self, server: Server, connection: Connection, number: int) -> None:
        self.server = server
        self.number = number
        self.name = f"conn{number}"
        self.remote = f"{connection.remote[0]}:{connection.remote[1]}"
        self.client: Document = {}
        self.log_in: LogIn | None = None
        self.users: dict[str, str] = {}
        self.running: Request | None = None
        self.running_since = 0.0
        self.waiting_for_lock = False
        self._local = connection.remote[0].startswith("127.")
        self._connection = connection

    def introduce(self, client: Document) -> None:
        """The client says what it is; once per connection."""
        if client and not self.client:
            self.client = client
            log = self.server.log
            log.say(
                "NETWORK",
                51800,
                self.name,
                "client metadata",
                remote=self.remote,
                client=self.name,
                doc=client,
            )

    # -- what it may do ------------------------------------------------------------------------

    def authorize(self, request: Request, info: CommandInfo) -> None:
        """Raise ``Unauthorized`` unless this connection's users may run this command."""
        if info.scope == "anyone":
            return
        if not self._known_users() and not (self._local and self.server.users.none_exist):
            raise MongoFailure(13, f"command {request.name} requires authentication")
        if info.scope == "handler":
            return
        for action in info.actions:
            if info.scope == "cluster":
                self.need(request, action, CLUSTER)
            elif info.scope == "database":
                self.need(request, action, request.db)
            else:
                self.need(request, action, request.db, request.namespace.partition(".")[2])

    def need(self, request: Request, action: str, db: str, collection: str = "") -> None:
        """Raise ``Unauthorized`` unless this action is allowed there."""
        if not self.server.options.auth or self._may(action, db, collection):
            return
        message = f"not authorized on {request.db} to execute command {show(request.shown)}"
        failure = MongoFailure(13, message)
        error = {"code": 13, "codeName": failure.name, "errmsg": message}
        self.server.log.say("ACCESS", 20436, self.name, "Checking authorization failed", error=error)
        raise failure

    def may(self, action: str, db: str, collection: str = "") -> bool:
        """Whether this action is allowed there."""
        return not self.server.options.auth or self._may(action, db, collection)

    def _may(self, action: str, db: str, collection: str) -> bool:
        users = self.server.users
        if not self.users:
            return self._local and users.none_exist and action in FIRST_STEPS
        for home, user in self.users.items():
            privileges = users.privileges(user, home)
            if privileges is not None and allows(privileges, action, db, collection):
                return True
        return False

    def _known_users(self) -> bool:
        """Whether somebody is logged in who still exists."""
        for db, user in list(self.users.items()):
            if self.server.users.find(user, db) is None:
                del self.users[db]
        return bool(self.users)

    # -- serving -------------------------------------------------------------------------------

    async def serve(self) -> None:
        """Answer until the client hangs up."""
        server, connection = self.server, self._connection
        while True:
            try:
                command = await connection.receive()
                if command.__class__ is not Command:
                    break
                reply = await self._answer(command)
                connection.send(Reply(command.id, reply), reply_bytes(reply))
                del command, reply  # a client that is silent for long must not keep a great answer in memory
            except NetworkError:
                break
        self.end()
        server.log.say(
            "NETWORK", 22944, self.name, "Connection ended",
            remote=self.remote, connectionId=self.number, connectionCount=len(server.sessions),
        )  # fmt: skip

    async def _answer(self, command: Command) -> Document:
        server, kernel = self.server, self.server.ctx.kernel
        started_at = kernel.now
        if server.fsync_locks and next(iter(command.body), "") in WRITES:
            await self._wait_for_lock(command)
        reply, request = server.run(self, command.db, command.body)
        self.running, self.running_since = request, started_at
        await server.ctx.cpu(request.cpu_s)
        if request.durable:
            await server.durable()
        self.running = None
        if kernel.now - started_at > server.slow_s:
            server.log_slow(request, reply, kernel.now - started_at)
        return reply

    async def _wait_for_lock(self, command: Command) -> None:
        """Wait until writes are allowed; whoever asks what is under way sees it."""
        server = self.server
        name = next(iter(command.body), "")
        self.running = Request(server, self, command.db, name, command.body)
        self.running_since = server.ctx.kernel.now
        self.waiting_for_lock = True
        while server.fsync_locks:
            await server.unlocked.wait()
        self.waiting_for_lock = False

    def end(self) -> None:
        """Hang up and free what the connection held."""
        self._connection.close()
        if self.server.sessions.pop(self.number, None) is not None:
            self.server.ctx.memory.grow(-THREAD_BYTES)
