"""Commands on lists."""

from __future__ import annotations

from simcloud.datastores.redis.client import Client
from simcloud.datastores.redis.commands.table import ONE, TWO, command
from simcloud.datastores.redis.commands.words import natural, slice_of
from simcloud.datastores.redis.engine.numbers import integer
from simcloud.datastores.redis.engine.values import ListValue
from simcloud.datastores.redis.messages import Words
from simcloud.datastores.redis.replies import NIL_ARRAY, OK, RedisError, Reply, SyntaxMistake


@command("lpush", -3, "write denyoom fast", ONE)
def _run_lpush(client: Client, words: Words) -> Reply:
    return _push(client, words, left=True, create=True)


@command("rpush", -3, "write denyoom fast", ONE)
def _run_rpush(client: Client, words: Words) -> Reply:
    return _push(client, words, left=False, create=True)


@command("lpushx", -3, "write denyoom fast", ONE)
def _run_lpushx(client: Client, words: Words) -> Reply:
    return _push(client, words, left=True, create=False)


@command("rpushx", -3, "write denyoom fast", ONE)
def _run_rpushx(client: Client, words: Words) -> Reply:
    return _push(client, words, left=False, create=False)


def _push(client: Client, words: Words, left: bool, create: bool) -> Reply:
    value = client.db.make(words[1], ListValue) if create else client.db.get(words[1], ListValue)
    if value is None:
        return 0
    for item in words[2:]:
        value.push(item, left)
    client.db.touched(words[1], len(words) - 2)
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
    client.db.touched(words[1], len(popped))
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
        client.db.touched(words[1], before - len(value))
    return OK


@command("lindex", 3, "readonly", ONE)
def _run_lindex(client: Client, words: Words) -> Reply:
    value = client.db.view(words[1], ListValue)
    if value is None:
        return None
    at = integer(words[2])
    return value.items[at] if -len(value) <= at < len(value) else None


@command("lset", 4, "write denyoom", ONE)
def _run_lset(client: Client, words: Words) -> Reply:
    value = client.db.get(words[1], ListValue)
    if value is None:
        raise RedisError("ERR no such key")
    at = integer(words[2])
    if not -len(value) <= at < len(value):
        raise RedisError("ERR index out of range")
    value.bytes += len(words[3]) - len(value.items[at])
    value.items[at] = words[3]
    client.db.touched(words[1])
    return OK


@command("linsert", 5, "write denyoom", ONE)
def _run_linsert(client: Client, words: Words) -> Reply:
    place = words[2].lower()
    if place not in (b"before", b"after"):
        raise SyntaxMistake
    value = client.db.get(words[1], ListValue)
    if value is None:
        return 0
    if words[3] not in value.items:
        return -1
    value.items.insert(value.items.index(words[3]) + (place == b"after"), words[4])
    value.bytes += len(words[4])
    client.db.touched(words[1])
    return len(value)


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
        client.db.touched(words[1], len(places))
    return len(places)


@command("lpos", -3, "readonly", ONE)
def _run_lpos(client: Client, words: Words) -> Reply:
    rank, count, limit = 1, None, 0
    if len(words) % 2 == 0:
        raise SyntaxMistake
    for option, word in zip(words[3::2], words[4::2], strict=True):
        name = option.lower()
        if name == b"rank":
            rank = integer(word)
            if rank == 0:
                raise RedisError(
                    "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative "
                    "to start from the end of the list"
                )
        elif name == b"count":
            count = natural(word, "ERR COUNT can't be negative")
        elif name == b"maxlen":
            limit = natural(word, "ERR MAXLEN can't be negative")
        else:
            raise SyntaxMistake
    value = client.db.view(words[1], ListValue)
    if value is None:
        return None if count is None else []
    items = list(value.items)
    order = range(len(items)) if rank > 0 else range(len(items) - 1, -1, -1)
    places = [at for at in (order[:limit] if limit else order) if items[at] == words[2]][abs(rank) - 1 :]
    if count is None:
        return places[0] if places else None
    return list(places[:count]) if count else list(places)


@command("lmove", 5, "write denyoom", TWO)
def _run_lmove(client: Client, words: Words) -> Reply:
    ends = [word.lower() for word in words[3:5]]
    if any(end not in (b"left", b"right") for end in ends):
        raise SyntaxMistake
    return _move(client, words[1], words[2], ends[0] == b"left", ends[1] == b"left")


@command("rpoplpush", 3, "write denyoom", TWO)
def _run_rpoplpush(client: Client, words: Words) -> Reply:
    return _move(client, words[1], words[2], from_left=False, to_left=True)


def _move(client: Client, source: bytes, target: bytes, from_left: bool, to_left: bool) -> Reply:
    db = client.db
    taken = db.get(source, ListValue)
    if taken is None:
        return None
    db.get(target, ListValue)
    item = taken.pop(from_left)
    if source != target:
        db.touched(source)
    db.make(target, ListValue).push(item, to_left)
    db.touched(target)
    return item
