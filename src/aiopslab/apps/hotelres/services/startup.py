"""The common startup of the Go programs: settings, configuration, datastores, tracing, Consul, and then serving.

If a dependency is missing, the program ends with the messages and exit status of the original: an unreachable database is a
panic after ten seconds, an unreachable Consul is a fatal error. Programs do not wait for each other, so in a
first deployment they are restarted a few times until all run.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, NoReturn
from uuid import UUID

from aiopslab.apps.hotelres.config import Config, read_config
from aiopslab.apps.hotelres.data import SEEDS, Seed
from aiopslab.apps.hotelres.fields import atoi
from aiopslab.apps.hotelres.services.source_positions import (
    DATABASE_LINES,
    LINES,
    ROOT,
    build_handler_frames,
    build_logger_frames,
    build_main_frames,
)
from aiopslab.apps.names import Names
from simcloud.datastores.consul import ConsulAddresses, ConsulClient, ConsulError
from simcloud.datastores.memcached import MemcachedClient, MemcacheError
from simcloud.datastores.mongodb import Collection, MongoClient, MongoError
from simcloud.machine.network import AddressInUse, NameNotFound, ResolverFailure
from simcloud.machine.process import Context, Program
from simcloud.services import Tracer
from simcloud.services.languages import GoLog, go_program, golang
from simcloud.services.rpc import GRPC, GRPC_TLS, Capacity, GrpcChannel, GrpcServer, RetryPolicy

RESIDENT_BYTES: Final = 15 << 20
"""Memory of a Go program of this size after startup."""

CACHE_TIMEOUT_S: Final = 0.1
"""Default timeout of the cache client, if the environment sets none."""

START_CPU_S: Final = 0.03
SEED_CPU_S: Final = 0.00005
DEFAULT_SAMPLE_RATIO: Final = 0.01
QUIET: Final = ("", "error", "warning")
"""Values of LOG_LEVEL that suppress informational messages."""

CALL_GOROUTINES: Final = (50, 5000)
"""Range of the goroutine numbers that serve calls."""

TUNE: Final = "github.com/harlow/go-micro-services/tune"


class Startup:
    """The startup of one program; each step is logged."""

    def __init__(self, ctx: Context, name: str, names: Names) -> None:
        self.ctx = ctx
        self.name = name
        """The program's name in its sources."""
        self.service = names.rename(name)
        """The name under which it registers, and in traces."""
        self.database = f"{self.service}-db"
        self._names = names
        self.log = GoLog(ctx)
        self.lines = LINES[name]
        self.config = Config({})
        self.tracer: Tracer
        self.port = 0
        self.uses_tls = False
        self._quiet = False
        self._consul: ConsulClient

    async def begin(self) -> None:
        """Read the settings from the environment, and the configuration."""
        self.ctx.memory.grow(RESIDENT_BYTES)
        await self.ctx.cpu(START_CPU_S)
        env = self.ctx.env
        level = env.get("LOG_LEVEL", "info")
        self.uses_tls, suite = parse_tls(env.get("TLS", ""))
        enabled = f"TLS enabled cipher suite {suite}" if suite else "TLS enabled."
        self.log.info(enabled if self.uses_tls else "TLS disabled.")
        self._quiet = level.lower() in QUIET
        self.log_info("", f"Set global log level: {level}")
        self.log_info("", f"Tune: setGCPercent to {atoi(env.get('GC', '100'))}")
        self.log.console = True
        self.log_main(self.lines.config, "Reading config...")
        self.config = read_config(self.ctx)
        if self.config.problem:
            text = f"Got error while reading config: {self.config.problem}"
            self.log.error(text, self._locate_main(self.lines.config + 3))

    async def connect_database(self, setting: str, login: tuple[str, str] | None = None) -> MongoClient:
        """Connect to the program's database, insert missing documents and return the client."""
        address, line, where = self.config[setting], self.lines.database, DATABASE_LINES[self.name]
        self.log_main(line, f"Read database URL: {address}")
        self.log_main(line + 1, "Initializing DB connection...")
        username, password = login or (None, None)
        client = MongoClient(self.ctx, address, username=username, password=password)
        try:
            await client.connect()
        except MongoError as error:
            self._panic_in_database(address, str(error), where.dialled)
        self.log_info(self._locate_db(where.dialled + 3), "New session successfull...")
        if self.name != "reservation":  # the only program that does not log this
            self.log_info(self._locate_db(where.dialled + 5), "Generating test data...")
        try:
            for seed in SEEDS[self.name]:
                await self._fill(client.collection(self.database, seed.collection), seed)
        except MongoError as error:
            self.log.fatal(str(error), self._locate_db(where.refused))
        self.log_main(line + 4, "Successfull")
        return client

    async def connect_cache(self, setting: str) -> MemcachedClient:
        """Return a client of a cache; its name is resolved only once, here."""
        address, line = self.config[setting], self.lines.cache
        self.log_main(line, f"Read profile memcashed address: {address}")
        self.log_main(line + 1, "Initializing Memcashed client...")
        timeout_s = atoi(self.ctx.env.get("MEMC_TIMEOUT", "2"))
        try:
            client = await MemcachedClient.new(
                self.ctx, address, timeout_s=timeout_s if timeout_s > 0 else CACHE_TIMEOUT_S
            )
        except MemcacheError as error:
            inner = (f"{TUNE}.NewMemCClient2(...)", f"\t{ROOT}/tune/setting.go:87 +0x1e5")
            raise golang.Panic(str(error), build_main_frames(self.name, line + 2, *inner)) from None
        self.log_info("tune/setting.go:61", f"Tune: GetMemCTimeout {timeout_s}")
        self.log_main(line + 3, "Successfull")
        return client

    async def connect_tracing(self, setting: str) -> None:
        """Read the port, and set up the tracer and the Consul client."""
        self.port = self.config.get_number(setting)
        agent, consul, lines = self.config["jaegerAddress"], self.config["consulAddress"], self.lines
        self.log_main(lines.port, f"Read target port: {self.port}")
        self.log_main(lines.port + 1, f"Read consul address: {consul}")
        self.log_main(lines.port + 2, f"Read jaeger address: {agent}")
        self.log_main(
            lines.jaeger, f"Initializing jaeger agent [service name: {self.service} | host: {agent}]..."
        )
        ratio = _parse_ratio(self.ctx.env.get("JAEGER_SAMPLE_RATIO"))
        self.log_info("tracing/tracer.go:26", f"Jaeger client: adjusted sample ratio {ratio:f}")
        try:
            self.tracer = await Tracer.open(self.ctx, self.service, agent, sample_ratio=ratio)
        except (NameNotFound, ResolverFailure) as error:
            message = f"Got error while initializing jaeger agent: {golang.lookup_error(self.ctx, error)}"
            frames = build_main_frames(self.name, lines.consul - 4, *build_logger_frames(is_formatted=True))
            self.log.panic(message, self._locate_main(lines.consul - 4), frames)
        self.log_main(lines.consul - 2, "Jaeger agent initialized")
        self.log_main(lines.consul, f"Initializing consul agent [host: {consul}]...")
        self._consul = ConsulClient(self.ctx, consul)
        self.log_main(lines.consul + 5, "Consul agent initialized")
        self.log_main(lines.start, "Starting server...")
        if self.port == 0:
            self.fatal("Server port must be set" if self.name == "frontend" else "server port must be set")

    def create_server(self) -> GrpcServer:
        """Return a gRPC server, not yet listening. Its concurrency is unlimited unless the configuration limits it."""
        name = self.name.capitalize()
        workers, queue = self.config.get_number(f"{name}Workers"), self.config.get_number(f"{name}Queue")
        return GrpcServer(
            self.ctx, self.tracer, capacity=Capacity(workers, queue) if workers > 0 else Capacity()
        )

    def get_registered_name(self, service: str) -> str:
        """Return the name under which a service is registered in Consul."""
        return f"srv-{self._names.rename(service)}"

    def open_channel(self, service: str) -> GrpcChannel:
        """Return a channel to another service at its addresses in Consul, with the configured retries."""
        config = self.config
        addresses = ConsulAddresses(self.ctx, config["consulAddress"], self.get_registered_name(service))
        attempts, retry = config.get_number("CallAttempts"), None
        if attempts > 0:
            timeout_s = config.get_seconds("CallTimeoutMs")
            retry = RetryPolicy(attempts, timeout_s or None, config.get_seconds("CallPauseMs"))
        protocol = GRPC_TLS if self.uses_tls else GRPC
        return GrpcChannel(
            self.ctx, self.tracer, addresses, peer=self._names.rename(service), retry=retry, protocol=protocol
        )

    async def serve(self, server: GrpcServer) -> NoReturn:
        """Open the port, register in Consul, and serve until the process ends."""
        try:
            server.listen(self.port, GRPC_TLS if self.uses_tls else GRPC)
        except AddressInUse as error:
            action = "configure listener" if self.name == "profile" else "listen"
            text, line = f"failed to {action}: {golang.listen_error(error, self.port)}", self.lines.listening
            self.log.fatal(
                text, self._locate_server(line) if line else self._locate_main(self.lines.start + 1)
            )
        await self._register()
        self.log_info(self._locate_server(self.lines.registered), "Successfully registered in consul")
        await self.run_forever()

    async def run_forever(self) -> NoReturn:
        """Sleep forever, while other tasks serve."""
        while True:
            await self.ctx.sleep(1e9)

    def log_main(self, line: int, text: str) -> None:
        """Log a line of ``main.go``."""
        self.log_info(self._locate_main(line), text)

    def log_info(self, where: str, text: str) -> None:
        """Log a line of another file, or without a location."""
        if not self._quiet:
            self.log.info(text, where)

    def fatal(self, text: str) -> NoReturn:
        """Log the server's error and exit."""
        self.log.fatal(text, self._locate_main(self.lines.start + 1))

    def panic(self, text: str, method: str, line: int) -> NoReturn:
        """Panic in a call handler."""
        goroutine = self.ctx.random("goroutines").randrange(*CALL_GOROUTINES)
        self.log.panic(
            text, self._locate_server(line), build_handler_frames(self.name, method, line), goroutine
        )

    async def _register(self) -> None:
        address = self.ctx.container.namespace.address
        id = str(UUID(int=self.ctx.random("uuid").getrandbits(128), version=4))
        name = self.get_registered_name(self.name)
        instance = f"[ name: {name}, id: {id}, address: {address}:{self.port} ]"
        self.log_info("registry/registry.go:91", f"Trying to register service {instance}")
        try:
            await self._consul.register(name, id, address, self.port)
        except ConsulError as error:
            self.fatal(f"failed register: {error}")

    async def _fill(self, collection: Collection, seed: Seed) -> None:
        for document in seed.build():
            if await collection.find({seed.field: document[seed.field]}).count() == 0:
                await collection.insert(document)
            await self.ctx.cpu(SEED_CPU_S)
        await collection.ensure_index(seed.field)

    def _panic_in_database(self, address: str, text: str, line: int) -> NoReturn:
        frames = build_main_frames(
            self.name,
            self.lines.database + 2,
            *build_logger_frames(),
            f"main.initializeDatabase({{0xc00001e0c0, {len(address):#x}}})",
            f"\t{ROOT}/cmd/{self.name}/db.go:{line} +0x1f3",
        )
        self.log.panic(text, self._locate_db(line), frames)

    def _locate_main(self, line: int) -> str:
        return f"cmd/{self.name}/main.go:{line}"

    def _locate_server(self, line: int) -> str:
        return f"services/{self.name}/server.go:{line}"

    def _locate_db(self, line: int) -> str:
        return f"cmd/{self.name}/db.go:{line}"


def make_program(name: str, main: Callable[[Startup], Awaitable[Any]]) -> Callable[[Names], Program]:
    """Return a function that builds, for services of some names, a program that runs a main function after the common startup."""

    def build(names: Names) -> Program:
        async def run(ctx: Context) -> int:
            startup = Startup(ctx, name, names)
            await startup.begin()
            await main(startup)
            return 0

        return go_program(run)

    return build


def parse_tls(value: str) -> tuple[bool, str]:
    """Return whether the variable ``TLS`` switches TLS on, and its cipher suite: a number is a switch, a name is a suite."""
    if not value or value.lstrip("+-").isdigit():
        return bool(atoi(value)), ""
    return True, value


def _parse_ratio(text: str | None) -> float:
    if text is None:
        return DEFAULT_SAMPLE_RATIO
    try:
        return max(0.0, min(1.0, float(text)))
    except ValueError:
        return 0.0
