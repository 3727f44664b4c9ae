"""CONFIG GET, SET, REWRITE and RESETSTAT."""

from __future__ import annotations

from typing import Final

from simcloud.datastores.redis.commands.administration import dispatch
from simcloud.datastores.redis.commands.table import Handler, command
from simcloud.datastores.redis.config import BadValue, UnknownParameter
from simcloud.datastores.redis.engine.eviction import make_room
from simcloud.datastores.redis.engine.patterns import Pattern
from simcloud.datastores.redis.resp import OK, RedisError, Reply, Words
from simcloud.datastores.redis.state import Client
from simcloud.machine.files import FileError


@command("config", -2, "admin")
def _run_config(client: Client, words: Words) -> Reply:
    return dispatch(client, words, CONFIG)


def _get(client: Client, words: Words) -> Reply:
    config, pattern = client.server.config, Pattern(words[2], ignore_case=True)
    found = [name for name in config.names() if pattern.matches(name.encode())]
    return [
        part
        for name in found
        for part in (name.encode(), config.text(name).encode("utf-8", "surrogateescape"))
    ]


def _set(client: Client, words: Words) -> Reply:
    server = client.server
    name, given = (word.decode("utf-8", "surrogateescape") for word in words[2:4])
    config = server.config
    if config.is_immutable(name.lower()):
        raise RedisError(f"ERR Unsupported CONFIG parameter: {name}")
    old_dir = config.text("dir")
    try:
        config.set(name.lower(), [given])
    except UnknownParameter:
        raise RedisError(f"ERR Unsupported CONFIG parameter: {name}") from None
    except BadValue as bad:
        detail = "" if name.lower() == "save" else f" - {bad}"
        raise RedisError(f"ERR Invalid argument '{given}' for CONFIG SET '{name}'{detail}") from None
    if name.lower() == "dir":
        try:
            server.disk.enter(given)
        except FileError as error:
            config.set("dir", [old_dir])
            raise RedisError(f"ERR Changing directory: {error}") from None
    server.apply_config()
    if name.lower() == "appendonly" and not server.disk.set_append_only(config.yes("appendonly")):
        config.set("appendonly", ["no"])
        raise RedisError("ERR Unable to turn on AOF. Check server logs.")
    if name.lower() == "maxmemory" and config.maxmemory:
        if server.used_bytes > config.maxmemory:
            server.log(
                "#",
                f"WARNING: the new maxmemory value set via CONFIG SET ({config.maxmemory}) is smaller than the current "
                f"memory usage ({server.used_bytes}). This will result in key eviction and/or the inability to accept "
                "new write commands depending on the maxmemory-policy.",
            )
        make_room(server)
    return OK


def _rewrite(client: Client, words: Words) -> Reply:
    server = client.server
    if not server.config_file:
        raise RedisError("ERR The server is running without a config file")
    try:
        server.disk.rewrite_config(server.config_file)
    except FileError as error:
        server.log("#", f"CONFIG REWRITE failed: {error}")
        raise RedisError(f"ERR Rewriting config file: {error}") from None
    server.log("#", "CONFIG REWRITE executed with success.")
    return OK


def _reset_counts(client: Client, words: Words) -> Reply:
    client.server.reset_counts()
    return OK


CONFIG: Final[dict[tuple[bytes, int], Handler]] = {
    (b"get", 3): _get,
    (b"set", 4): _set,
    (b"rewrite", 2): _rewrite,
    (b"resetstat", 2): _reset_counts,
}
