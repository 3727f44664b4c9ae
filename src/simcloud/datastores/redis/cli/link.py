"""The connection of ``redis-cli``: dialling, login, commands. After an error the next command reconnects."""

from __future__ import annotations

from simcloud.datastores.redis.cli.options import Options
from simcloud.datastores.redis.resp import REDIS, Commands, ErrorReply, Replies, Reply, Words, commands_bytes
from simcloud.machine.network import Closed, Connection, NetworkError
from simcloud.machine.process import Context


class Unreachable(Exception):
    """The server is unreachable; the text is the program's message."""


class Link:
    """A connection, and the state that the program tracks for it."""

    def __init__(self, ctx: Context, options: Options) -> None:
        self.options = options
        self.db = options.db
        self.in_transaction = False
        self._ctx = ctx
        self._connection: Connection | None = None
        self._waiting: list[Reply] = []

    @property
    def connected(self) -> bool:
        """Whether there is a connection, as far as is known."""
        return self._connection is not None and not self._connection.closed

    async def open(self) -> None:
        """Connect, log in, choose the database. Raises ``Unreachable``."""
        options = self.options
        try:
            self._connection = await self._ctx.dial(options.host, options.port, REDIS)
        except NetworkError as error:
            raise Unreachable(
                f"Could not connect to Redis at {options.host}:{options.port}: {error}"
            ) from None
        self._waiting, self.in_transaction = [], False
        if options.password is not None:
            login = [options.user, options.password] if options.user else [options.password]
            reply = await self.run([b"AUTH", *[word.encode() for word in login]])
            if isinstance(reply, ErrorReply):
                await self._ctx.err(f"AUTH failed: {reply}\n")
        if self.db:
            reply = await self.run([b"SELECT", b"%d" % self.db])
            if isinstance(reply, ErrorReply):
                await self._ctx.err(f"SELECT {self.db} failed: {reply}\n")
                self.db = 0

    async def ask(self, words: Words) -> Reply:
        """One command and its reply, over a new connection if the old one is gone. Raises ``Unreachable``."""
        if not self.connected:
            await self.open()
        reply = await self.run(words)
        self._note(words, reply)
        return reply

    async def run(self, words: Words) -> Reply:
        """One command and its reply. Raises ``Unreachable``."""
        connection = self._connection
        assert connection is not None
        try:
            connection.send(Commands([words]), commands_bytes([words]))
        except NetworkError as error:
            raise self._make_error(error) from None
        return await self.next()

    async def next(self) -> Reply:
        """Return the next reply or message. Raises ``Unreachable``."""
        connection = self._connection
        assert connection is not None
        while not self._waiting:
            try:
                answer: Replies = await connection.receive()
            except NetworkError as error:
                raise self._make_error(error) from None
            self._waiting += answer.replies
        return self._waiting.pop(0)

    def close(self) -> None:
        """Hang up."""
        if self._connection is not None:
            self._connection.close()

    def _make_error(self, error: NetworkError) -> Unreachable:
        self.close()
        self._connection = None
        return Unreachable(f"Error: {'Server closed the connection' if isinstance(error, Closed) else error}")

    def _note(self, words: Words, reply: Reply) -> None:
        name = words[0].lower()
        if isinstance(reply, ErrorReply):
            if name == b"exec":
                self.in_transaction = False
        elif name == b"select" and len(words) == 2 and words[1].isdigit() and reply == "OK":
            self.db = int(words[1])
        elif name == b"multi":
            self.in_transaction = True
        elif name in (b"exec", b"discard"):
            self.in_transaction = False
