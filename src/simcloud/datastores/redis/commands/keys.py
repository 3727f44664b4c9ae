"""Commands on keys, whatever they hold."""

from __future__ import annotations

from typing import Final

from simcloud.datastores.redis.client import Client
from simcloud.datastores.redis.commands.table import ALL, ONE, TWO, command
from simcloud.datastores.redis.engine.database import Database
from simcloud.datastores.redis.engine.numbers import integer
from simcloud.datastores.redis.engine.patterns import Pattern
from simcloud.datastores.redis.engine.values import StringValue
from simcloud.datastores.redis.messages import Words
from simcloud.datastores.redis.replies import OK, RedisError, Reply, Simple, SyntaxMistake

NO_SUCH_KEY: Final = "ERR no such key"
BAD_DB: Final = "ERR DB index is out of range"


@command("del", -2, "write", ALL)
def _run_delete(client: Client, words: Words) -> Reply:
    return sum([client.db.delete(key) for key in words[1:]])


command("unlink", -2, "write fast", ALL)(_run_delete)


@command("exists", -2, "readonly fast", ALL)
def _run_exists(client: Client, words: Words) -> Reply:
    return sum([client.db.read(key) is not None for key in words[1:]])


command("touch", -2, "readonly fast", ALL)(_run_exists)


@command("type", 2, "readonly fast", ONE)
def _run_type(client: Client, words: Words) -> Reply:
    value = client.db.find(words[1])
    return Simple("none" if value is None else value.kind)


@command("keys", 2, "readonly dangerous")
def _run_keys(client: Client, words: Words) -> Reply:
    client.server.work += len(client.db.values)
    pattern = Pattern(words[1])
    now_ms, expires = client.server.now_ms(), client.db.expires
    found = [key for key in client.db.values if pattern.matches(key)]
    return [key for key in found if expires.get(key, now_ms + 1) > now_ms]


@command("randomkey", 1, "readonly")
def _run_randomkey(client: Client, words: Words) -> Reply:
    alive = [key for key in list(client.db.values) if client.db.find(key) is not None]
    return client.server.choose(alive, None)[0] if alive else None


@command("dbsize", 1, "readonly fast")
def _run_dbsize(client: Client, words: Words) -> Reply:
    return len(client.db.values)


@command("rename", 3, "write", TWO)
def _run_rename(client: Client, words: Words) -> Reply:
    _rename(client, words[1], words[2])
    return OK


@command("renamenx", 3, "write fast", TWO)
def _run_renamenx(client: Client, words: Words) -> Reply:
    if client.db.find(words[1]) is None:
        raise RedisError(NO_SUCH_KEY)
    if client.db.find(words[2]) is not None:
        return 0
    _rename(client, words[1], words[2])
    return 1


def _rename(client: Client, old: bytes, new: bytes) -> None:
    value = client.db.find(old)
    if value is None:
        raise RedisError(NO_SUCH_KEY)
    if old != new:
        _place(client.db, new, client.db, old, copy=False)


def _place(target: Database, new: bytes, source: Database, old: bytes, copy: bool) -> None:
    """Put what a key holds under another, its expiry included."""
    value = source.values[old]
    when_ms = source.expires.get(old)
    made = value.copy()
    if not copy:
        source.delete(old)
    target.delete(new)
    target.put(new, made)
    if when_ms is not None:
        target.set_expiry(new, when_ms)


@command("move", 3, "write fast", ONE)
def _run_move(client: Client, words: Words) -> Reply:
    target = database(client, words[2])
    if target is client.db:
        raise RedisError("ERR source and destination objects are the same")
    if client.db.find(words[1]) is None or target.find(words[1]) is not None:
        return 0
    _place(target, words[1], client.db, words[1], copy=False)
    return 1


@command("copy", -3, "write denyoom", TWO)
def _run_copy(client: Client, words: Words) -> Reply:
    replace, target = False, client.db
    at = 3
    while at < len(words):
        option = words[at].lower()
        if option == b"replace":
            replace = True
        elif option == b"db" and at + 1 < len(words):
            at += 1
            target = database(client, words[at])
        else:
            raise SyntaxMistake
        at += 1
    if target is client.db and words[1] == words[2]:
        raise RedisError("ERR source and destination objects are the same")
    if client.db.find(words[1]) is None or (target.find(words[2]) is not None and not replace):
        return 0
    _place(target, words[2], client.db, words[1], copy=True)
    return 1


def database(
    client: Client, word: bytes, complaint: str = "ERR value is not an integer or out of range"
) -> Database:
    """The database of a number. Raises ``RedisError``."""
    number = integer(word, complaint)
    databases = client.server.databases
    if not 0 <= number < len(databases):
        raise RedisError(BAD_DB)
    return databases[number]


@command("select", 2, "fast")
def _run_select(client: Client, words: Words) -> Reply:
    client.db = database(client, words[1])
    return OK


@command("swapdb", 3, "write fast")
def _run_swapdb(client: Client, words: Words) -> Reply:
    first = database(client, words[1], "ERR invalid first DB index")
    second = database(client, words[2], "ERR invalid second DB index")
    first.values, second.values = second.values, first.values
    first.expires, second.expires = second.expires, first.expires
    for db in (first, second):
        db.rebuild_due()
        for key in list(db.watched):
            db.tell(key)
    client.server.account.changes += 1
    return OK


@command("flushdb", -1, "write dangerous")
def _run_flushdb(client: Client, words: Words) -> Reply:
    _check_flush(words)
    client.db.clear()
    client.server.account.changes += 1
    return OK


@command("flushall", -1, "write dangerous")
def _run_flushall(client: Client, words: Words) -> Reply:
    _check_flush(words)
    for db in client.server.databases:
        db.clear()
    client.server.account.changes += 1
    return OK


def _check_flush(words: Words) -> None:
    if len(words) > 2 or (len(words) == 2 and words[1].lower() not in (b"sync", b"async")):
        raise SyntaxMistake


@command("object", -2, "readonly", (2, 2, 1))
def _run_object(client: Client, words: Words) -> Reply:
    verb = words[1].lower()
    if verb not in (b"encoding", b"refcount", b"idletime", b"freq") or len(words) != 3:
        shown = words[1].decode("utf-8", "replace")
        raise RedisError(
            f"ERR Unknown subcommand or wrong number of arguments for '{shown}'. Try OBJECT HELP."
        )
    value = client.db.values.get(words[2])
    accessed = 0 if value is None else value.accessed
    if value is None or client.db.find(words[2]) is None:
        return None
    value.accessed = accessed
    if verb == b"encoding":
        return value.encoding.encode()
    if verb == b"refcount":
        shared = (
            isinstance(value, StringValue) and value.encoding == "int" and int(value.data) in range(10_000)
        )
        return (1 << 31) - 1 if shared else 1
    frequent = client.server.config.policy.endswith("lfu")
    if verb == b"freq":
        if not frequent:
            raise RedisError(
                "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when "
                "switching between policies at runtime LRU and LFU data will take some time to adjust."
            )
        return value.counter
    if frequent:
        raise RedisError(
            "ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when switching between "
            "policies at runtime LRU and LFU data will take some time to adjust."
        )
    return (client.server.now_ms() - accessed) // 1000
