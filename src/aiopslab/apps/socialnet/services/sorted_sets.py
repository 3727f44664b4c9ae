"""Sorted sets in Redis as the services use them: ids by time.

What goes wrong is logged in the library's words and thrown on; callers in other services read the same words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from simcloud.datastores.redis import RedisFailure, RedisPool
from simcloud.services.languages.cpp import BoostLog
from simcloud.services.rpc.thrift import ThriftError


class SortedSets:
    """The sets of one server. ``place`` is where in the source a failure is told."""

    def __init__(self, pool: RedisPool, log: BoostLog) -> None:
        self._pool = pool
        self._log = log

    async def add(self, key: str, scores: Mapping[str, float], place: str, only_new: bool = True) -> None:
        """Put members in."""
        words: list[str | float] = ["NX"] if only_new else []
        for member, score in scores.items():
            words += [score, member]
        await self._told(self._pool.command("ZADD", key, *words), place)

    async def add_to_all(self, keys: Iterable[str], member: str, score: float, place: str) -> None:
        """Put one member into many sets."""
        pipeline = self._pool.pipeline()
        name = member.encode()
        for key in keys:
            pipeline.zadd(key, name, score, only_new=True)
        await self._told(pipeline.exec(), place)

    async def remove(self, key: str, member: str, place: str) -> None:
        """Take a member out."""
        await self._told(self._pool.command("ZREM", key, member), place)

    async def newest(self, key: str, start: int, stop: int, place: str) -> list[int]:
        """Ids from the newest on, without the one at ``stop``."""
        return _ids(await self._told(self._pool.zrevrange(key, start, stop - 1), place))

    async def all(self, key: str, place: str) -> list[int]:
        """All ids, from the oldest on."""
        return _ids(await self._told(self._pool.command("ZRANGE", key, 0, -1), place))

    async def _told(self, asked: Any, place: str) -> Any:
        try:
            return await asked
        except RedisFailure as error:
            self._log.error(str(error), place)
            raise ThriftError(str(error)) from None


def _ids(members: list[bytes]) -> list[int]:
    """Ids of members, as ``stoul`` reads them; it throws at what is none."""
    if not all(member.isdigit() and len(member) < 20 for member in members):
        raise ThriftError("stoul")
    return [int(member) for member in members]
