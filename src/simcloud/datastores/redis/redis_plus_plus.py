"""A client that behaves like redis-plus-plus, as in the social network's services: its pool and error messages.

Connections are created on demand, up to the size of the pool, and used in turn; a connection that is older than its
lifetime is replaced by the next request on it. A connection that the server has closed is only noticed by the next
request on it. A request waits for a free connection with the timeout of the pool.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final, cast

from simcloud.datastores.redis.resp import (
    PORT,
    REDIS,
    Commands,
    ErrorReply,
    Replies,
    Reply,
    Words,
    commands_bytes,
)
from simcloud.machine.network import BrokenPipe, Closed, Connection, NetworkError
from simcloud.machine.process import Context
from simcloud.sim import Semaphore, TimedOut

CONNECT_FAILED: Final = "Failed to connect to Redis"
NO_REPLY: Final = "Failed to get reply"


class RedisFailure(Exception):
    """A request failed; the text is the library's ``what()``."""


class ServerReplied(RedisFailure):
    """The server answered with an error; the text is the server's."""


class RedisPool:
    """Connections to one server. ``timeout_s`` is the socket's: none unless set."""

    def __init__(
        self,
        ctx: Context,
        address: str,
        size: int = 512,
        wait_s: float = 10.0,
        lifetime_s: float = 10.0,
        password: str = "",
        timeout_s: float | None = None,
    ) -> None:
        host, _, port = address.partition(":")
        self._ctx = ctx
        self._host, self._port = host, int(port or PORT)
        self._wait_s = wait_s
        self._lifetime_s = lifetime_s
        self._password = password
        self._timeout_s = timeout_s
        self._free = Semaphore(ctx.kernel, size)
        self._idle: deque[Connection] = deque()

    # -- single commands -----------------------------------------------------------------------

    async def command(self, *words: bytes | str | float) -> Reply:
        """Any command; its reply. Raises ``RedisFailure``."""
        [reply] = await self.run([_words(words)])
        if reply.__class__ is ErrorReply:
            raise ServerReplied(str(reply))
        return reply

    async def zadd(self, key: str, member: str | bytes, score: float, only_new: bool = False) -> int:
        """Add a member; how many are new."""
        [reply] = await self._execute_checked([zadd_words(key, member, score, only_new)])
        return cast(int, reply)

    async def zrevrange(self, key: str, start: int, stop: int) -> list[bytes]:
        """Members from the highest score down."""
        [reply] = await self._execute_checked([zrevrange_words(key, start, stop)])
        return cast(list[bytes], reply)

    def pipeline(self) -> Pipeline:
        """Commands that are sent together."""
        return Pipeline(self)

    # -- connections ---------------------------------------------------------------------------

    async def run(self, commands: list[Words]) -> list[Reply]:
        """Send commands together; their replies, errors among them as data. Raises ``RedisFailure``."""
        try:
            await self._free.acquire(self._wait_s)
        except TimedOut:
            waited_ms = int(self._wait_s * 1000)
            raise RedisFailure(f"Failed to fetch a connection in {waited_ms} milliseconds") from None
        try:
            connection = await self._fetch()
            replies = await self._exchange(connection, commands)
            self._idle.append(connection)
            return replies
        finally:
            self._free.release()

    async def _execute_checked(self, commands: list[Words]) -> list[Reply]:
        replies = await self.run(commands)
        for reply in replies:
            if reply.__class__ is ErrorReply:
                raise ServerReplied(str(reply))
        return replies

    async def _fetch(self) -> Connection:
        if self._idle:
            connection = self._idle.popleft()
            if self._ctx.kernel.now - connection.opened_at <= self._lifetime_s:
                return connection
            connection.close()
        return await self._connect()

    async def _connect(self) -> Connection:
        try:
            connection = await self._ctx.dial(self._host, self._port, REDIS)
        except NetworkError as error:
            raise RedisFailure(f"{CONNECT_FAILED}: {_words_of(error)}") from None
        if self._password:
            [reply] = await self._exchange(connection, [[b"AUTH", self._password.encode()]])
            if reply.__class__ is ErrorReply:
                connection.close()
                raise ServerReplied(str(reply))
        return connection

    async def _exchange(self, connection: Connection, commands: list[Words]) -> list[Reply]:
        try:
            connection.send(Commands(commands), commands_bytes(commands))
            answer: Replies = await connection.receive(self._timeout_s)
            replies = answer.replies
            while len(replies) < len(commands):
                answer = await connection.receive(self._timeout_s)
                replies = replies + answer.replies
        except TimedOut:
            connection.close()
            raise RedisFailure(f"{NO_REPLY}: Resource temporarily unavailable") from None
        except NetworkError as error:
            connection.close()
            raise RedisFailure(f"{NO_REPLY}: {_words_of(error)}") from None
        return replies


class Pipeline:
    """Commands collected, then sent at once over one connection."""

    __slots__ = ("_commands", "_pool")

    def __init__(self, pool: RedisPool) -> None:
        self._pool = pool
        self._commands: list[Words] = []

    def zadd(self, key: str, member: str | bytes, score: float, only_new: bool = False) -> Pipeline:
        """Add a member."""
        self._commands.append(zadd_words(key, member, score, only_new))
        return self

    def command(self, *words: bytes | str | float) -> Pipeline:
        """Any command."""
        self._commands.append(_words(words))
        return self

    async def exec(self) -> list[Reply]:
        """Send all; their replies. Raises ``RedisFailure``, also for the first error among the replies."""
        commands, self._commands = self._commands, []
        return await self._pool._execute_checked(commands) if commands else []


def zadd_words(key: str, member: str | bytes, score: float, only_new: bool) -> Words:
    """``ZADD key [NX] score member``."""
    name = member if isinstance(member, bytes) else member.encode()
    number = b"%.17g" % score
    return [b"ZADD", key.encode(), b"NX", number, name] if only_new else [b"ZADD", key.encode(), number, name]


def zrevrange_words(key: str, start: int, stop: int) -> Words:
    """``ZREVRANGE key start stop``."""
    return [b"ZREVRANGE", key.encode(), b"%d" % start, b"%d" % stop]


def _words(words: Iterable[bytes | str | float]) -> Words:
    return [word if isinstance(word, bytes) else str(word).encode() for word in words]


def _words_of(error: NetworkError) -> str:
    # Writing to a connection that the peer has closed succeeds; the read that follows fails.
    return "Server closed the connection" if isinstance(error, Closed | BrokenPipe) else str(error)
