"""Sorted sets in Redis as the services use them: ids by time.

Errors are logged with the library's message and raised again; callers in other services get the same message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from simcloud.datastores.redis import RedisFailure, RedisPool
from simcloud.services.languages import BoostLog
from simcloud.services.rpc.thrift import ThriftError


class SortedSets:
    """The sorted sets of one server. ``place`` is the source location for the log of a failure."""

    def __init__(self, pool: RedisPool, log: BoostLog) -> None:
        self._pool = pool
        self._log = log

    async def add(self, key: str, scores: Mapping[str, float], place: str, only_new: bool = True) -> None:
        """Add members to a set."""
        words: list[str | float] = ["NX"] if only_new else []
        for member, score in scores.items():
            words += [score, member]
        await self._run(self._pool.command("ZADD", key, *words), place)

    async def add_to_all(self, keys: Iterable[str], member: str, score: float, place: str) -> None:
        """Add a member to many sets."""
        pipeline = self._pool.pipeline()
        name = member.encode()
        for key in keys:
            pipeline.zadd(key, name, score, only_new=True)
        await self._run(pipeline.exec(), place)

    async def remove(self, key: str, member: str, place: str) -> None:
        """Remove a member."""
        await self._run(self._pool.command("ZREM", key, member), place)

    async def list_newest(self, key: str, start: int, stop: int, place: str) -> list[int]:
        """Return ids from ``start`` to ``stop`` (exclusive), newest first."""
        return _parse_ids(await self._run(self._pool.zrevrange(key, start, stop - 1), place))

    async def list_all(self, key: str, place: str) -> list[int]:
        """Return all ids, oldest first."""
        return _parse_ids(await self._run(self._pool.command("ZRANGE", key, 0, -1), place))

    async def _run(self, command: Any, place: str) -> Any:
        try:
            return await command
        except RedisFailure as error:
            self._log.error(str(error), place)
            raise ThriftError(str(error)) from None


def _parse_ids(members: list[bytes]) -> list[int]:
    """Parse members as ids like ``stoul``; raises ``ThriftError`` for an invalid one."""
    if not all(member.isdigit() and len(member) < 20 for member in members):
        raise ThriftError("stoul")
    return [int(member) for member in members]
