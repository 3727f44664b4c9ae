"""Commands about the expiry of keys."""

from __future__ import annotations

from simcloud.datastores.redis.commands.table import ONE, command
from simcloud.datastores.redis.engine.numbers import INT_MAX, INT_MIN, integer
from simcloud.datastores.redis.resp import RedisError, Reply, Words
from simcloud.datastores.redis.state import Client


@command("expire", 3, "write fast", ONE)
def _run_expire(client: Client, words: Words) -> Reply:
    return _expire(client, words, 1000, relative=True)


@command("pexpire", 3, "write fast", ONE)
def _run_pexpire(client: Client, words: Words) -> Reply:
    return _expire(client, words, 1, relative=True)


@command("expireat", 3, "write fast", ONE)
def _run_expireat(client: Client, words: Words) -> Reply:
    return _expire(client, words, 1000, relative=False)


@command("pexpireat", 3, "write fast", ONE)
def _run_pexpireat(client: Client, words: Words) -> Reply:
    return _expire(client, words, 1, relative=False)


def _expire(client: Client, words: Words, unit_ms: int, relative: bool) -> Reply:
    when_ms = integer(words[2]) * unit_ms
    now_ms = client.server.now_ms()
    if relative:
        when_ms += now_ms
    if not INT_MIN <= when_ms <= INT_MAX:
        raise RedisError(f"ERR invalid expire time in {words[0].decode('utf-8', 'replace').lower()}")
    db, key = client.db, words[1]
    if db.find(key) is None:
        return 0
    if when_ms <= now_ms:
        db.delete(key)
        client.propagate([b"DEL", key])
        return 1
    db.set_expiry(key, when_ms)
    db.record_change(key)
    client.propagate([b"PEXPIREAT", key, b"%d" % when_ms])
    return 1


@command("persist", 2, "write fast", ONE)
def _run_persist(client: Client, words: Words) -> Reply:
    if client.db.find(words[1]) is None or not client.db.persist(words[1]):
        return 0
    client.db.record_change(words[1])
    return 1


@command("pttl", 2, "readonly fast", ONE)
def _run_pttl(client: Client, words: Words) -> Reply:
    if client.db.read(words[1]) is None:
        return -2
    when_ms = client.db.expires.get(words[1])
    return -1 if when_ms is None else max(0, when_ms - client.server.now_ms())


@command("ttl", 2, "readonly fast", ONE)
def _run_ttl(client: Client, words: Words) -> Reply:
    left_ms = _run_pttl(client, words)
    assert isinstance(left_ms, int)
    return left_ms if left_ms < 0 else (left_ms + 500) // 1000
