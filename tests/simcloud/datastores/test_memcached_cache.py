"""Memcached's books balance, whatever is done to it."""

from __future__ import annotations

from hypothesis import given, strategies as some

from simcloud.datastores.memcached.cache import Cache, CacheError
from simcloud.datastores.memcached.slabs import PAGE_BYTES

KEYS = some.sampled_from([b"a", b"b", b"c", b"dd", b"eee"])
SIZES = some.sampled_from([0, 1, 50, 500, 5_000, 400_000, 1_000_000])
STORES = some.tuples(some.sampled_from(["set", "add", "replace"]), KEYS, SIZES, some.integers(-1, 5))
STEPS = some.one_of(
    STORES,
    some.tuples(some.sampled_from(["delete", "get"]), KEYS, some.just(0), some.just(0)),
    some.tuples(some.sampled_from(["flush", "wait"]), some.just(b""), some.integers(0, 3), some.just(0)),
)


@given(some.lists(STEPS, max_size=60))
def test_sizes_and_chunks_add_up(steps: list[tuple[str, bytes, int, int]]) -> None:
    now = [1_000_000.0]
    cache = Cache(lambda: now[0], 2 * PAGE_BYTES)
    for verb, key, size, expiry in steps:
        if verb == "delete":
            cache.delete(key)
        elif verb == "get":
            item = cache.get(key)
            assert item is None or item.expires == 0 or item.expires > cache.now
        elif verb == "flush":
            cache.flush(size)
        elif verb == "wait":
            now[0] += size
        else:
            try:
                cache.store(verb, key, b"x" * size, 0, expiry)
            except CacheError:
                pass
    items = cache.items.values()
    assert cache.bytes == sum(item.size_bytes for item in items)
    for slab in cache.slabs.classes:
        mine = [item for item in items if item.slab is slab]
        assert {item.key for item in mine} == set(slab.items)
        assert slab.used == sum(item.chunks for item in mine)
        assert slab.used <= slab.pages * slab.chunks_per_page
        assert slab.used <= slab.touched


def test_the_least_recently_used_goes_first() -> None:
    cache = Cache(lambda: 1_000_000.0, 2 * PAGE_BYTES)
    for name in (b"a", b"b", b"c", b"d"):  # a page holds two
        cache.store("set", name, b"x" * 500_000)
    assert cache.get(b"a") is not None
    cache.store("set", b"e", b"x" * 500_000)
    assert cache.get(b"a") is not None
    assert cache.get(b"b") is None
    assert (cache.evictions, cache.evicted_unfetched) == (1, 1)


def test_without_evictions_a_full_cache_refuses() -> None:
    cache = Cache(lambda: 1_000_000.0, 2 * PAGE_BYTES, evicts=False)
    stored = 0
    words = ""
    for number in range(10):
        try:
            cache.store("set", str(number).encode(), b"x" * 500_000)
            stored += 1
        except CacheError as error:
            words = str(error)
    assert (stored, words) == (4, "SERVER_ERROR out of memory storing object")
