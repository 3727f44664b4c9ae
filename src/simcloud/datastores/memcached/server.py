"""The ``memcached`` program: typed messages from simulated clients, the text protocol for any other program.

A request is processed when it arrives and answered when its CPU time has passed. Memory grows with the largest
amount that items have filled, up to the limit of ``-m``; a container with less memory is OOM-killed before.
"""

from __future__ import annotations

from typing import Any, Final

from simcloud.datastores.memcached.cache import Cache, CacheError
from simcloud.datastores.memcached.messages import MEMCACHED, Answer, Fetch, Store, Values
from simcloud.datastores.memcached.settings import OS_ERROR, USAGE, BadOption, Settings, read_options
from simcloud.datastores.memcached.stats import Connections, report_figures
from simcloud.datastores.memcached.text import TextSession
from simcloud.machine.network import Connection, HttpMessage, NetworkError
from simcloud.machine.process import Context, Counted, Program, Signal
from simcloud.sim import Event

RAW: Final = "raw"
"""Every connection is accepted; its first message shows its protocol."""

BASE_BYTES: Final = 3 << 20
MEMORY_STEP_BYTES: Final = 64 << 10
"""Memory is accounted for in steps of this, not with every item."""

REQUEST_CPU_S: Final = 0.000_015
KEY_CPU_S: Final = 0.000_001
LINE_BYTES: Final = 24
GET_BYTES: Final = len("gets \r\n")
SET_BYTES: Final = len("set  0 0 100\r\n\r\n")
STORED_BYTES: Final = len("STORED\r\n")
IDLE_SHARE: Final = 0.000_41
"""Share of a core that the threads for the LRU lists and the clock use without requests."""
SERVICE_THREADS: Final = 6
"""The main thread, and those of the clock, the hash table, the LRU lists, their crawler and the slabs."""

TOO_MANY: Final = "ERROR Too many open connections"


def make_memcached(version: str) -> Program:
    """Return the program of one version. All versions behave alike."""

    async def memcached(ctx: Context) -> int:
        return await _run(ctx, version)

    return memcached


async def _run(ctx: Context, version: str) -> int:
    """Serve until stopped; items are gone with the process."""
    try:
        settings = read_options(ctx.args, version)
    except BadOption as mistake:
        await ctx.err(f"{mistake}\n")
        return mistake.status
    if settings.shown:
        await ctx.out(settings.shown)
        return 0
    if ctx.process.uid == 0 and not settings.user:
        await ctx.err("can't run as root without the -u switch\n")
        return USAGE
    ctx.process.threads = settings.threads + SERVICE_THREADS
    ctx.use_background_cpu(IDLE_SHARE)
    server = MemcachedServer(ctx, settings)
    try:
        for address in settings.addresses:
            ctx.listen(settings.port, RAW, address).on_accept = server.accept
    except NetworkError as error:
        await ctx.err(f"bind(): {error}\nfailed to listen on TCP port {settings.port}: {error}\n")
        return OS_ERROR
    ctx.process.report = lambda: report_figures(server.cache, settings, server.connections)
    ctx.process.counted = [
        Counted(server.cache, ("get_hits", "get_misses"), server.cache.limit_past),
        Counted(server.connections, ("total", "bytes_read", "bytes_written")),
        *(Counted(slab, ("hits",)) for slab in server.cache.slabs.classes),
    ]
    stop: Event[None] = Event(ctx.kernel)
    for signal in (Signal.TERM, Signal.INT):
        ctx.signals.on(signal, lambda _signal: stop.set())
    if settings.verbosity >= 2:
        for slab in server.cache.slabs.classes:
            await ctx.err(
                f"slab class {slab.number:3}: chunk size {slab.chunk_bytes:9} perslab {slab.chunks_per_page:7}\n"
            )
    await stop.wait()
    await ctx.err("Exiting normally\n")
    return 0


class MemcachedServer:
    """A cache and its connections."""

    def __init__(self, ctx: Context, settings: Settings) -> None:
        self.cache = Cache(
            ctx.machine.clock, settings.limit_bytes, settings.item_max_bytes, evicts=settings.evicts
        )
        self.connections = Connections(pid=ctx.process.pid)
        self._ctx = ctx
        self._settings = settings
        self._base_bytes = BASE_BYTES + ctx.random("memcached memory").randrange(
            -MEMORY_STEP_BYTES * 8, MEMORY_STEP_BYTES * 12
        )
        self._accounted_bytes = -MEMORY_STEP_BYTES
        self._account()

    def accept(self, connection: Connection) -> None:
        """Accept a client's connection."""
        if connection.peer.protocol == MEMCACHED:
            connection.protocol = MEMCACHED
        if self.connections.current >= self._settings.max_connections:
            self.connections.rejected += 1
            words = Answer(TOO_MANY) if connection.protocol == MEMCACHED else f"{TOO_MANY}\r\n".encode()
            _send(connection, words, LINE_BYTES)
            connection.close()
            return
        self.connections.current += 1
        self.connections.total += 1
        client = ClientConnection(self._ctx, self, self._settings, connection)
        connection.on_message = client.take
        connection.on_close = client.end

    def fetch(self, message: Fetch) -> tuple[Values, int]:
        """Work off a typed ``gets``: what to send, and its size."""
        found: dict[bytes, bytes] = {}
        size_bytes = LINE_BYTES
        for item in self.cache.get_many(message.keys):
            key, value = item.key, item.value
            found[key] = value
            size_bytes += len(key) + len(value) + LINE_BYTES
        return Values(found), size_bytes

    def store(self, message: Store) -> Answer:
        """Work off a typed ``set`` or one of its kind."""
        try:
            line = self.cache.store(message.verb, message.key, message.value, message.flags, message.expiry)
        except CacheError as error:
            line = str(error)
        self._account()
        return Answer(line)

    def text(self, session: TextSession, data: bytes) -> bytes:
        """Work off bytes of the text protocol."""
        self.connections.cpu_s = self._ctx.process.cpu_s
        reply = session.feed(data)
        self._account()
        return reply

    def _account(self) -> None:
        touched_bytes = self.cache.slabs.touched_bytes
        if touched_bytes - self._accounted_bytes >= MEMORY_STEP_BYTES:
            self._accounted_bytes = touched_bytes
            self._ctx.memory.use(self._base_bytes + touched_bytes)


class ClientConnection:
    """A client's connection."""

    __slots__ = ("_connection", "_ctx", "_free_at", "_server", "_session", "_settings")

    def __init__(
        self, ctx: Context, server: MemcachedServer, settings: Settings, connection: Connection
    ) -> None:
        self._ctx = ctx
        self._server = server
        self._settings = settings
        self._connection = connection
        self._session: TextSession | None = None
        self._free_at = 0.0

    def take(self, message: Any) -> None:
        """A message has arrived, typed or bytes."""
        counts = self._server.connections
        if message.__class__ is Fetch:
            counts.bytes_read += len(b" ".join(message.keys)) + GET_BYTES
            values, size_bytes = self._server.fetch(message)
            counts.bytes_written += size_bytes
            self._reply(values, size_bytes, REQUEST_CPU_S + len(message.keys) * KEY_CPU_S)
        elif message.__class__ is Store:
            counts.bytes_read += len(message.key) + len(message.value) + SET_BYTES
            counts.bytes_written += STORED_BYTES
            self._reply(self._server.store(message), LINE_BYTES, REQUEST_CPU_S)
        elif isinstance(message, bytes):
            self._take_bytes(message)
        elif isinstance(message, HttpMessage):
            self._take_bytes(message.head() + message.body)
        else:
            self.end(None)  # some binary protocol: nothing it could mean here

    def _take_bytes(self, data: bytes) -> None:
        session = self._session
        if session is None:
            session = self._session = TextSession(
                self._server.cache, self._settings, self._server.connections
            )
        counts = self._server.connections
        counts.bytes_read += len(data)
        before = session.commands
        reply = self._server.text(session, data)
        counts.bytes_written += len(reply)
        if not self._ctx.process.alive:
            return
        cpu_s = REQUEST_CPU_S * max(1, session.commands - before)
        if reply:
            self._reply(reply, len(reply), cpu_s)
        if session.closed:
            self._ctx.kernel.call_at(max(self._free_at, self._ctx.kernel.now), self.end, None)

    def _reply(self, reply: object, size_bytes: int, cpu_s: float) -> None:
        ctx = self._ctx
        kernel = ctx.kernel
        ctx.process.cpu_s += cpu_s
        # Requests of one connection are answered in order, whichever core was free first.
        self._free_at = max(self._free_at, ctx.container.cpu.charge(kernel.now, cpu_s))
        kernel.call_at(self._free_at, self._send, (reply, size_bytes))

    def _send(self, packet: tuple[object, int]) -> None:
        _send(self._connection, *packet)

    def end(self, _error: object) -> None:
        """One of the two has hung up."""
        if self._connection.on_message is not None:
            self._server.connections.current -= 1
        self._connection.close()


def _send(connection: Connection, message: object, size_bytes: int) -> None:
    try:
        connection.send(message, size_bytes)
    except NetworkError:
        pass  # the client has disconnected
