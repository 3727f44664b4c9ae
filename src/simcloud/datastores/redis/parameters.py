"""The parameters of Redis 6.2 with their defaults, in the order CONFIG GET lists them.

``protected-mode`` is off, as the image's build has it; ``rdbchecksum`` is off, because to compute one costs more than
all the rest of a snapshot.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Kind(NamedTuple):
    """What values a parameter takes."""

    type: str
    default: str
    least: int = -(1 << 63)
    most: int = (1 << 63) - 1
    choices: tuple[str, ...] = ()
    words: bool = False


def _yes(default: str) -> Kind:
    return Kind("bool", default)


def _text(default: str = "") -> Kind:
    return Kind("text", default)


def _number(default: int, least: int = 0, most: int = (1 << 31) - 1) -> Kind:
    return Kind("number", str(default), least, most)


def _memory(default: int, most: int = (1 << 63) - 1) -> Kind:
    return Kind("memory", str(default), 0, most)


def _one_of(default: str, *choices: str) -> Kind:
    return Kind("enum", default, choices=choices)


POLICIES: Final = (
    "volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl", "allkeys-lru", "allkeys-lfu", "allkeys-random",
    "noeviction",
)  # fmt: skip

SWITCHES: Final = (
    "rdbchecksum=no daemonize=no io-threads-do-reads=no lua-replicate-commands=yes always-show-logo=no protected-mode=no "
    "rdbcompression=yes rdb-del-sync-files=no activerehashing=yes stop-writes-on-bgsave-error=yes set-proc-title=yes "
    "dynamic-hz=yes lazyfree-lazy-eviction=no lazyfree-lazy-expire=no lazyfree-lazy-server-del=no lazyfree-lazy-user-del=no "
    "lazyfree-lazy-user-flush=no repl-disable-tcp-nodelay=no repl-diskless-sync=no gopher-enabled=no "
    "aof-rewrite-incremental-fsync=yes no-appendfsync-on-rewrite=no cluster-require-full-coverage=yes "
    "rdb-save-incremental-fsync=yes aof-load-truncated=yes aof-use-rdb-preamble=yes cluster-replica-no-failover=no "
    "replica-lazy-flush=no replica-serve-stale-data=yes replica-read-only=yes replica-ignore-maxmemory=yes "
    "jemalloc-bg-thread=yes activedefrag=no syslog-enabled=no cluster-enabled=no appendonly=no "
    "cluster-allow-reads-when-down=no crash-log-enabled=yes crash-memcheck-enabled=yes use-exit-on-panic=no disable-thp=yes"
)
PARAMETERS: Final[dict[str, Kind]] = {
    **{name: _yes(default) for name, _, default in (word.partition("=") for word in SWITCHES.split())},
    "aclfile": _text(),
    "unixsocket": _text(),
    "pidfile": _text(),
    "replica-announce-ip": _text(),
    "masteruser": _text(),
    "cluster-announce-ip": _text(),
    "syslog-ident": _text("redis"),
    "dbfilename": _text("dump.rdb"),
    "appendfilename": _text("appendonly.aof"),
    "masterauth": _text(),
    "requirepass": _text(),
    "supervised": _one_of("no", "upstart", "systemd", "auto", "no"),
    "syslog-facility": _one_of("local0", *(f"local{number}" for number in range(8)), "user"),
    "repl-diskless-load": _one_of("disabled", "disabled", "on-empty-db", "swapdb"),
    "loglevel": _one_of("notice", "debug", "verbose", "notice", "warning"),
    "maxmemory-policy": _one_of("noeviction", *POLICIES),
    "appendfsync": _one_of("everysec", "everysec", "always", "no"),
    "oom-score-adj": _one_of("no", "no", "yes", "relative", "absolute"),
    "acl-pubsub-default": _one_of("allchannels", "allchannels", "resetchannels"),
    "sanitize-dump-payload": _one_of("no", "no", "yes", "clients"),
    "databases": _number(16, 1, 1024),
    "port": _number(6379, 0, 65535),
    "io-threads": _number(1, 1, 128),
    "auto-aof-rewrite-percentage": _number(100),
    "cluster-replica-validity-factor": _number(10),
    "list-max-ziplist-size": _number(-2, -(1 << 31)),
    "tcp-keepalive": _number(300),
    "cluster-migration-barrier": _number(1),
    "active-defrag-cycle-min": _number(1, 1, 99),
    "active-defrag-cycle-max": _number(25, 1, 99),
    "active-defrag-threshold-lower": _number(10, 0, 1000),
    "active-defrag-threshold-upper": _number(100, 0, 1000),
    "lfu-log-factor": _number(10),
    "lfu-decay-time": _number(1),
    "replica-priority": _number(100),
    "repl-diskless-sync-delay": _number(5),
    "maxmemory-samples": _number(5, 1, 64),
    "maxmemory-eviction-tenacity": _number(10, 0, 100),
    "timeout": _number(0),
    "replica-announce-port": _number(0, 0, 65535),
    "tcp-backlog": _number(511),
    "cluster-announce-bus-port": _number(0, 0, 65535),
    "cluster-announce-port": _number(0, 0, 65535),
    "repl-timeout": _number(60, 1),
    "repl-ping-replica-period": _number(10, 1),
    "list-compress-depth": _number(0),
    "rdb-key-save-delay": _number(0, -(1 << 31)),
    "key-load-delay": _number(0, -(1 << 31)),
    "active-expire-effort": _number(1, 1, 10),
    "hz": _number(10, 1, 500),
    "min-replicas-to-write": _number(0),
    "min-replicas-max-lag": _number(10),
    "maxclients": _number(10000, 1, (1 << 32) - 1),
    "active-defrag-max-scan-fields": _number(1000, 1),
    "slowlog-max-len": _number(128),
    "acllog-max-len": _number(128),
    "lua-time-limit": _number(5000),
    "cluster-node-timeout": _number(15000),
    "slowlog-log-slower-than": _number(10000, -1, (1 << 63) - 1),
    "latency-monitor-threshold": _number(0),
    "proto-max-bulk-len": _memory(512 << 20),
    "stream-node-max-entries": _number(100),
    "repl-backlog-size": _memory(1 << 20),
    "maxmemory": _memory(0),
    "hash-max-ziplist-entries": _number(512),
    "set-max-intset-entries": _number(512),
    "zset-max-ziplist-entries": _number(128),
    "active-defrag-ignore-bytes": _memory(100 << 20),
    "hash-max-ziplist-value": _memory(64),
    "stream-node-max-bytes": _memory(4096),
    "zset-max-ziplist-value": _memory(64),
    "hll-sparse-max-bytes": _memory(3000),
    "tracking-table-max-keys": _number(1000000),
    "client-query-buffer-limit": _memory(1 << 30),
    "repl-backlog-ttl": _number(3600),
    "auto-aof-rewrite-min-size": _memory(64 << 20),
    "logfile": _text(),
    "watchdog-period": _number(0),
    "dir": _text("/data"),
    "save": Kind("save", "3600 1 300 100 60 10000", words=True),
    "client-output-buffer-limit": Kind(
        "words", "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60", words=True
    ),
    "unixsocketperm": _number(0, 0, 0o777),
    "slaveof": _text(),
    "notify-keyspace-events": _text(),
    "bind": Kind("words", "", words=True),
    "oom-score-adj-values": Kind("words", "0 200 800", words=True),
}

IMMUTABLE: Final = frozenset(
    {
        "aclfile", "always-show-logo", "appendfilename", "bind", "cluster-enabled", "crash-memcheck-enabled", "daemonize",
        "databases", "disable-thp", "io-threads", "logfile", "pidfile", "port", "rdbchecksum", "set-proc-title", "slaveof",
        "supervised", "syslog-enabled", "syslog-facility", "syslog-ident", "tcp-backlog", "unixsocket", "unixsocketperm",
        "use-exit-on-panic",
    }
)  # fmt: skip
