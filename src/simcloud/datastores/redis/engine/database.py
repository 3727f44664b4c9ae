"""A numbered database: values by key, their expiry, and an estimate of their memory.

An expired key is invisible to readers. It is removed when it is read or by the server's periodic scan.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from heapq import heapify, heappop, heappush
from typing import Final, TypeVar
from zlib import crc32

from simcloud.datastores.redis.engine.values import StringValue, Value
from simcloud.datastores.redis.resp import WrongType

KEY_BYTES: Final = 56
EXPIRY_BYTES: Final = 32
DUE_SLACK: Final = 64

V = TypeVar("V", bound=Value)


class Account:
    """Counters that the databases of a server share."""

    __slots__ = ("bytes", "changes", "expired", "hits", "misses")

    def __init__(self) -> None:
        self.bytes = 0
        self.changes = 0
        self.hits = 0
        self.misses = 0
        self.expired = 0


class Database:
    """Keys and values. ``clock_ms`` is the machine's, in milliseconds since 1970."""

    def __init__(self, number: int, clock_ms: Callable[[], int], account: Account) -> None:
        self.number = number
        self.values: dict[bytes, Value] = {}
        self.expires: dict[bytes, int] = {}
        self.watched: dict[bytes, list[Callable[[], None]]] = {}
        self._clock_ms = clock_ms
        self._account = account
        self._scan: list[tuple[int, bytes]] = []
        self._due: list[tuple[int, bytes]] = []
        self.draw: list[bytes] = []
        self.draw_until = 0

    # -- looking -------------------------------------------------------------------------------

    def find(self, key: bytes) -> Value | None:
        """Return the value of a key, or None if it does not exist or has expired."""
        value = self.values.get(key)
        if value is None:
            return None
        now_ms = self._clock_ms()
        expires = self.expires.get(key) if self.expires else None
        if expires is not None and now_ms >= expires:
            self.expire(key)
            return None
        if value.undecoded:
            value.decode()
        value.accessed = now_ms
        if value.counter < 255:
            value.counter += 1
        return value

    def read(self, key: bytes) -> Value | None:
        """Return the same for a reader, who counts as a hit or a miss."""
        value = self.find(key)
        if value is None:
            self._account.misses += 1
        else:
            self._account.hits += 1
        return value

    def get(self, key: bytes, kind: type[V]) -> V | None:
        """Return a value of that kind for a writer; raises ``WrongType``."""
        value = self.find(key)
        if value is None or value.__class__ is kind:
            return value
        raise WrongType

    def view(self, key: bytes, kind: type[V]) -> V | None:
        """Return a value of that kind for a reader; raises ``WrongType``."""
        value = self.read(key)
        if value is None or value.__class__ is kind:
            return value
        raise WrongType

    def make(self, key: bytes, kind: type[V]) -> V:
        """Return a value of that kind to be written to, made when there is none."""
        value = self.get(key, kind)
        if value is None:
            value = new(kind)
            value.accessed = self._clock_ms()
            self.values[key] = value
        return value

    # -- changing ------------------------------------------------------------------------------

    def put(self, key: bytes, value: Value, keep_expiry: bool = False) -> None:
        """Store a value under a key, replacing any other."""
        old = self.values.get(key)
        if old is not None:
            self._account.bytes -= old.accounted
            if not keep_expiry:
                self.persist(key)
        value.accessed = self._clock_ms()
        value.accounted = 0
        self.values[key] = value
        self.record_change(key)

    def record_change(self, key: bytes, changes: int = 1) -> None:
        """Count a change of a key and notify its watchers; remove the key if its collection is empty."""
        account = self._account
        account.changes += changes
        value = self.values.get(key)
        if value is not None:
            if value.kind != "string" and not len(value):
                self._forget(key)
            else:
                size_bytes = KEY_BYTES + len(key) + value.size_bytes
                account.bytes += size_bytes - value.accounted
                value.accounted = size_bytes
        if self.watched:
            self.notify_watchers(key)

    def delete(self, key: bytes) -> bool:
        """Remove a key; whether it was there."""
        if self.find(key) is None:
            return False
        self._forget(key)
        self._account.changes += 1
        if self.watched:
            self.notify_watchers(key)
        return True

    def expire(self, key: bytes) -> None:
        """The time of a key is over."""
        self._forget(key)
        self._account.expired += 1
        if self.watched:
            self.notify_watchers(key)

    def set_expiry(self, key: bytes, when_ms: int) -> None:
        """Let a key go at that moment."""
        if key not in self.expires:
            self._account.bytes += EXPIRY_BYTES
        self.expires[key] = when_ms
        if len(self._due) > 2 * len(self.expires) + DUE_SLACK:
            self.rebuild_due()
        else:
            heappush(self._due, (when_ms, key))

    def rebuild_due(self) -> None:
        """Recompute the next expiry."""
        self._due = [(when_ms, key) for key, when_ms in self.expires.items()]
        heapify(self._due)

    def persist(self, key: bytes) -> bool:
        """Let a key stay; whether it would have gone."""
        if self.expires.pop(key, None) is None:
            return False
        self._account.bytes -= EXPIRY_BYTES
        return True

    def clear(self) -> None:
        """Remove everything."""
        for key in list(self.watched):
            if key in self.values:
                self.notify_watchers(key)
        self._account.bytes -= sum(value.accounted for value in self.values.values())
        self._account.bytes -= EXPIRY_BYTES * len(self.expires)
        self._account.changes += len(self.values)
        self.values.clear()
        self.expires.clear()
        self._scan = []

    def notify_watchers(self, key: bytes) -> None:
        """Call the watchers of a key that has changed."""
        for notify in self.watched.pop(key, ()):
            notify()

    def sweep(self, limit: int) -> int:
        """Remove keys whose time is over, looking at ``limit`` at most; return the number removed."""
        now_ms = self._clock_ms()
        removed = 0
        while self._due and self._due[0][0] <= now_ms and removed < limit:
            when_ms, key = heappop(self._due)
            if self.expires.get(key) == when_ms:
                self.expire(key)
                removed += 1
        return removed

    def _forget(self, key: bytes) -> None:
        value = self.values.pop(key)
        self._account.bytes -= value.accounted
        if self.expires:
            self.persist(key)

    # -- going through -------------------------------------------------------------------------

    def scan(self, cursor: int, count: int) -> tuple[int, list[bytes]]:
        """Return the keys of one step through all of them, and the cursor of the next."""
        if cursor == 0:
            self._scan = scan_order(self.values)
        after, keys = scan_step(self._scan, cursor, count)
        return after, [key for key in keys if key in self.values]


def new(kind: type[V]) -> V:
    """Return an empty value."""
    return kind(b"") if kind is StringValue else kind()  # type: ignore[call-arg]  # only a text needs its content


def scan_order(keys: Iterable[bytes]) -> list[tuple[int, bytes]]:
    """Return all keys in the order of a hash that does not change, so that a cursor means the same later.

    An iteration that starts takes a new order; those under way may use it, too: what was there from their
    first step to their last is in it, at the same place.
    """
    return sorted((crc32(key) + 1, key) for key in keys)


def scan_step(order: list[tuple[int, bytes]], cursor: int, count: int) -> tuple[int, list[bytes]]:
    """About ``count`` keys from a cursor on, and the cursor of what follows; 0 when nothing does."""
    start = bisect_left(order, (cursor, b""))
    stop = min(start + count, len(order))
    while 0 < stop < len(order) and order[stop][0] == order[stop - 1][0]:
        stop += 1
    following = order[stop][0] if stop < len(order) else 0
    return following, [key for _, key in order[start:stop]]
