"""Commands on hashes."""

from __future__ import annotations

from simcloud.datastores.redis.client import Client
from simcloud.datastores.redis.commands.table import ONE, command
from simcloud.datastores.redis.commands.words import checked_sum
from simcloud.datastores.redis.engine.numbers import add_long, integer, long_double, whole
from simcloud.datastores.redis.engine.values import HashValue
from simcloud.datastores.redis.messages import Words
from simcloud.datastores.redis.replies import OK, NotAFloat, RedisError, Reply, SyntaxMistake


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
    client.db.touched(words[1], (len(words) - 2) // 2)
    return added


@command("hsetnx", 4, "write denyoom fast", ONE)
def _run_hsetnx(client: Client, words: Words) -> Reply:
    value = client.db.make(words[1], HashValue)
    if words[2] in value.fields:
        return 0
    value.put(words[2], words[3], client.server.limits)
    client.db.touched(words[1])
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


@command("hstrlen", 3, "readonly fast", ONE)
def _run_hstrlen(client: Client, words: Words) -> Reply:
    value = client.db.view(words[1], HashValue)
    return 0 if value is None else len(value.fields.get(words[2], b""))


@command("hdel", -3, "write fast", ONE)
def _run_hdel(client: Client, words: Words) -> Reply:
    value = client.db.get(words[1], HashValue)
    if value is None:
        return 0
    removed = sum([value.drop(field) for field in words[2:]])
    if removed:
        client.db.touched(words[1], removed)
    return removed


@command("hincrby", 4, "write denyoom fast", ONE)
def _run_hincrby(client: Client, words: Words) -> Reply:
    change = integer(words[3])
    found = client.db.get(words[1], HashValue)
    old = whole(b"0" if found is None else found.fields.get(words[2], b"0"))
    if old is None:
        raise RedisError("ERR hash value is not an integer")
    total = checked_sum(old, change)
    client.db.make(words[1], HashValue).put(words[2], b"%d" % total, client.server.limits)
    client.db.touched(words[1])
    return total


@command("hincrbyfloat", 4, "write denyoom fast", ONE)
def _run_hincrbyfloat(client: Client, words: Words) -> Reply:
    if isinstance(long_double(words[3]), float):
        raise NotAFloat("ERR value is NaN or Infinity")
    found = client.db.get(words[1], HashValue)
    old = b"0" if found is None else found.fields.get(words[2], b"0")
    try:
        long_double(old)
    except NotAFloat:
        raise RedisError("ERR hash value is not a float") from None
    total = add_long(old, words[3])
    client.db.make(words[1], HashValue).put(words[2], total, client.server.limits)
    client.db.touched(words[1])
    client.propagate([b"HSET", words[1], words[2], total])
    return total


@command("hrandfield", -2, "readonly", ONE)
def _run_hrandfield(client: Client, words: Words) -> Reply:
    count = integer(words[2]) if len(words) > 2 else None
    with_values = len(words) == 4 and words[3].lower() == b"withvalues"
    if len(words) > 4 or (len(words) == 4 and not with_values):
        raise SyntaxMistake
    value = client.db.view(words[1], HashValue)
    if value is None:
        return None if count is None else []
    chosen = client.server.choose(list(value.fields), count)
    if count is None:
        return chosen[0]
    if not with_values:
        return list(chosen)
    return [part for field in chosen for part in (field, value.fields[field])]
