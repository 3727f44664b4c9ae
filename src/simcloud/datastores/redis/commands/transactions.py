"""MULTI, EXEC, DISCARD, WATCH."""

from __future__ import annotations

from simcloud.datastores.redis.commands.table import ALL, COMMANDS, call, command
from simcloud.datastores.redis.resp import NIL_ARRAY, OK, ErrorReply, RedisError, Reply, Words
from simcloud.datastores.redis.state import Client


@command("multi", 1, "fast")
def _run_multi(client: Client, words: Words) -> Reply:
    if client.queue is not None:
        raise RedisError("ERR MULTI calls can not be nested")
    client.queue = []
    return OK


@command("discard", 1, "fast")
def _run_discard(client: Client, words: Words) -> Reply:
    if client.queue is None:
        raise RedisError("ERR DISCARD without MULTI")
    client.end_transaction()
    return OK


@command("exec", 1, "slow")
def _run_exec(client: Client, words: Words) -> Reply:
    queue = client.queue
    if queue is None:
        raise RedisError("ERR EXEC without MULTI")
    broken, changed = client.queue_broken, client.watched_changed
    client.end_transaction()
    if broken:
        return ErrorReply("EXECABORT Transaction discarded because of previous errors.")
    if changed:
        return NIL_ARRAY
    return [call(client, COMMANDS[queued[0].lower()], queued) for queued in queue]


@command("watch", -2, "fast", ALL)
def _run_watch(client: Client, words: Words) -> Reply:
    if client.queue is not None:
        raise RedisError("ERR WATCH inside MULTI is not allowed")

    def notice_change() -> None:
        client.watched_changed = True

    db = client.db
    for key in words[1:]:
        db.find(key)
        if all(key != other or db is not where for where, other, _ in client.watching):
            db.watched.setdefault(key, []).append(notice_change)
            client.watching.append((db, key, notice_change))
    return OK


@command("unwatch", 1, "fast")
def _run_unwatch(client: Client, words: Words) -> Reply:
    client.forget_watches()
    return OK
