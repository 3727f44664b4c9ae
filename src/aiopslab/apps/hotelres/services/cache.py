"""The cache of rate and profile: reads many keys from memcached, and the missing ones from the database."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Final, TypeVar

from simcloud.datastores.memcached import MemcachedClient, MemcacheError
from simcloud.machine import Labels
from simcloud.machine.process import Context
from simcloud.services.languages import golang
from simcloud.sim import gather

T = TypeVar("T")

CLIENT: Final[Labels] = (("span.kind", "client"),)
"""The tag of spans around calls to a store."""


def format_go_list(texts: Iterable[str]) -> str:
    """Format a list of strings as Go's ``%v`` does."""
    return f"[{' '.join(texts)}]"


async def fetch_all(ctx: Context, fetch: Callable[[str], Coroutine[Any, Any, T]], keys: list[str]) -> list[T]:
    """Fetch all keys concurrently; return their values."""
    if len(keys) == 1:
        return [await fetch(keys[0])]
    return await gather(ctx.kernel, [fetch(key) for key in keys], "misses")


def store_in_background(ctx: Context, cache: MemcachedClient, key: str, value: bytes) -> None:
    """Store a value in the cache in the background; errors are ignored."""
    golang.go(ctx, _store(cache, key, value), "memcached set")


async def _store(cache: MemcachedClient, key: str, value: bytes) -> None:
    try:
        await cache.set(key, value)
    except MemcacheError:
        pass
