"""What a server holds: databases, clients, configuration, counts; and what it knows of each client.

It knows nothing of connections.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any, Final, NamedTuple

from simcloud.datastores.redis.acl import User, Users
from simcloud.datastores.redis.config import Config
from simcloud.datastores.redis.disk import Disk
from simcloud.datastores.redis.engine.database import Account, Database
from simcloud.datastores.redis.engine.values import Limits
from simcloud.datastores.redis.resp import Reply, Words
from simcloud.machine.files import Disk as Device, Files, Volume

BASE_BYTES: Final = 870_000
CLIENT_BYTES: Final = 17_000
CHOICE_MAX: Final = 1 << 20
FIRST_DESCRIPTOR: Final = 8
"""The file descriptor of the first client: those below are streams, sockets that listen, and the event loop."""


class Client:
    """A connection as the server knows it. ``push`` sends what the client did not ask for."""

    def __init__(
        self,
        server: ServerState,
        number: int,
        address: str,
        local_address: str,
        push: Callable[[Reply], None],
    ) -> None:
        self.server = server
        self.number = number
        free = server.free_descriptors
        self.descriptor = heappop(free) if free else FIRST_DESCRIPTOR + len(server.clients)
        self.address = address
        self.local_address = local_address
        self.push = push
        self.name = b""
        self.db: Database = server.databases[0]
        self.user: User = server.users.default
        self.authenticated = self.user.is_open
        self.queue: list[Words] | None = None
        self.queue_broken = False
        self.watched_changed = False
        self.watching: list[tuple[Database, bytes, Callable[[], None]]] = []
        self.channels: dict[bytes, None] = {}
        self.patterns: dict[bytes, None] = {}
        self.monitoring = False
        self.closing = False
        self.created = server.clock()
        self.last_active = self.created
        self.last_command = "NULL"
        self.propagated: list[Words] | None = None

    @property
    def subscriptions(self) -> int:
        """To how many channels and patterns it listens."""
        return len(self.channels) + len(self.patterns)

    def propagate(self, *commands: Words) -> None:
        """Set the commands that go to the append-only file instead of the current one."""
        self.propagated = list(commands)

    def forget_watches(self) -> None:
        """Stop watching."""
        for db, key, notify in self.watching:
            callbacks = db.watched.get(key)
            if callbacks is not None and notify in callbacks:
                callbacks.remove(notify)
                if not callbacks:
                    del db.watched[key]
        self.watching = []
        self.watched_changed = False

    def end_transaction(self) -> None:
        """Neither queue nor watch any more."""
        self.queue = None
        self.queue_broken = False
        self.forget_watches()


class SlowCommand(NamedTuple):
    """An entry of the slow log."""

    number: int
    at: int
    duration_us: int
    words: Words
    address: str
    name: bytes


class ServerState:
    """The whole of one server. ``clock`` is the machine's: seconds since 1970."""

    def __init__(
        self,
        config: Config,
        clock: Callable[[], float],
        chance: random.Random,
        log: Callable[[str, str], None] = lambda _mark, _text: None,
        files: Files | None = None,
        later: Callable[[float, Callable[[Any], object]], object] = lambda _delay_s, action: action(None),
    ) -> None:
        self.config = config
        self.clock = clock
        self.random = chance
        self.log = log
        self.limits = Limits()
        self.account = Account()
        self.users = Users()
        self.databases = [Database(number, self.now_ms, self.account) for number in range(config.databases)]
        self.pid = 1
        self.disk = Disk(self, files or _no_files(), later)
        self.clients: dict[int, Client] = {}
        self.free_descriptors: list[int] = []
        self.monitors: dict[int, Client] = {}
        self.channels: dict[bytes, dict[int, Client]] = {}
        self.patterns: dict[bytes, dict[int, Client]] = {}
        self.slow_log: deque[SlowCommand] = deque()
        self.slow_count = 0
        self.latency_reset_at = 0.0
        self.started = clock()
        self.run_id = f"{chance.getrandbits(160):040x}"
        self.child_log: Callable[[int, str, str], None] = lambda _pid, mark, text: log(mark, text)
        self.stop: Callable[[bool | None], Reply] | None = None
        self.kill: Callable[[Client], None] = lambda _client: None
        self.cpu_s: Callable[[], float] = lambda: 0.0
        self.resident_bytes: Callable[[], int] = lambda: self.used_bytes
        self.system_bytes = 8 << 30
        self.kernel_release = "6.1.0"
        self.operations_per_s = 0
        self.config_file = ""
        self.executable = "/usr/local/bin/redis-server"
        self.loading = False
        self.work = 0
        self.stall_s = 0.0
        self.last_client = 2
        self._reset_counts()
        self.apply_config()

    def _reset_counts(self) -> None:
        self.connections = 0
        self.rejected = 0
        self.evicted = 0
        self.bytes_in = 0
        self.bytes_out = 0
        self.errors: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self.call_us: Counter[str] = Counter()
        self.rejected_calls: Counter[str] = Counter()
        self.failed_calls: Counter[str] = Counter()
        self.peak_bytes = 0

    def reset_counts(self) -> None:
        """CONFIG RESETSTAT."""
        self._reset_counts()
        account = self.account
        account.hits = account.misses = account.expired = 0

    def apply_config(self) -> None:
        """Take over what parameters say about things that are kept here."""
        config, limits = self.config, self.limits
        limits.hash_entries = config.number("hash-max-ziplist-entries")
        limits.hash_value = config.number("hash-max-ziplist-value")
        limits.set_integers = config.number("set-max-intset-entries")
        limits.zset_entries = config.number("zset-max-ziplist-entries")
        limits.zset_value = config.number("zset-max-ziplist-value")
        self.users.require(config.text("requirepass"))
        self.slow_us = config.number("slowlog-log-slower-than")

    def log_as(self, pid: int, mark: str, text: str) -> None:
        """A line of a child's; one of the server's own where the process is the same."""
        self.child_log(pid, mark, text)

    def now_ms(self) -> int:
        """Milliseconds since 1970."""
        return int(self.clock() * 1000)

    @property
    def commands(self) -> int:
        """How many commands have run."""
        return sum(self.calls.values())

    @property
    def used_bytes(self) -> int:
        """What the server has allocated, as ``used_memory`` shows it."""
        return BASE_BYTES + self.account.bytes + CLIENT_BYTES * len(self.clients)

    def connect(self, address: str, local_address: str, push: Callable[[Reply], None]) -> Client:
        """Return a new client."""
        self.last_client += 1
        client = Client(self, self.last_client, address, local_address, push)
        self.clients[client.number] = client
        self.connections += 1
        return client

    def disconnect(self, client: Client) -> None:
        """A client is gone."""
        client.forget_watches()
        for listeners, names in ((self.channels, client.channels), (self.patterns, client.patterns)):
            for name in names:
                listeners[name].pop(client.number, None)
                if not listeners[name]:
                    del listeners[name]
        client.channels, client.patterns = {}, {}
        self.monitors.pop(client.number, None)
        if self.clients.pop(client.number, None) is not None:
            heappush(self.free_descriptors, client.descriptor)

    def choose(self, items: list[bytes], count: int | None) -> list[bytes]:
        """Choose items at random: one, ``count`` different ones, or (a negative count) that number with repetition."""
        if count is None:
            return [self.random.choice(items)]
        if count < 0:
            return [self.random.choice(items) for _ in range(min(-count, CHOICE_MAX))]
        return list(items) if count >= len(items) else self.random.sample(items, count)

    def note_duration(self, client: Client, words: Words, duration_us: int) -> None:
        """A command took so long; slow ones are remembered."""
        if self.slow_us < 0 or duration_us < self.slow_us:
            return
        kept = self.config.number("slowlog-max-len")
        entry = SlowCommand(
            self.slow_count, int(self.clock()), duration_us, _shorten(words), client.address, client.name
        )
        self.slow_count += 1
        self.slow_log.appendleft(entry)
        while len(self.slow_log) > kept:
            self.slow_log.pop()


SLOW_WORDS: Final = 32
SLOW_WORD_BYTES: Final = 128


def _shorten(words: Words) -> Words:
    kept = words if len(words) <= SLOW_WORDS else words[: SLOW_WORDS - 1]
    short = [
        word
        if len(word) <= SLOW_WORD_BYTES
        else word[:SLOW_WORD_BYTES] + b"... (%d more bytes)" % (len(word) - SLOW_WORD_BYTES)
        for word in kept
    ]
    if len(words) > SLOW_WORDS:
        short.append(b"... (%d more arguments)" % (len(words) - SLOW_WORDS + 1))
    return short


def _no_files() -> Files:
    """Return a folder of its own, for a server that has no machine."""
    return Files(Volume(Device("memory", capacity_bytes=1 << 30), lambda: 0.0, name="memory"))
