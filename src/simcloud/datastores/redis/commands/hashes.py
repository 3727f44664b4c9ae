"""Commands on hashes."""

from __future__ import annotations

from simcloud.datastores.redis.commands.arguments import add_int64
from simcloud.datastores.redis.commands.table import ONE, command
from simcloud.datastores.redis.engine.numbers import integer, whole
from simcloud.datastores.redis.engine.values import HashValue
from simcloud.datastores.redis.resp import OK, RedisError, Reply, Words
from simcloud.datastores.redis.state import Client


@command("hset", -4, "write denyoom fast", ONE)
def _run_hset(client: Client, words: Words) -> Reply:
    return _set(client, words)


@command("hmset", -4, "write denyoom fast", ONE)
def _run_hmset(client: Client, words: Words) -> Reply:
    _set(client, words)
    return OK


def _set(client: Client, words: Words) -> int:
    if len(words) % 2:
        name = words[0].decode("utf-8", "replace").lower()
        raise RedisError(f"ERR wrong number of arguments for '{name}' command")
    value = client.db.make(words[1], HashValue)
    limits = client.server.limits
    added = sum(
        [value.put(field, text, limits) for field, text in zip(words[2::2], words[3::2], strict=True)]
    )
    client.db.record_change(words[1], (len(words) - 2) // 2)
    return added


@command("hsetnx", 4, "write denyoom fast", ONE)
def _run_hsetnx(client: Client, words: Words) -> Reply:
    value = client.db.make(words[1], HashValue)
    if words[2] in value.fields:
        return 0
    value.put(words[2], words[3], client.server.limits)
    client.db.record_change(words[1])
    return 1


@command("hget", 3, "readonly fast", ONE)
def _run_hget(client: Client, words: Words) -> Reply:
    value = client.db.view(words[1], HashValue)
    return None if value is None else value.fields.get(words[2])


@command("hmget", -3, "readonly fast", ONE)
def _run_hmget(client: Client, words: Words) -> Reply:
    value = client.db.view(words[1], HashValue)
    return [None if value is None else value.fields.get(field) for field in words[2:]]


@command("hgetall", 2, "readonly", ONE)
def _run_hgetall(client: Client, words: Words) -> Reply:
    value = client.db.view(words[1], HashValue)
    return [] if value is None else [part for pair in value.fields.items() for part in pair]


@command("hkeys", 2, "readonly", ONE)
def _run_hkeys(client: Client, words: Words) -> Reply:
    value = client.db.view(words[1], HashValue)
    return [] if value is None else list(value.fields)


@command("hvals", 2, "readonly", ONE)
def _run_hvals(client: Client, words: Words) -> Reply:
    value = client.db.view(words[1], HashValue)
    return [] if value is None else list(value.fields.values())


@command("hlen", 2, "readonly fast", ONE)
def _run_hlen(client: Client, words: Words) -> Reply:
    value = client.db.view(words[1], HashValue)
    return 0 if value is None else len(value)


@command("hexists", 3, "readonly fast", ONE)
def _run_hexists(client: Client, words: Words) -> Reply:
    value = client.db.view(words[1], HashValue)
    return int(value is not None and words[2] in value.fields)


@command("hdel", -3, "write fast", ONE)
def _run_hdel(client: Client, words: Words) -> Reply:
    value = client.db.get(words[1], HashValue)
    if value is None:
        return 0
    removed = sum([value.drop(field) for field in words[2:]])
    if removed:
        client.db.record_change(words[1], removed)
    return removed


@command("hincrby", 4, "write denyoom fast", ONE)
def _run_hincrby(client: Client, words: Words) -> Reply:
    change = integer(words[3])
    found = client.db.get(words[1], HashValue)
    old = whole(b"0" if found is None else found.fields.get(words[2], b"0"))
    if old is None:
        raise RedisError("ERR hash value is not an integer")
    total = add_int64(old, change)
    client.db.make(words[1], HashValue).put(words[2], b"%d" % total, client.server.limits)
    client.db.record_change(words[1])
    return total
