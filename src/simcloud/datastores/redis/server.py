"""The ``redis-server`` program: takes connections, keeps time, accounts for CPU and memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any, Final

from simcloud.datastores.redis.acl import BadRule, User
from simcloud.datastores.redis.commands import COMMANDS
from simcloud.datastores.redis.commands.acl import is_known
from simcloud.datastores.redis.commands.information import report_facts
from simcloud.datastores.redis.config import BadConfig, Config
from simcloud.datastores.redis.connection import ClientConnection
from simcloud.datastores.redis.dispatch import replay
from simcloud.datastores.redis.log import ServerLog
from simcloud.datastores.redis.resp import REDIS, ErrorReply, Replies, Reply, Several, Words, encode, quote
from simcloud.datastores.redis.state import Client, ServerState
from simcloud.datastores.redis.version import VERSION
from simcloud.machine.files import FileError
from simcloud.machine.network import Connection, NetworkError
from simcloud.machine.process import Context, Counted, Signal
from simcloud.sim import Event

RAW: Final = "raw"
"""Every connection is accepted; its first message shows its protocol."""

RESIDENT_BYTES: Final = 7 << 20
MEMORY_STEP_BYTES: Final = 64 << 10
"""Memory is accounted for in steps of this, not with every change."""

USED_MAX_BYTES: Final = 512 << 20
"""A server that uses more memory aborts, even if its machine has more."""

COMMAND_CPU_S: Final = 0.000_006
ELEMENT_CPU_S: Final = 0.000_000_2
BYTE_CPU_S: Final = 0.000_000_000_5
TICK_S: Final = 0.1
IDLE_TICK_S: Final = 1.0
SWEEP_MAX: Final = 2000
IDLE_SHARE: Final = 0.001_2
"""Share of a core for the timer that runs ten times a second."""

TOO_MANY: Final = "ERR max number of clients reached"


class RedisServer:
    """A state and its connections."""

    def __init__(self, ctx: Context, config: Config, log: ServerLog) -> None:
        self.kernel = ctx.kernel
        self._ctx = ctx
        self.state = ServerState(
            config, ctx.machine.clock, ctx.random("redis"), log, ctx.files.fork(), self._later
        )
        self.state.pid = ctx.process.pid
        self.state.child_log = log.child
        self.state.kill = self.kill
        self.state.cpu_s = lambda: ctx.process.cpu_s
        self.state.resident_bytes = lambda: ctx.memory.resident_bytes
        self.state.system_bytes = ctx.machine.memory_bytes
        self.state.kernel_release = ctx.machine.kernel_release
        self._connections: dict[int, ClientConnection] = {}
        self._free_at = 0.0
        self._accounted_bytes = 0
        self.account()

    def _later(self, delay_s: float, action: Callable[[Any], object]) -> None:
        """Call a function later, unless the server has ended."""
        self.kernel.call_later(delay_s, lambda _: action(None) if self.alive else None)

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._ctx.process.alive

    def accept(self, connection: Connection) -> None:
        """A client has connected."""
        if connection.peer.protocol == REDIS:
            connection.protocol = REDIS
        state = self.state
        if len(state.clients) >= state.config.number("maxclients"):
            state.rejected += 1
            refusal = ErrorReply(TOO_MANY)
            message = Replies([refusal]) if connection.protocol == REDIS else encode(refusal)
            try:
                connection.send(message, len(TOO_MANY))
            except NetworkError:
                pass  # it did not wait for the answer
            connection.close()
            return
        client_connection = ClientConnection(self, connection)
        self._connections[client_connection.client.number] = client_connection
        connection.on_message = client_connection.take
        connection.on_close = client_connection.end

    def kill(self, client: Client) -> None:
        """Close a client's connection."""
        client.closing = True
        connection = self._connections.get(client.number)
        if connection is not None:
            self.kernel.call_at(max(self._free_at, self.kernel.now), connection.end, None)

    def forget(self, client: Client) -> None:
        """Forget a client that has disconnected."""
        if self._connections.pop(client.number, None) is not None:
            self.state.disconnect(client)

    def spend(self, client: Client, words: Words, reply: Reply) -> float:
        """Book the CPU time of a command; return when the thread is free again."""
        ctx, state, now = self._ctx, self.state, self.kernel.now
        cpu_s = COMMAND_CPU_S + state.work * ELEMENT_CPU_S
        if reply.__class__ is list:
            cpu_s += len(reply) * ELEMENT_CPU_S
        elif reply.__class__ is bytes:
            cpu_s += len(reply) * BYTE_CPU_S
        state.work = 0
        ctx.process.cpu_s += cpu_s
        begun = self._free_at if self._free_at > now else now
        self._free_at = max(begun + cpu_s, ctx.container.cpu.charge(now, cpu_s)) + state.stall_s
        state.stall_s = 0.0
        duration_us = int((self._free_at - begun) * 1_000_000)
        state.call_us[client.last_command] += duration_us
        if duration_us >= state.slow_us:
            state.note_duration(client, words, duration_us)
        self.account()
        return self._free_at

    def account(self) -> None:
        """Report the used memory to the machine."""
        used = self.state.used_bytes
        self.state.peak_bytes = max(self.state.peak_bytes, used)
        if abs(used - self._accounted_bytes) >= MEMORY_STEP_BYTES:
            self._accounted_bytes = used
            self._ctx.memory.use(RESIDENT_BYTES + used)
            if used > USED_MAX_BYTES and self.alive:
                self.state.log("#", "Out Of Memory allocating 16384 bytes!")
                self._ctx.process.die(Signal.ABRT)

    def _leave_idle_clients(self) -> None:
        """``timeout``: disconnect clients that were silent for so long, except subscribers."""
        timeout_s = self.state.config.number("timeout")
        if timeout_s:
            now = self.state.clock()
            for client in list(self.state.clients.values()):
                if (
                    now - client.last_active > timeout_s
                    and not client.subscriptions
                    and not client.monitoring
                ):
                    self.kill(client)

    async def keep_time(self) -> None:
        """Run the periodic work of the server."""
        counted_at, counted = self.kernel.now, 0
        while True:
            busy = any(db.expires for db in self.state.databases)
            await self._ctx.sleep(TICK_S if busy else IDLE_TICK_S)
            for db in self.state.databases:
                if db.expires:
                    db.sweep(SWEEP_MAX)
            self.state.disk.tick()
            self._leave_idle_clients()
            if self.kernel.now - counted_at >= IDLE_TICK_S:
                commands = self.state.commands
                self.state.operations_per_s = max(
                    0, int((commands - counted) / (self.kernel.now - counted_at))
                )
                counted_at, counted = self.kernel.now, commands
            self.account()


async def redis_server(ctx: Context) -> int:
    """Serve until stopped."""
    if ctx.args[1:2] in (["-v"], ["--version"]):
        await ctx.out(
            f"Redis server v={VERSION} sha=00000000:0 malloc=jemalloc-5.1.0 bits=64 build=62dc85a2d8e8cfea\n"
        )
        return 0
    config = Config()
    log = ServerLog(ctx, lambda: config.text("loglevel"), lambda: config.text("logfile"))
    try:
        path, text = read_arguments(ctx)
        config.start_in(ctx.files.cwd)
        config.read(text)
        ctx.files.chdir(config.text("dir"))
    except FileError as error:
        is_folder = "dir" in config.changed
        log("#", f"Can't chdir to '{config.text('dir')}': {error}" if is_folder else
            f"Fatal error, can't open config file '{error.path}': {error}")  # fmt: skip
        return 1
    except BadConfig as bad:
        await ctx.err(
            f"\n*** FATAL CONFIG FILE ERROR (Redis {VERSION}) ***\nReading the configuration file, at line {bad.number}\n"
            f">>> '{bad.line}'\n{bad.problem}\n"
        )
        return 1
    return await _serve(ctx, config, log, path)


def read_arguments(ctx: Context) -> tuple[str, str]:
    """Return the configuration file named, and its text with what the options add. Raises ``FileError``."""
    words = ctx.args[1:]
    path, text = "", ""
    if words and not words[0].startswith("--"):
        path = words.pop(0)
        text = ctx.files.read(path).decode("utf-8", "surrogateescape") if path != "-" else ""
        path = path if path.startswith("/") else f"{ctx.files.cwd.rstrip('/')}/{path}"
    for word in words:
        if word.startswith("--"):
            text += f"\n{word[2:]} "
        else:
            text += f"{quote(word.encode('utf-8', 'surrogateescape'))} "
    return path, text


async def _serve(ctx: Context, config: Config, log: ServerLog, path: str) -> int:
    log("#", "oO0OoO0OoO0Oo Redis is starting oO0OoO0OoO0Oo")
    log(
        "#",
        f"Redis version={VERSION}, bits=64, commit=00000000, modified=0, pid={ctx.process.pid}, just started",
    )
    log("#", "Configuration loaded" if len(ctx.args) > 1 else
        "Warning: no config file specified, using the default config. In order to specify a config file use "
        "redis-server /path/to/redis.conf")  # fmt: skip
    log.role = "M"
    log("*", "monotonic clock: POSIX clock_gettime")
    ctx.process.threads = 4 + config.number("io-threads")
    ctx.use_background_cpu(IDLE_SHARE)
    server = RedisServer(ctx, config, log)
    state = server.state
    state.config_file = path
    try:
        for rules in config.users:
            _add_user(state, rules)
    except BadRule as bad:
        log("#", f"Error in user declaration: {bad}")
        return 1
    port = config.number("port")
    words = config.text("bind").split() or ["0.0.0.0"]
    addresses = ["127.0.0.1" if word == "localhost" else word for word in words]
    try:
        for address in addresses:
            ctx.listen(port, RAW, address.removeprefix("-")).on_accept = server.accept
    except NetworkError as error:
        log(
            "#",
            f"Could not create server TCP listening socket {addresses[0] if config.text('bind') else '*'}:{port}: bind: {error}",
        )
        log("#", f"Failed listening on port {port} (TCP), aborting.")
        return 1
    log("*", f"Running mode=standalone, port={port}.")
    log("#", "Server initialized")
    problem = state.disk.load(partial(replay, state))
    if problem is not None:
        log("#", problem)
        return 1
    stop: Event[bool | None] = Event(ctx.kernel)
    state.stop = partial(_shut_down, server, stop)
    for signal, name in ((Signal.TERM, "SIGTERM"), (Signal.INT, "SIGINT")):
        ctx.signals.on(signal, partial(_handle_signal, ctx, server, log, name, stop))
    ctx.process.report = partial(report_facts, state)
    ctx.process.accounts = state.users.describe_all
    ctx.process.counted = [
        Counted(state, ("connections", "last_client", "bytes_in", "bytes_out")),
        Counted(state.account, ("hits", "misses", "expired")),
        Counted(state.calls, most=partial(_limit_past, state)),
        Counted(
            state.call_us,
            most=lambda name: _limit_past(state, name) * state.call_us[name] / state.calls[name],
        ),
    ]
    log("*", "Ready to accept connections")
    ctx.spawn(server.keep_time(), "redis cron")
    await stop.wait()
    log("#", "Redis is now ready to exit, bye bye...")
    return 0


def _limit_past(state: ServerState, name: str) -> float:
    """Return how often a command can have run unobserved: those that write have left their data."""
    command = COMMANDS.get(name.encode())
    if command is None or not command.write:
        return inf
    held = sum(len(value) for db in state.databases for value in db.values.values())
    return max(0, held - state.calls[name])


def _shut_down(server: RedisServer, stop: Event[bool | None], save: bool | None) -> Reply:
    """Save what is to be saved, then end; an error when that fails."""
    state = server.state
    state.log("#", "User requested shutdown...")
    if save or (save is None and state.config.text("save")):
        state.log("*", "Saving the final RDB snapshot before exiting.")
        if not state.disk.save():
            state.log("#", "Error trying to save the DB, can't exit.")
            return ErrorReply("ERR Errors trying to SHUTDOWN. Check logs.")
    stop.set()
    return Several()


def _handle_signal(
    ctx: Context, server: RedisServer, log: ServerLog, name: str, stop: Event[bool | None], _signal: Signal
) -> None:
    log.raw(f"{ctx.process.pid}:signal-handler ({int(ctx.now)}) Received {name} scheduling shutdown...")
    if _shut_down(server, stop, None).__class__ is ErrorReply:
        log(
            "#",
            "SIGTERM received but errors trying to shut down the server, check the logs for more information",
        )


def _add_user(state: ServerState, rules: Words) -> None:
    user = state.users.by_name.setdefault(rules[0], User(rules[0]))
    for rule in rules[1:]:
        user.apply(rule, is_known)
