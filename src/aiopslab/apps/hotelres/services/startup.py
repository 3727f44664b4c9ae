"""How each of the Go programs starts: settings, configuration, its stores, tracing, Consul, and then it serves.

What a program needs and does not find ends it, in the words and with the exit status of the original: a database that
cannot be reached is a panic after ten seconds, a Consul that cannot is fatal. Nothing waits for anything else, so that
on a first deployment programs are restarted a few times before all stand.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, NoReturn
from uuid import UUID

from aiopslab.apps.hotelres.config import Config, read_config
from aiopslab.apps.hotelres.fields import atoi
from aiopslab.apps.hotelres.services.places_in_source import (
    DATABASE_LINES,
    LINES,
    ROOT,
    handler_frames,
    logged_frames,
    main_frames,
)
from simcloud.datastores.consul import ConsulAddresses, ConsulClient, ConsulError
from simcloud.datastores.memcached import MemcachedClient, MemcacheError
from simcloud.datastores.mongodb.driver import Collection, MongoClient, MongoError
from simcloud.machine.network import AddressInUse, NameNotFound, ResolverFailure
from simcloud.machine.process import Context, Program
from simcloud.services.languages.golang import GoLog, Panic, go_program, listen_error, lookup_error
from simcloud.services.rpc import Capacity, GrpcChannel, GrpcServer, RetryPolicy
from simcloud.services.tracing import Tracer

RESIDENT_BYTES: Final = 22 << 20
"""What a Go program of this size holds when it has started."""

CACHE_TIMEOUT_S: Final = 0.1
"""The cache client's own time-out, for when the environment says none."""

START_CPU_S: Final = 0.03
SEED_CPU_S: Final = 0.00005
DEFAULT_SAMPLE_RATIO: Final = 0.01
QUIET: Final = ("", "error", "warning")
"""Values of LOG_LEVEL at which nothing is told that went well."""

CALL_GOROUTINES: Final = (50, 5000)
"""Calls are served by goroutines with some such number."""

TUNE: Final = "github.com/harlow/go-micro-services/tune"


class Seed(NamedTuple):
    """Documents of a collection, and the field by which one that is absent is noticed."""

    collection: str
    field: str
    documents: Iterable[Mapping[str, Any]]


class Startup:
    """One program on its way up. What is asked for in turn is told in the log as it is found."""

    def __init__(self, ctx: Context, name: str) -> None:
        self.ctx = ctx
        self.name = name
        self.log = GoLog(ctx)
        self.lines = LINES[name]
        self.config = Config({})
        self.tracer: Tracer
        self.port = 0
        self._quiet = False
        self._consul: ConsulClient

    async def begin(self) -> None:
        """Settings from the environment, and the configuration."""
        self.ctx.memory.grow(RESIDENT_BYTES)
        await self.ctx.cpu(START_CPU_S)
        env = self.ctx.env
        level = env.get("LOG_LEVEL", "info")
        self.log.info("TLS disabled.")
        self._quiet = level.lower() in QUIET
        self.tell("", f"Set global log level: {level}")
        self.tell("", f"Tune: setGCPercent to {atoi(env.get('GC', '100'))}")
        self.log.console = True
        self.say(self.lines.config, "Reading config...")
        self.config = read_config(self.ctx)
        if self.config.problem:
            text = f"Got error while reading config: {self.config.problem}"
            self.log.error(text, self._main(self.lines.config + 3))

    async def database(
        self, setting: str, database: str, seeds: Iterable[Seed], login: tuple[str, str] | None = None
    ) -> MongoClient:
        """Connect to a database, and insert what is absent from it."""
        address, line, where = self.config[setting], self.lines.database, DATABASE_LINES[self.name]
        self.say(line, f"Read database URL: {address}")
        self.say(line + 1, "Initializing DB connection...")
        username, password = login or (None, None)
        client = MongoClient(self.ctx, address, username=username, password=password)
        try:
            await client.connect()
        except MongoError as error:
            self._panic_in_database(str(error), where.dialled)
        self.tell(self._db(where.dialled + 3), "New session successfull...")
        if self.name != "reservation":  # the only one that says nothing of it
            self.tell(self._db(where.dialled + 5), "Generating test data...")
        try:
            for seed in seeds:
                await self._fill(client.collection(database, seed.collection), seed)
        except MongoError as error:
            self.log.fatal(str(error), self._db(where.refused))
        self.say(line + 4, "Successfull")
        return client

    async def cache(self, setting: str) -> MemcachedClient:
        """A client of a cache; its name is looked up here and never again."""
        address, line = self.config[setting], self.lines.cache
        self.say(line, f"Read profile memcashed address: {address}")
        self.say(line + 1, "Initializing Memcashed client...")
        timeout_s = atoi(self.ctx.env.get("MEMC_TIMEOUT", "2"))
        try:
            client = await MemcachedClient.new(
                self.ctx, address, timeout_s=timeout_s if timeout_s > 0 else CACHE_TIMEOUT_S
            )
        except MemcacheError as error:
            inner = (f"{TUNE}.NewMemCClient(...)", f"\t{ROOT}/tune/setting.go:70 +0x1e5")
            raise Panic(str(error), main_frames(self.name, line + 2, *inner)) from None
        self.tell("tune/setting.go:57", f"Tune: GetMemCTimeout {timeout_s}")
        self.say(line + 3, "Successfull")
        return client

    async def tracing(self, setting: str) -> None:
        """The port to serve, the tracer, and a client of Consul."""
        self.port = self.config.number(setting)
        agent, consul, lines = self.config["jaegerAddress"], self.config["consulAddress"], self.lines
        self.say(lines.port, f"Read target port: {self.port}")
        self.say(lines.port + 1, f"Read consul address: {consul}")
        self.say(lines.port + 2, f"Read jaeger address: {agent}")
        self.say(lines.jaeger, f"Initializing jaeger agent [service name: {self.name} | host: {agent}]...")
        ratio = _ratio(self.ctx.env.get("JAEGER_SAMPLE_RATIO"))
        self.tell("tracing/tracer.go:26", f"Jaeger client: adjusted sample ratio {ratio:f}")
        try:
            self.tracer = await Tracer.open(self.ctx, self.name, agent, sample_ratio=ratio)
        except (NameNotFound, ResolverFailure) as error:
            told = f"Got error while initializing jaeger agent: {lookup_error(self.ctx, error)}"
            frames = main_frames(self.name, lines.jaeger + 3, *logged_frames())
            self.log.panic(told, self._main(lines.jaeger + 3), frames)
        self.say(lines.jaeger + 5, "Jaeger agent initialized")
        self.say(lines.consul, f"Initializing consul agent [host: {consul}]...")
        self._consul = ConsulClient(self.ctx, consul)
        self.say(lines.consul + 5, "Consul agent initialized")
        self.say(lines.start, "Starting server...")
        if self.port == 0:
            self.fatal("Server port must be set" if self.name == "frontend" else "server port must be set")

    def server(self) -> GrpcServer:
        """A gRPC server that is not open yet. It works on all calls at once, unless the configuration says on how many."""
        name = self.name.capitalize()
        workers, queue = self.config.number(f"{name}Workers"), self.config.number(f"{name}Queue")
        return GrpcServer(
            self.ctx, self.tracer, capacity=Capacity(workers, queue) if workers > 0 else Capacity()
        )

    def channel(self, service: str) -> GrpcChannel:
        """Calls to another service, at the addresses that Consul has of it; as persistent as the configuration says."""
        config = self.config
        addresses = ConsulAddresses(self.ctx, config["consulAddress"], f"srv-{service}")
        attempts, retry = config.number("CallAttempts"), None
        if attempts > 0:
            timeout_s = config.seconds("CallTimeoutMs")
            retry = RetryPolicy(attempts, timeout_s or None, config.seconds("CallPauseMs"))
        return GrpcChannel(self.ctx, self.tracer, addresses, peer=service, retry=retry)

    async def serve(self, server: GrpcServer) -> NoReturn:
        """Open the port, tell Consul, and answer until the process ends."""
        try:
            server.listen(self.port)
        except AddressInUse as error:
            text = f"failed to listen: {listen_error(error, self.port)}"
            self.log.fatal(text, self._server(self.lines.registered - 12))
        await self._register()
        self.tell(self._server(self.lines.registered), "Successfully registered in consul")
        await self.forever()

    async def forever(self) -> NoReturn:
        """Let the rest of the program do its work."""
        while True:
            await self.ctx.sleep(1e9)

    def say(self, line: int, text: str) -> None:
        """One line of the main file."""
        self.tell(self._main(line), text)

    def tell(self, where: str, text: str) -> None:
        """One line of another file, or of none."""
        if not self._quiet:
            self.log.info(text, where)

    def fatal(self, text: str) -> NoReturn:
        """What the server returned is the last thing that is said."""
        self.log.fatal(text, self._main(self.lines.start + 1))

    def panic(self, text: str, method: str, line: int) -> NoReturn:
        """A panic while a call is served."""
        goroutine = self.ctx.random("goroutines").randrange(*CALL_GOROUTINES)
        self.log.panic(text, self._server(line), handler_frames(self.name, method, line), goroutine)

    async def _register(self) -> None:
        address = self.ctx.container.namespace.address
        id = str(UUID(int=self.ctx.random("uuid").getrandbits(128), version=4))
        name = f"srv-{self.name}"
        instance = f"[ name: {name}, id: {id}, address: {address}:{self.port} ]"
        self.tell("registry/registry.go:91", f"Trying to register service {instance}")
        try:
            await self._consul.register(name, id, address, self.port)
        except ConsulError as error:
            self.fatal(f"failed register: {error}")

    async def _fill(self, collection: Collection, seed: Seed) -> None:
        for document in seed.documents:
            if await collection.find({seed.field: document[seed.field]}).count() == 0:
                await collection.insert(dict(document))
            await self.ctx.cpu(SEED_CPU_S)
        await collection.ensure_index(seed.field)

    def _panic_in_database(self, text: str, line: int) -> NoReturn:
        frames = main_frames(
            self.name,
            self.lines.database + 2,
            *logged_frames(),
            "main.initializeDatabase({0xc00001e0c0, 0x11})",
            f"\t{ROOT}/cmd/{self.name}/db.go:{line} +0x1f3",
        )
        self.log.panic(text, self._db(line), frames)

    def _main(self, line: int) -> str:
        return f"cmd/{self.name}/main.go:{line}"

    def _server(self, line: int) -> str:
        return f"services/{self.name}/server.go:{line}"

    def _db(self, line: int) -> str:
        return f"cmd/{self.name}/db.go:{line}"


def program(name: str, main: Callable[[Startup], Awaitable[Any]]) -> Program:
    """One of the programs, from its main function."""

    async def run(ctx: Context) -> int:
        startup = Startup(ctx, name)
        await startup.begin()
        await main(startup)
        return 0

    return go_program(run)


def _ratio(text: str | None) -> float:
    if text is None:
        return DEFAULT_SAMPLE_RATIO
    try:
        return max(0.0, min(1.0, float(text)))
    except ValueError:
        return 0.0
