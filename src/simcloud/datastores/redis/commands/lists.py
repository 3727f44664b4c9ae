"""Commands on lists."""

from __future__ import annotations

from simcloud.datastores.redis.commands.arguments import natural, slice_of
from simcloud.datastores.redis.commands.table import ONE, command
from simcloud.datastores.redis.engine.numbers import integer
from simcloud.datastores.redis.engine.values import ListValue
from simcloud.datastores.redis.resp import NIL_ARRAY, OK, RedisError, Reply, Words
from simcloud.datastores.redis.state import Client


@command("lpush", -3, "write denyoom fast", ONE)
def _run_lpush(client: Client, words: Words) -> Reply:
    return _push(client, words, left=True)


@command("rpush", -3, "write denyoom fast", ONE)
def _run_rpush(client: Client, words: Words) -> Reply:
    return _push(client, words, left=False)


def _push(client: Client, words: Words, left: bool) -> Reply:
    value = client.db.make(words[1], ListValue)
    for item in words[2:]:
        value.push(item, left)
    client.db.record_change(words[1], len(words) - 2)
    return len(value)


@command("lpop", -2, "write fast", ONE)
def _run_lpop(client: Client, words: Words) -> Reply:
    return _pop(client, words, left=True)


@command("rpop", -2, "write fast", ONE)
def _run_rpop(client: Client, words: Words) -> Reply:
    return _pop(client, words, left=False)


def _pop(client: Client, words: Words, left: bool) -> Reply:
    if len(words) > 3:
        raise RedisError(
            f"ERR wrong number of arguments for '{words[0].decode('utf-8', 'replace').lower()}' command"
        )
    count = natural(words[2]) if len(words) == 3 else None
    value = client.db.get(words[1], ListValue)
    if value is None:
        return None
    if count == 0:
        return NIL_ARRAY
    popped = [value.pop(left) for _ in range(min(count or 1, len(value)))]
    client.db.record_change(words[1], len(popped))
    return popped[0] if count is None else list(popped)


@command("llen", 2, "readonly fast", ONE)
def _run_llen(client: Client, words: Words) -> Reply:
    value = client.db.view(words[1], ListValue)
    return 0 if value is None else len(value)


@command("lrange", 4, "readonly", ONE)
def _run_lrange(client: Client, words: Words) -> Reply:
    start, stop = integer(words[2]), integer(words[3])
    value = client.db.view(words[1], ListValue)
    return [] if value is None else list(value.slice(*slice_of(start, stop, len(value))))


@command("ltrim", 4, "write", ONE)
def _run_ltrim(client: Client, words: Words) -> Reply:
    start, stop = integer(words[2]), integer(words[3])
    value = client.db.get(words[1], ListValue)
    if value is not None:
        before = len(value)
        value.replace(value.slice(*slice_of(start, stop, len(value))))
        client.db.record_change(words[1], before - len(value))
    return OK


@command("lindex", 3, "readonly", ONE)
def _run_lindex(client: Client, words: Words) -> Reply:
    value = client.db.view(words[1], ListValue)
    if value is None:
        return None
    at = integer(words[2])
    return value.items[at] if -len(value) <= at < len(value) else None


@command("lrem", 4, "write", ONE)
def _run_lrem(client: Client, words: Words) -> Reply:
    count, target = integer(words[2]), words[3]
    value = client.db.get(words[1], ListValue)
    if value is None:
        return 0
    items = list(value.items)
    places = [at for at, item in enumerate(items) if item == target]
    if count:
        places = places[:count] if count > 0 else places[count:]
    if places:
        gone = frozenset(places)
        value.replace([item for at, item in enumerate(items) if at not in gone])
        client.db.record_change(words[1], len(places))
    return len(places)
