"""Commands on keys of any type."""

from __future__ import annotations

from typing import Final

from simcloud.datastores.redis.commands.table import ALL, ONE, TWO, command
from simcloud.datastores.redis.engine.numbers import integer
from simcloud.datastores.redis.engine.patterns import Pattern
from simcloud.datastores.redis.resp import OK, RedisError, Reply, Simple, SyntaxMistake, Words
from simcloud.datastores.redis.state import Client

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
    db, old, new = client.db, words[1], words[2]
    value = db.find(old)
    if value is None:
        raise RedisError(NO_SUCH_KEY)
    if old != new:
        when_ms = db.expires.get(old)
        db.delete(old)
        db.delete(new)
        db.put(new, value)
        if when_ms is not None:
            db.set_expiry(new, when_ms)
    return OK


@command("select", 2, "fast")
def _run_select(client: Client, words: Words) -> Reply:
    number, databases = integer(words[1]), client.server.databases
    if not 0 <= number < len(databases):
        raise RedisError(BAD_DB)
    client.db = databases[number]
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
    if verb not in (b"encoding", b"idletime", b"freq") or len(words) != 3:
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
