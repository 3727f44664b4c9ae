"""Commands on strings."""

from __future__ import annotations

from typing import Final

from simcloud.datastores.redis.client import Client
from simcloud.datastores.redis.commands.table import ALL, ONE, command
from simcloud.datastores.redis.commands.words import checked_sum, expiry_moment
from simcloud.datastores.redis.engine.numbers import INT_MIN, add_long, integer
from simcloud.datastores.redis.engine.values import StringValue
from simcloud.datastores.redis.messages import Words
from simcloud.datastores.redis.replies import OK, RedisError, Reply, SyntaxMistake

STRING_MAX_BYTES: Final = 32 << 20
"""What one string may grow to here; the genuine server lets it have 512 MB."""
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
    return _set_for(client, words, b"ex", "setex")


@command("psetex", 4, "write denyoom", ONE)
def _run_psetex(client: Client, words: Words) -> Reply:
    return _set_for(client, words, b"px", "psetex")


def _set_for(client: Client, words: Words, unit: bytes, name: str) -> Reply:
    when_ms = expiry_moment(client, words[2], unit, name)
    client.db.put(words[1], StringValue(words[3]))
    client.db.set_expiry(words[1], when_ms)
    client.propagate([b"SET", words[1], words[3], b"PXAT", b"%d" % when_ms])
    return OK


@command("getset", 3, "write denyoom fast", ONE)
def _run_getset(client: Client, words: Words) -> Reply:
    old = client.db.view(words[1], StringValue)
    client.db.put(words[1], StringValue(words[2]))
    return None if old is None else old.data


@command("getdel", 2, "write fast", ONE)
def _run_getdel(client: Client, words: Words) -> Reply:
    old = client.db.view(words[1], StringValue)
    if old is None:
        return None
    client.db.delete(words[1])
    return old.data


@command("getex", -2, "write fast", ONE)
def _run_getex(client: Client, words: Words) -> Reply:
    db, key = client.db, words[1]
    option = words[2].lower() if len(words) > 2 else b""
    right = (b"persist",) if len(words) == 3 else UNITS if len(words) == 4 else (b"",)
    if option not in right:
        raise SyntaxMistake
    value = db.view(key, StringValue)
    if value is None:
        return None
    if option in UNITS:
        when_ms = expiry_moment(client, words[3], option, "getex")
        if when_ms <= client.server.now_ms():
            db.delete(key)
        else:
            db.set_expiry(key, when_ms)
            db.touched(key)
        client.propagate([b"PEXPIREAT", key, b"%d" % when_ms])
    elif option and db.persist(key):
        db.touched(key)
        client.propagate([b"PERSIST", key])
    return value.data


@command("mget", -2, "readonly fast", ALL)
def _run_mget(client: Client, words: Words) -> Reply:
    values = [client.db.read(key) for key in words[1:]]
    return [value.data if isinstance(value, StringValue) else None for value in values]


@command("mset", -3, "write denyoom", (1, -1, 2))
def _run_mset(client: Client, words: Words) -> Reply:
    _check_pairs(words, "MSET")
    for key, data in zip(words[1::2], words[2::2], strict=True):
        client.db.put(key, StringValue(data))
    return OK


@command("msetnx", -3, "write denyoom", (1, -1, 2))
def _run_msetnx(client: Client, words: Words) -> Reply:
    _check_pairs(words, "MSETNX")
    if any(client.db.find(key) is not None for key in words[1::2]):
        return 0
    for key, data in zip(words[1::2], words[2::2], strict=True):
        client.db.put(key, StringValue(data))
    return 1


def _check_pairs(words: Words, name: str) -> None:
    if len(words) % 2 == 0:
        raise RedisError(f"ERR wrong number of arguments for {name}")


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
    _check_length(len(value.data) + len(words[2]))
    value.data, value.grown = value.data + words[2], True
    client.db.touched(words[1])
    return len(value.data)


@command("setrange", 4, "write denyoom", ONE)
def _run_setrange(client: Client, words: Words) -> Reply:
    offset = integer(words[2])
    if offset < 0:
        raise RedisError("ERR offset is out of range")
    value = client.db.get(words[1], StringValue)
    data = b"" if value is None else value.data
    piece = words[3]
    if not piece:
        return len(data)
    _check_length(offset + len(piece))
    data = data.ljust(offset, b"\0")
    data = data[:offset] + piece + data[offset + len(piece) :]
    if value is None:
        client.db.put(words[1], StringValue(data, grown=True))
    else:
        value.data, value.grown = data, True
        client.db.touched(words[1])
    return len(data)


def _check_length(size_bytes: int) -> None:
    if size_bytes > STRING_MAX_BYTES:
        raise RedisError("ERR string exceeds maximum allowed size (512MB)")


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


command("substr", 4, "readonly", ONE)(_run_getrange)


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
    total = checked_sum(0 if value is None else integer(value.data), change)
    _replace(client, key, value, b"%d" % total)
    return total


@command("incrbyfloat", 3, "write denyoom fast", ONE)
def _run_incrbyfloat(client: Client, words: Words) -> Reply:
    value = client.db.get(words[1], StringValue)
    total = add_long(b"0" if value is None else value.data, words[2])
    _replace(client, words[1], value, total, unread=True)
    client.propagate([b"SET", words[1], total, b"KEEPTTL"])
    return total


def _replace(
    client: Client, key: bytes, value: StringValue | None, data: bytes, unread: bool = False
) -> None:
    if value is None:
        client.db.put(key, StringValue(data, unread=unread))
    else:
        value.data, value.grown, value.unread = data, False, unread
        client.db.touched(key)
