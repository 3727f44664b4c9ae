"""Commands for operators: TIME, SLOWLOG, MEMORY, MONITOR, SHUTDOWN and others."""

from __future__ import annotations

from typing import Final

from simcloud.datastores.redis.commands.table import Handler, command
from simcloud.datastores.redis.config import Config
from simcloud.datastores.redis.engine.database import KEY_BYTES
from simcloud.datastores.redis.engine.numbers import double, integer
from simcloud.datastores.redis.resp import OK, RedisError, Reply, Simple, SyntaxMistake, Words
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


DEBUG: Final[dict[tuple[bytes, int], Handler]] = {(b"sleep", 3): _sleep}


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
            b"Hi Sam, this instance is empty or is using very little memory, my issues detector can't be used in these "
            b"conditions. Please, leave for your mission on Earth and fill it with some data. The new Sam and I will be "
            b"back to our programming as soon as I finished rebooting.\n"
        )
    return b"Hi Sam, I can't find any memory issue in your instance. I can only account for what occurs on this base.\n"


MEMORY: Final[dict[tuple[bytes, int], Handler]] = {(b"usage", 0): _usage, (b"doctor", 2): _doctor}


@command("latency", -2, "admin")
def _run_latency(client: Client, words: Words) -> Reply:
    return dispatch(client, words, LATENCY)


def _list_spikes(client: Client) -> list[list[int]]:
    """Return when commands took longer than the monitor allows, and how many milliseconds."""
    server = client.server
    least_ms = server.config.number("latency-monitor-threshold")
    return [
        [entry.at, entry.duration_us // 1000]
        for entry in reversed(server.slow_log)
        if 0 < least_ms * 1000 <= entry.duration_us and entry.at > server.latency_reset_at
    ]


def _diagnose_latency(client: Client, words: Words) -> Reply:
    if not client.server.config.number("latency-monitor-threshold"):
        return MONITORING_DISABLED
    if not (spikes := _list_spikes(client)):
        return NO_LATENCY
    delays = [delay_ms for _, delay_ms in spikes]
    average = sum(delays) // len(delays)
    deviation = sum(abs(delay_ms - average) for delay_ms in delays) // len(delays)
    period_s = max(1, int(client.server.clock()) - spikes[0][0]) / len(delays)
    return (
        "Dave, I have observed latency spikes in this Redis instance. You don't mind talking about it, do you Dave?\n\n"
        f"1. command: {len(delays)} latency spikes (average {average}ms, mean deviation {deviation}ms, "
        f"period {period_s:.2f} sec). Worst all time event {max(delays)}ms.\n"
        f"\nI have a few advices for you:\n\n{_advise(client.server.config)}"
    ).encode()


def _advise(config: Config) -> str:
    """Return what to do about slow commands."""
    least_ms, logged_us = config.number("latency-monitor-threshold"), config.number("slowlog-log-slower-than")
    logging = ENABLE_SLOW_LOG if logged_us < 0 else TUNE_SLOW_LOG if logged_us // 1000 > least_ms else ""
    return f"{logging.format(least_ms * 1000)}{READ_SLOW_LOG}{LARGE_OBJECTS}"


def _reset_latency(client: Client, words: Words) -> Reply:
    count = int(bool(_list_spikes(client)) and (len(words) == 2 or b"command" in words[2:]))
    client.server.latency_reset_at = client.server.clock() if count else client.server.latency_reset_at
    return count


MONITORING_DISABLED: Final = (
    b"I'm sorry, Dave, I can't do that. Latency monitoring is disabled in this Redis instance. You may use "
    b'"CONFIG SET latency-monitor-threshold <milliseconds>." in order to enable it. If we weren\'t in a deep space '
    b"mission I'd suggest to take a look at https://redis.io/topics/latency-monitor.\n"
)
NO_LATENCY: Final = (
    b"Dave, no latency spike was observed during the lifetime of this Redis instance, not in the slightest bit. I "
    b"honestly think you ought to sit down calmly, take a stress pill, and think things over.\n"
)
ENABLE_SLOW_LOG: Final = (
    "- There are latency issues with potentially slow commands you are using. Try to enable the Slow Log Redis "
    "feature using the command 'CONFIG SET slowlog-log-slower-than {}'. If the Slow log is disabled Redis is not able "
    "to log slow commands execution for you.\n"
)
TUNE_SLOW_LOG: Final = (
    "- Your current Slow Log configuration only logs events that are slower than your configured latency monitor "
    "threshold. Please use 'CONFIG SET slowlog-log-slower-than {}'.\n"
)
READ_SLOW_LOG: Final = (
    "- Check your Slow Log to understand what are the commands you are running which are too slow to execute. Please "
    "check https://redis.io/commands/slowlog for more information.\n"
)
LARGE_OBJECTS: Final = (
    "- Deleting, expiring or evicting (because of maxmemory policy) large objects is a blocking operation. If you have "
    "very large objects that are often deleted, expired, or evicted, try to fragment those objects into multiple smaller "
    "objects.\n"
)
LATENCY_HELP: Final = """LATENCY <subcommand> [<arg> [value] [opt] ...]. Subcommands are:
DOCTOR
    Return a human readable latency analysis report.
GRAPH <event>
    Return an ASCII latency graph for the <event> class.
HISTORY <event>
    Return time-latency samples for the <event> class.
LATEST
    Return the latest latency samples for all events.
RESET [<event> ...]
    Reset latency data of one or more <event> classes.
    (default: reset all data for all event classes)
HELP
    Prints this help."""

LATENCY: Final[dict[tuple[bytes, int], Handler]] = {
    (b"doctor", 2): _diagnose_latency,
    (b"history", 3): lambda client, words: _list_spikes(client) if words[2] == b"command" else [],
    (b"latest", 2): lambda client, words: [
        [b"command", *spikes[-1], max(spike[1] for spike in spikes)]
        for spikes in [_list_spikes(client)]
        if spikes
    ],
    (b"reset", 0): _reset_latency,
    (b"help", 2): lambda client, words: [Simple(line) for line in LATENCY_HELP.splitlines()],
}


@command("role", 1, "readonly fast")
def _run_role(client: Client, words: Words) -> Reply:
    return [b"master", 0, []]
