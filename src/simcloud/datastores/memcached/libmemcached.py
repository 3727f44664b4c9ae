"""A memcached client that behaves like libmemcached with the binary protocol, as C++ services use it.

The text of an error is that of ``memcached_strerror``. An unreachable server is not retried for two seconds. A
truncated reply to a request for many keys counts as complete: the keys that had not arrived are missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from simcloud.datastores.memcached.messages import PORT, Answer, Fetch, Store, Values
from simcloud.datastores.memcached.pool import DialFailed, ExchangeFailed, Pool
from simcloud.machine.network import ConnectTimedOut, NameNotFound, ResolverFailure
from simcloud.machine.process import Context
from simcloud.sim import TimedOut

TIMEOUT_S: Final = 5.0
RETRY_S: Final = 2.0
POOL_SIZE: Final = 512
HEADER_BYTES: Final = 24
KEY_MAX_BYTES: Final = 250

BAD_KEY: Final = "A BAD KEY WAS PROVIDED/CHARACTERS OUT OF RANGE"
DISABLED: Final = "SERVER HAS FAILED AND IS DISABLED UNTIL TIMED RETRY"
FAILED: Final = "CONNECTION FAILURE"
LOOKUP: Final = "getaddrinfo() or getnameinfo() HOSTNAME LOOKUP FAILURE"
SERVER_ERROR: Final = "SERVER ERROR"
TIMED_OUT: Final = "A TIMEOUT OCCURRED"
TOO_BIG: Final = "ITEM TOO BIG"


class MemcachedFailure(Exception):
    """A request failed."""


class MemcachedPool:
    """Clients of one server, ``"user-memcached:11211"``. Every new connection resolves the name."""

    __slots__ = ("_disabled_until", "_kernel", "_pool")

    def __init__(self, ctx: Context, server: str, size: int = POOL_SIZE) -> None:
        host, _, port = server.partition(":")
        self._kernel = ctx.kernel
        self._pool = Pool(ctx, host, int(port or PORT), TIMEOUT_S, size)
        self._disabled_until = 0.0

    async def mget(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Return the values of those keys that are there."""
        words = tuple([_legal(key) for key in keys])
        try:
            reply = await self._exchange(Fetch(words), HEADER_BYTES * len(words))
        except ExchangeFailed:
            return {}
        if reply.__class__ is not Values:
            return {}
        found = reply.values
        return {key: found[word] for key, word in zip(keys, words, strict=True) if word in found}

    async def get(self, key: str) -> bytes | None:
        """Return the value of a key, if there is one."""
        word = _legal(key)
        try:
            reply = await self._exchange(Fetch((word,)), HEADER_BYTES + len(word))
        except ExchangeFailed as failure:
            raise MemcachedFailure(_format_exchange_failure(failure)) from None
        if reply.__class__ is not Values:
            raise MemcachedFailure(SERVER_ERROR)
        return reply.values.get(word)

    async def set(self, key: str, value: bytes) -> None:
        """Store a value, for good."""
        word = _legal(key)
        try:
            reply = await self._exchange(
                Store("set", word, value, 0, 0), HEADER_BYTES + len(word) + len(value)
            )
        except ExchangeFailed as failure:
            raise MemcachedFailure(_format_exchange_failure(failure)) from None
        if reply.__class__ is not Answer or reply.line != "STORED":
            too_big = isinstance(reply, Answer) and "too large" in reply.line
            raise MemcachedFailure(TOO_BIG if too_big else SERVER_ERROR)

    async def _exchange(self, message: Fetch | Store, size_bytes: int) -> Values | Answer:
        if self._kernel.now < self._disabled_until:
            raise MemcachedFailure(DISABLED)
        try:
            return await self._attempt(message, size_bytes)
        except DialFailed as failure:
            self._disabled_until = self._kernel.now + RETRY_S
            raise MemcachedFailure(_format_dial_failure(failure)) from None

    async def _attempt(self, message: Fetch | Store, size_bytes: int) -> Values | Answer:
        pool = self._pool
        try:
            reply: Values | Answer = await pool.exchange(message, size_bytes)
        except ExchangeFailed as failure:
            if isinstance(failure.error, TimedOut):
                raise
            # It was an old connection to a server that is another one now, as likely as not.
            pool.forget()
            reply = await pool.exchange(message, size_bytes)
        return reply


def _legal(key: str) -> bytes:
    word = key.encode("utf-8", "surrogateescape")
    if not 0 < len(word) <= KEY_MAX_BYTES:
        raise MemcachedFailure(BAD_KEY)
    return word


def _format_dial_failure(failure: DialFailed) -> str:
    if isinstance(failure.error, NameNotFound | ResolverFailure):
        return LOOKUP
    return TIMED_OUT if isinstance(failure.error, ConnectTimedOut) else FAILED


def _format_exchange_failure(failure: ExchangeFailed) -> str:
    return TIMED_OUT if isinstance(failure.error, TimedOut) else FAILED
