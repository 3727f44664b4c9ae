"""Commands on strings."""

from __future__ import annotations

from typing import Final

from simcloud.datastores.redis.commands.arguments import add_int64, expiry_moment
from simcloud.datastores.redis.commands.table import ALL, ONE, command
from simcloud.datastores.redis.engine.numbers import INT_MIN, integer
from simcloud.datastores.redis.engine.values import StringValue
from simcloud.datastores.redis.resp import OK, RedisError, Reply, SyntaxMistake, Words
from simcloud.datastores.redis.state import Client

STRING_MAX_BYTES: Final = 32 << 20
"""Maximum length of a string; the genuine limit is 512 MB."""
UNITS: Final = (b"ex", b"px", b"exat", b"pxat")


@command("get", 2, "readonly fast", ONE)
def _run_get(client: Client, words: Words) -> Reply:
    value = client.db.view(words[1], StringValue)
    return None if value is None else value.data


@command("set", -3, "write denyoom", ONE)
def _run_set(client: Client, words: Words) -> Reply:
    condition = keep = wants_old = None
    unit, when_word = None, b""
    at = 3
    while at < len(words):
        option = words[at].lower()
        if option in (b"nx", b"xx") and condition in (None, option) and not (option == b"nx" and wants_old):
            condition = option
        elif option == b"get" and condition != b"nx":
            wants_old = True
        elif option == b"keepttl" and unit is None:
            keep = True
        elif option in UNITS and unit is None and not keep and at + 1 < len(words):
            unit, when_word = option, words[at + 1]
            at += 1
        else:
            raise SyntaxMistake
        at += 1
    when_ms = expiry_moment(client, when_word, unit, "set") if unit else None
    db, key = client.db, words[1]
    old = db.view(key, StringValue) if wants_old else db.find(key)
    before = old.data if isinstance(old, StringValue) and wants_old else None
    if (condition == b"nx" and old is not None) or (condition == b"xx" and old is None):
        return before
    db.put(key, StringValue(words[2]), keep_expiry=bool(keep))
    if when_ms is not None:
        db.set_expiry(key, when_ms)
        client.propagate([b"SET", key, words[2], b"PXAT", b"%d" % when_ms])
    return before if wants_old else OK


@command("setnx", 3, "write denyoom fast", ONE)
def _run_setnx(client: Client, words: Words) -> Reply:
    if client.db.find(words[1]) is not None:
        return 0
    client.db.put(words[1], StringValue(words[2]))
    return 1


@command("setex", 4, "write denyoom", ONE)
def _run_setex(client: Client, words: Words) -> Reply:
    when_ms = expiry_moment(client, words[2], b"ex", "setex")
    client.db.put(words[1], StringValue(words[3]))
    client.db.set_expiry(words[1], when_ms)
    client.propagate([b"SET", words[1], words[3], b"PXAT", b"%d" % when_ms])
    return OK


@command("mget", -2, "readonly fast", ALL)
def _run_mget(client: Client, words: Words) -> Reply:
    values = [client.db.read(key) for key in words[1:]]
    return [value.data if isinstance(value, StringValue) else None for value in values]


@command("mset", -3, "write denyoom", (1, -1, 2))
def _run_mset(client: Client, words: Words) -> Reply:
    if len(words) % 2 == 0:
        raise RedisError("ERR wrong number of arguments for MSET")
    for key, data in zip(words[1::2], words[2::2], strict=True):
        client.db.put(key, StringValue(data))
    return OK


@command("strlen", 2, "readonly fast", ONE)
def _run_strlen(client: Client, words: Words) -> Reply:
    value = client.db.view(words[1], StringValue)
    return 0 if value is None else len(value.data)


@command("append", 3, "write denyoom fast", ONE)
def _run_append(client: Client, words: Words) -> Reply:
    value = client.db.get(words[1], StringValue)
    if value is None:
        client.db.put(words[1], StringValue(words[2]))
        return len(words[2])
    if len(value.data) + len(words[2]) > STRING_MAX_BYTES:
        raise RedisError("ERR string exceeds maximum allowed size (512MB)")
    value.data, value.grown = value.data + words[2], True
    client.db.record_change(words[1])
    return len(value.data)


@command("getrange", 4, "readonly", ONE)
def _run_getrange(client: Client, words: Words) -> Reply:
    start, stop = integer(words[2]), integer(words[3])
    value = client.db.view(words[1], StringValue)
    data = b"" if value is None else value.data
    if start < 0 and stop < 0 and start > stop:
        return b""
    start = max(0, start + len(data)) if start < 0 else start
    stop = max(0, stop + len(data)) if stop < 0 else stop
    return data[start : stop + 1] if start <= stop else b""


@command("incr", 2, "write denyoom fast", ONE)
def _run_incr(client: Client, words: Words) -> Reply:
    return _count(client, words[1], 1)


@command("decr", 2, "write denyoom fast", ONE)
def _run_decr(client: Client, words: Words) -> Reply:
    return _count(client, words[1], -1)


@command("incrby", 3, "write denyoom fast", ONE)
def _run_incrby(client: Client, words: Words) -> Reply:
    return _count(client, words[1], integer(words[2]))


@command("decrby", 3, "write denyoom fast", ONE)
def _run_decrby(client: Client, words: Words) -> Reply:
    change = integer(words[2])
    if change == INT_MIN:
        raise RedisError("ERR decrement would overflow")
    return _count(client, words[1], -change)


def _count(client: Client, key: bytes, change: int) -> int:
    value = client.db.get(key, StringValue)
    total = add_int64(0 if value is None else integer(value.data), change)
    if value is None:
        client.db.put(key, StringValue(b"%d" % total))
    else:
        value.data, value.grown = b"%d" % total, False
        client.db.record_change(key)
    return total
