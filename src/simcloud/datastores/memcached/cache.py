"""Memcached's cache: items by key, with expiry in virtual time, eviction, flags and CAS numbers.

Times are in whole seconds since shortly before the start. An expired or flushed item stays in memory until it is
requested or its chunk is needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from math import inf
from typing import Final

from simcloud.datastores.memcached.slabs import Item, SlabClass, Slabs, item_bytes

MONTH_S: Final = 60 * 60 * 24 * 30
"""Expiry times up to this are relative, larger ones are moments since 1970."""

FIRST_SECOND: Final = 2
"""Memcached believes it was started two seconds ago, so that no item is as old as the process."""

EVICTION_TRIES: Final = 50


class CacheError(Exception):
    """A request that the server refuses; the text is the server's."""


class TooLarge(CacheError):
    """The item does not fit any chunk."""

    def __init__(self) -> None:
        super().__init__("SERVER_ERROR object too large for cache")


class OutOfMemory(CacheError):
    """The slab class has no page and no item to evict, and no page is left."""

    def __init__(self) -> None:
        super().__init__("SERVER_ERROR out of memory storing object")


class Cache:
    """All items of one server. ``clock`` is the machine's, in seconds since 1970."""

    def __init__(
        self, clock: Callable[[], float], limit_bytes: int, item_max_bytes: int = 1 << 20, evicts: bool = True
    ) -> None:
        self.slabs = Slabs(limit_bytes, item_max_bytes)
        self.counts: Counter[str] = Counter()
        self.get_hits = 0
        self.get_misses = 0
        self.items: dict[bytes, Item] = {}
        self.bytes = 0
        self.total_items = 0
        self.evictions = 0
        self.reclaimed = 0
        self.expired_unfetched = 0
        self.evicted_unfetched = 0
        self.last_cas = 0
        self._clock = clock
        self._evicts = evicts
        self._started = int(clock()) - FIRST_SECOND
        self._flush_at = 0
        self._flush_cas = 0

    @property
    def now(self) -> int:
        """Memcached's own time."""
        return int(self._clock()) - self._started

    @property
    def uptime(self) -> int:
        """Seconds since the start."""
        return self.now - FIRST_SECOND

    @property
    def wall_time(self) -> int:
        """Seconds since 1970."""
        return int(self._clock())

    def moment(self, second: int) -> int:
        """Return a second of memcached's own time as seconds since 1970."""
        return second + self._started

    def limit_past(self, name: str) -> float:
        """Return how much can have been counted unobserved. A miss has its key stored, if the clients store any."""
        return 0.0 if name == "get_misses" and self.items else inf

    def reset_counts(self) -> None:
        """Forget the counts, not the items."""
        for slab in self.slabs.classes:
            slab.hits = slab.sets = 0
            slab.counts.clear()
        self.counts.clear()
        self.get_hits = self.get_misses = 0
        self.total_items = self.evictions = self.reclaimed = 0
        self.expired_unfetched = self.evicted_unfetched = 0

    def when(self, expiry: int) -> int:
        """Return the second an expiry given by a client means; 0 is never, negative is at once."""
        if expiry == 0:
            return 0
        if expiry < 0:
            return -1
        if expiry > MONTH_S:
            return max(1, expiry - self._started)
        return expiry + self.now

    # -- reading -------------------------------------------------------------------------------

    def find(self, key: bytes) -> Item | None:
        """Return the item, if it is there and alive; one that has expired is removed."""
        item = self.items.get(key)
        if item is None:
            return None
        if (item.expires or self._flush_at or self._flush_cas) and self._is_dead(item, self.now):
            self.expired_unfetched += not item.fetched
            self.counts["get_flushed" if self._is_flushed(item, self.now) else "get_expired"] += 1
            self._remove(item)
            return None
        return item

    def get(self, key: bytes) -> Item | None:
        """Return the item, which counts as used now."""
        found = self.get_many((key,))
        return found[0] if found else None

    def get_many(self, keys: Iterable[bytes]) -> list[Item]:
        """Return those items that are there, which count as used now. This is what servers do all day."""
        items, now = self.items, self.now
        may_be_flushed = bool(self._flush_at or self._flush_cas)
        found: list[Item] = []
        asked = 0
        for key in keys:
            asked += 1
            item = items.get(key)
            if item is not None and (item.expires or may_be_flushed):
                item = self.find(key)
            if item is not None:
                item.fetched = True
                item.accessed = now
                slab = item.slab
                slab.hits += 1
                slab.items.move_to_end(key)
                found.append(item)
        self.get_hits += len(found)
        self.get_misses += asked - len(found)
        return found

    # -- writing -------------------------------------------------------------------------------

    def store(self, verb: str, key: bytes, value: bytes, flags: int = 0, expiry: int = 0) -> str:
        """Run set, add or replace; return memcached's response.

        Raises ``TooLarge`` or ``OutOfMemory``; then an old value under the key is gone too.
        """
        self.counts["cmd_set"] += 1
        old = self.find(key)
        refusal = _refusal(verb, old)
        if refusal is not None:
            return refusal
        self._put(key, value, flags, self.when(expiry), old)
        self.total_items += 1
        return "STORED"

    def delete(self, key: bytes) -> bool:
        """Remove a key; False when it is not there."""
        item = self.find(key)
        if item is None:
            self.counts["delete_misses"] += 1
            return False
        self.counts["delete_hits"] += 1
        item.slab.counts["delete_hits"] += 1
        self._remove(item)
        return True

    def fits(self, key: bytes, flags: int, length: int) -> bool:
        """Return whether a value of that length may be stored at all."""
        return item_bytes(key, flags, b"") + length <= self.slabs.item_max_bytes

    def refuse_too_large(self, stale: bytes | None) -> None:
        """A value does not fit; what a ``set`` was to replace must not outlive it."""
        self.counts["store_too_large"] += 1
        if stale is not None:
            self._forget(self.items.get(stale))

    def flush(self, delay: int) -> None:
        """Drop everything stored until then, now or after ``delay`` seconds."""
        self.counts["cmd_flush"] += 1
        if delay > 0:
            self._flush_at = self.when(delay)
            return
        self.last_cas += 1
        self._flush_cas, self._flush_at = self.last_cas, 0

    # -- inside --------------------------------------------------------------------------------

    def _is_dead(self, item: Item, now: int) -> bool:
        return bool(item.expires and item.expires <= now) or self._is_flushed(item, now)

    def _is_flushed(self, item: Item, now: int) -> bool:
        if item.cas <= self._flush_cas:
            return True
        return bool(self._flush_at) and self._flush_at <= now and item.stored < self._flush_at

    def _put(self, key: bytes, value: bytes, flags: int, expires: int, old: Item | None) -> None:
        size_bytes = item_bytes(key, flags, value)
        slab = self.slabs.class_for(size_bytes)
        if slab is None:
            self._forget(old)
            self.counts["store_too_large"] += 1
            raise TooLarge
        chunks = -(-size_bytes // slab.chunk_bytes)
        if not self._room(slab, chunks):
            self._forget(self.items.get(key))
            self.counts["store_no_memory"] += 1
            raise OutOfMemory
        self._forget(self.items.get(key))
        slab.sets += 1
        item = Item(key, value, flags, expires, slab, chunks, size_bytes)
        self.last_cas += 1
        item.cas = self.last_cas
        item.stored = item.accessed = self.now
        self.items[key] = slab.items[key] = item
        self.bytes += size_bytes

    def _room(self, slab: SlabClass, chunks: int) -> bool:
        """Take chunks, if need be from the items used longest ago."""
        slabs, tries = self.slabs, 0
        while not slabs.take(slab, chunks):
            if not slab.items or tries == EVICTION_TRIES:
                return False
            tries += 1
            oldest = next(iter(slab.items.values()))
            if self._is_dead(oldest, self.now):
                self.reclaimed += 1
                slab.expired += 1
            elif not self._evicts:
                return False
            else:
                self.evictions += 1
                slab.evicted += 1
                self.evicted_unfetched += not oldest.fetched
            self._remove(oldest)
        return True

    def _forget(self, item: Item | None) -> None:
        if item is not None:
            self._remove(item)

    def _remove(self, item: Item) -> None:
        del self.items[item.key]
        del item.slab.items[item.key]
        self.bytes -= item.size_bytes
        Slabs.give_back(item.slab, item.chunks)


def _refusal(verb: str, old: Item | None) -> str | None:
    if verb == "add":
        if old is not None:
            old.slab.items.move_to_end(old.key)
            return "NOT_STORED"
    elif old is None and verb != "set":
        return "NOT_STORED"
    return None
