"""SAVE, BGSAVE, LASTSAVE, BGREWRITEAOF."""

from __future__ import annotations

from simcloud.datastores.redis.commands.table import command
from simcloud.datastores.redis.resp import OK, ErrorReply, RedisError, Reply, Simple, SyntaxMistake, Words
from simcloud.datastores.redis.state import Client


@command("save", 1, "admin")
def _run_save(client: Client, words: Words) -> Reply:
    disk = client.server.disk
    if disk.saving:
        raise RedisError("ERR Background save already in progress")
    return OK if disk.save() else ErrorReply("ERR")


@command("bgsave", -1, "admin")
def _run_bgsave(client: Client, words: Words) -> Reply:
    if len(words) > 2 or (len(words) == 2 and words[1].lower() != b"schedule"):
        raise SyntaxMistake
    disk = client.server.disk
    if disk.saving:
        raise RedisError("ERR Background save already in progress")
    disk.save_in_background()
    return Simple("Background saving started")


@command("lastsave", 1, "admin fast")
def _run_lastsave(client: Client, words: Words) -> Reply:
    return int(client.server.disk.saved_at)


@command("bgrewriteaof", 1, "admin")
def _run_bgrewriteaof(client: Client, words: Words) -> Reply:
    disk = client.server.disk
    if disk.rewriting:
        raise RedisError("ERR Background append only file rewriting already in progress")
    disk.rewrite_append_only()
    return Simple("Background append only file rewriting started")
