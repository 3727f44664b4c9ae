"""Commands for operators: TIME, SLOWLOG, MEMORY, MONITOR, SHUTDOWN and others."""

from __future__ import annotations

from typing import Final

from simcloud.datastores.redis.commands.table import Handler, command
from simcloud.datastores.redis.engine.database import KEY_BYTES
from simcloud.datastores.redis.engine.numbers import double, integer
from simcloud.datastores.redis.resp import OK, RedisError, Reply, SyntaxMistake, Words
from simcloud.datastores.redis.state import Client

SLEEP_MAX_S: Final = 60.0
SLOW_SHOWN: Final = 10


def dispatch(client: Client, words: Words, table: dict[tuple[bytes, int], Handler]) -> Reply:
    """Call the handler of a subcommand; a count of 0 in the table means any number of arguments."""
    verb = words[1].lower()
    handler = table.get((verb, len(words))) or table.get((verb, 0))
    if handler is None:
        shown, name = words[1].decode("utf-8", "replace"), words[0].decode("utf-8", "replace").upper()
        raise RedisError(
            f"ERR Unknown subcommand or wrong number of arguments for '{shown}'. Try {name} HELP."
        )
    return handler(client, words)


@command("time", 1, "fast")
def _run_time(client: Client, words: Words) -> Reply:
    seconds, rest = divmod(int(client.server.clock() * 1_000_000), 1_000_000)
    return [b"%d" % seconds, b"%d" % rest]


@command("monitor", 1, "admin")
def _run_monitor(client: Client, words: Words) -> Reply:
    client.monitoring = True
    client.server.monitors[client.number] = client
    return OK


@command("shutdown", -1, "admin")
def _run_shutdown(client: Client, words: Words) -> Reply:
    if len(words) > 2 or (len(words) == 2 and words[1].lower() not in (b"save", b"nosave")):
        raise SyntaxMistake
    stop = client.server.stop
    if stop is None:
        raise RedisError("ERR Errors trying to SHUTDOWN. Check logs.")
    return stop(None if len(words) == 1 else words[1].lower() == b"save")


@command("debug", -2, "admin")
def _run_debug(client: Client, words: Words) -> Reply:
    return dispatch(client, words, DEBUG)


def _sleep(client: Client, words: Words) -> Reply:
    client.server.stall_s += min(max(0.0, double(words[2])), SLEEP_MAX_S)
    return OK


DEBUG: Final[dict[tuple[bytes, int], Handler]] = {
    (b"sleep", 3): _sleep,
}


@command("slowlog", -2, "admin")
def _run_slowlog(client: Client, words: Words) -> Reply:
    return dispatch(client, words, SLOWLOG)


def _slow_commands(client: Client, words: Words) -> Reply:
    count = integer(words[2]) if len(words) > 2 else SLOW_SHOWN
    entries = list(client.server.slow_log)
    return [
        [entry.number, entry.at, entry.duration_us, list(entry.words), entry.address.encode(), entry.name]
        for entry in (entries if count < 0 else entries[:count])
    ]


def _forget_slow_commands(client: Client, words: Words) -> Reply:
    client.server.slow_log.clear()
    return OK


SLOWLOG: Final[dict[tuple[bytes, int], Handler]] = {
    (b"get", 2): _slow_commands,
    (b"get", 3): _slow_commands,
    (b"len", 2): lambda client, words: len(client.server.slow_log),
    (b"reset", 2): _forget_slow_commands,
}


@command("memory", -2, "readonly")
def _run_memory(client: Client, words: Words) -> Reply:
    return dispatch(client, words, MEMORY)


def _usage(client: Client, words: Words) -> Reply:
    if len(words) == 5 and words[3].lower() == b"samples":
        integer(words[4])
    elif len(words) != 3:
        raise SyntaxMistake
    value = client.db.values.get(words[2])
    return None if value is None else KEY_BYTES + len(words[2]) + value.size_bytes


def _doctor(client: Client, words: Words) -> Reply:
    if client.server.used_bytes < 5 << 20:
        return (
            b"Hi Sam, this instance is empty or is using very little memory, my issue detector can't be used in these "
            b"conditions. Please, leave for your mission on Earth and fill it with some data. The new Sam and I will be "
            b"back to our programming as soon as I finished rebooting.\n"
        )
    return b"Hi Sam, I can't find any memory issue in your instance. I can only account for what occurs on this base.\n"


MEMORY: Final[dict[tuple[bytes, int], Handler]] = {
    (b"usage", 0): _usage,
    (b"doctor", 2): _doctor,
}


@command("role", 1, "readonly fast")
def _run_role(client: Client, words: Words) -> Reply:
    return [b"master", 0, []]
