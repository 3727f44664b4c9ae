"""Eviction at ``maxmemory``: by the configured policy, from a random sample of keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from simcloud.datastores.redis.engine.database import Database
from simcloud.datastores.redis.state import ServerState

Rank = Callable[[Database, bytes], float]
"""The smallest goes first."""


def make_room(server: ServerState) -> bool:
    """Evict until what is used fits; False when it cannot be made to fit."""
    limit = server.config.maxmemory
    if server.used_bytes <= limit:
        return True
    policy = server.config.policy
    if policy == "noeviction":
        return False
    scope, _, order = policy.partition("-")
    rank = RANKS[order]
    samples = server.config.number("maxmemory-samples")
    while server.used_bytes > limit:
        drawn: list[tuple[float, int, bytes]] = []
        for at, db in enumerate(server.databases):
            keys = db.expires if scope == "volatile" else db.values
            if keys:
                drawn += [(rank(db, key), at, key) for key in _sample(server, db, keys, samples)]
        if not drawn:
            return False
        _, at, key = min(drawn)
        server.databases[at].delete(key)
        server.evicted += 1
        server.disk.append(server.databases[at], [[b"DEL", key]])
    return True


def _sample(server: ServerState, db: Database, keys: Mapping[bytes, object], count: int) -> list[bytes]:
    """Return a random sample of keys, from a list that is rebuilt once half of it has been used."""
    if len(db.draw) <= db.draw_until or len(db.draw) <= count:
        db.draw = list(keys)
        db.draw_until = len(db.draw) // 2
    found: list[bytes] = []
    for _ in range(min(count, len(db.draw))):
        at = server.random.randrange(len(db.draw))
        key, db.draw[at] = db.draw[at], db.draw[-1]
        db.draw.pop()
        if key in keys:
            found.append(key)
    return found or [next(iter(keys))]


RANKS: dict[str, Rank] = {
    "lru": lambda db, key: db.values[key].accessed,
    "lfu": lambda db, key: db.values[key].counter,
    "ttl": lambda db, key: db.expires.get(key, 0),
    "random": lambda db, key: 0.0,
}
