"""What rate and profile have in common: ask the cache for many keys, the database for those it lacks."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Final, TypeVar

from simcloud.datastores.memcached import MemcachedClient, MemcacheError
from simcloud.machine.emit import Labels
from simcloud.machine.process import Context
from simcloud.services.languages.golang import go
from simcloud.sim import gather

T = TypeVar("T")

CLIENT: Final[Labels] = (("span.kind", "client"),)
"""The tag of spans around calls to a store."""


def go_list(texts: Iterable[str]) -> str:
    """A list of strings as Go's ``%v`` prints it."""
    return f"[{' '.join(texts)}]"


async def all_of(ctx: Context, ask: Callable[[str], Coroutine[Any, Any, T]], keys: list[str]) -> list[T]:
    """Ask for each key at the same time."""
    if len(keys) == 1:
        return [await ask(keys[0])]
    return await gather(ctx.kernel, [ask(key) for key in keys], "misses")


def remember(ctx: Context, cache: MemcachedClient, key: str, value: bytes) -> None:
    """Store a value in the background; whether that works is nobody's concern."""
    go(ctx, _store(cache, key, value), "memcached set")


async def _store(cache: MemcachedClient, key: str, value: bytes) -> None:
    try:
        await cache.set(key, value)
    except MemcacheError:
        pass
