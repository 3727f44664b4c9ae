"""A memcached client that behaves like Go's gomemcache: its pool, timeouts and errors.

The host name is resolved once, when the client is created: a Service whose address changes later is unreachable
until the program restarts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from simcloud.datastores.memcached.messages import Answer, Fetch, Store, Values
from simcloud.datastores.memcached.pool import DialFailed, ExchangeFailed, Pool
from simcloud.machine.network import ConnectTimedOut, NameNotFound, NetworkError, ResolverFailure
from simcloud.machine.process import Context
from simcloud.services.languages import golang

KEY_MAX_BYTES: Final = 250
LINE_BYTES: Final = 24


class MemcacheError(Exception):
    """A request failed; the text is gomemcache's."""


class CacheMiss(MemcacheError):
    """The key does not exist."""

    def __init__(self) -> None:
        super().__init__("memcache: cache miss")


class NotStored(MemcacheError):
    """The condition of a conditional store did not hold."""

    def __init__(self) -> None:
        super().__init__("memcache: item not stored")


class MalformedKey(MemcacheError):
    """The key is not valid in the protocol."""

    def __init__(self) -> None:
        super().__init__("malformed: key is too long or contains invalid characters")


class MemcachedClient:
    """A client of one server: ``client = await MemcachedClient.new(ctx, "memcached-rate:11211")``."""

    __slots__ = ("_ctx", "_pool")

    def __init__(self, ctx: Context, pool: Pool) -> None:
        self._ctx = ctx
        self._pool = pool

    @classmethod
    async def new(
        cls, ctx: Context, server: str, *, timeout_s: float = 2.0, max_idle: int = 512
    ) -> MemcachedClient:
        """Resolve the server's name, and connect to nothing yet.

        Raises ``MemcacheError`` with the resolver's words when the name has no address.
        """
        host, _, port = server.rpartition(":")
        if not host or not (port.isascii() and port.isdigit() and len(port) <= 5):
            raise MemcacheError(f"address {server}: missing port in address")
        try:
            address = (await ctx.container.namespace.resolve(host))[0]
        except (NameNotFound, ResolverFailure) as error:
            raise MemcacheError(golang.lookup_error(ctx, error)) from None
        except NetworkError as error:
            raise MemcacheError(f"lookup {host}: {error}") from None
        return cls(ctx, Pool(ctx, address, int(port), timeout_s, max_idle))

    async def get_multi(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Return the values of those keys that are there."""
        if not keys:
            return {}
        wanted = tuple([_legal(key) for key in keys])
        reply = await self._exchange(Fetch(wanted), LINE_BYTES * len(wanted))
        if reply.__class__ is not Values:
            raise MemcacheError(f'memcache: unexpected line in get response: "{_line(reply)}"')
        found = reply.values
        return {key: found[word] for key, word in zip(keys, wanted, strict=True) if word in found}

    async def get(self, key: str) -> bytes:
        """Return the value of a key; ``CacheMiss`` when there is none."""
        found = await self.get_multi((key,))
        if not found:
            raise CacheMiss
        return found[key]

    async def set(self, key: str, value: bytes, ttl_s: int = 0, flags: int = 0) -> None:
        """Store a value, replacing any other."""
        await self._store("set", key, value, ttl_s, flags)

    async def add(self, key: str, value: bytes, ttl_s: int = 0, flags: int = 0) -> None:
        """Store a value where there is none; ``NotStored`` otherwise."""
        await self._store("add", key, value, ttl_s, flags)

    async def _store(self, verb: str, key: str, value: bytes, ttl_s: int, flags: int) -> None:
        word = _legal(key)
        message = Store(verb, word, value, flags, ttl_s)
        reply = await self._exchange(message, LINE_BYTES + len(word) + len(value))
        if reply.__class__ is Answer and reply.line == "STORED":
            return
        if reply.__class__ is Answer and reply.line == "NOT_STORED":
            raise NotStored
        raise MemcacheError(f'memcache: unexpected response line from "{verb}": "{_line(reply)}"')

    async def _exchange(self, message: Fetch | Store, size_bytes: int) -> Values | Answer:
        pool = self._pool
        try:
            reply: Values | Answer = await pool.exchange(message, size_bytes)
        except DialFailed as failure:
            if isinstance(failure.error, ConnectTimedOut):
                raise MemcacheError(f"memcache: connect timeout to {pool.address}:{pool.port}") from None
            raise MemcacheError(
                golang.dial_error(self._ctx, failure.error, pool.address, pool.port)
            ) from None
        except ExchangeFailed as failure:
            words = golang.read_error(failure.error, failure.local, failure.remote, failure.verb)
            raise MemcacheError(words) from None
        return reply


def _legal(key: str) -> bytes:
    word = key.encode()
    if len(word) > KEY_MAX_BYTES or not (key.isprintable() and " " not in key):
        raise MalformedKey
    return word


def _line(reply: object) -> str:
    """Return a line as Go's ``%q`` shows it."""
    return f"{reply.line}\\r\\n" if isinstance(reply, Answer) else ""
