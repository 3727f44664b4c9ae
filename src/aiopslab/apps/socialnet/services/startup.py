"""The common startup of the C++ programs: tracing, configuration, datastores, an index, and then serving.

A program waits until the name of the tracing agent resolves and the database has created the index.
Until then its port is closed, although the pod looks healthy. Other dependencies are not checked at startup.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, NamedTuple, TypeVar

from aiopslab.apps.names import Names
from aiopslab.apps.socialnet.config import Settings, read_sampling, read_settings
from aiopslab.apps.socialnet.services.sorted_sets import SortedSets
from simcloud.datastores.memcached import MemcachedPool
from simcloud.datastores.mongodb import MongocPool, MongoError
from simcloud.datastores.redis import RedisPool
from simcloud.machine.network import AddressInUse, NetworkError
from simcloud.machine.process import Context, KilledBySignal, Program, Signal
from simcloud.services import Tracer
from simcloud.services.languages import BoostLog, print_line
from simcloud.services.rpc.thrift import ThriftError, ThriftPool, ThriftServer
from simcloud.sim import gather
from simcloud.userland.commands.net import hardware_of

T = TypeVar("T")

RESIDENT_BYTES: Final = 14 << 20
OWN_THREADS: Final = 4
"""The main thread, two of the tracer and the one that watches the database."""

START_CPU_S: Final = 0.02
RETRY_S: Final = 1.0
LIBRARY: Final = "C++-0.4.2"
NO_INDEX: Final = "Failed to create mongodb index, try again"
NO_JAEGER: Final = "Failed to connect to jaeger, retrying ..."
CREATE_INDEX: Final = "utils_mongodb.h:76:CreateIndex"


class Lines(NamedTuple):
    """Line numbers of log messages in a program's main file, and in its handler's where ``mac`` is logged."""

    no_index: int
    start: int
    gap: str = ""
    """Some programs log their start with a space before the dots."""
    machine_id: int = 0
    mac: int = 0


LINES: Final = {
    "compose-post-service": Lines(0, 110, " "),
    "home-timeline-service": Lines(0, 141),
    "media-service": Lines(0, 37),
    "post-storage-service": Lines(67, 81),
    "social-graph-service": Lines(97, 143, " "),
    "text-service": Lines(0, 58),
    "unique-id-service": Lines(0, 60, " ", 49, 144),
    "url-shorten-service": Lines(65, 81),
    "user-mention-service": Lines(0, 68),
    "user-service": Lines(80, 94, " ", 63, 932),
    "user-timeline-service": Lines(103, 148),
}


class Startup:
    """The startup of one program."""

    def __init__(self, ctx: Context, name: str, names: Names) -> None:
        self.ctx = ctx
        self.rename = names.rename
        """Returns the name of another component, or a message with names, as this release has it."""
        self.service = names.rename(name)
        """The name in the configuration, in traces and in the log."""
        self.log = BoostLog(ctx)
        self.settings: Settings
        self.tracer: Tracer
        self._lines = LINES[name]
        self._stem = "".join(word.capitalize() for word in name.split("-"))

    async def begin(self) -> None:
        """Set up tracing and read the configuration."""
        self.ctx.memory.grow(int(RESIDENT_BYTES * self.ctx.random("memory").uniform(0.7, 1.15)))
        self.ctx.process.threads = OWN_THREADS
        await self.ctx.cpu(START_CPU_S)
        self.tracer = await self._connect_tracing()
        self.settings = read_settings(self.ctx, self.log)

    def open_pool(self, service: str, label: str, blamed: str = "") -> ThriftPool:
        """Return a connection pool for another service.

        ``label`` is its name in the log, and ``blamed`` the service in the error without a free connection.
        """
        blamed = self.rename(blamed or service)
        settings, service = self.settings, self.rename(service)
        return ThriftPool(
            self.ctx,
            self.tracer,
            self.rename(label),
            settings.get_text(service, "addr"),
            settings.get_port(service),
            most=max(1, settings.get_number(service, "connections")),
            wait_s=settings.get_seconds(service, "timeout_ms"),
            keepalive_s=settings.get_seconds(service, "keepalive_ms"),
            service=blamed,
        )

    def connect_mongo(self, name: str) -> MongocPool:
        """Return a client pool of a MongoDB."""
        address = self.settings.get_address(self.rename(name))
        return MongocPool(self.ctx, address, tls=self.settings.get_flag("ssl", "enabled"))

    def connect_cache(self, name: str) -> MemcachedPool:
        """Return a client pool of a memcached."""
        settings, name = self.settings, self.rename(name)
        return MemcachedPool(self.ctx, settings.get_address(name), settings.get_number(name, "connections"))

    def connect_sorted_sets(self, name: str) -> SortedSets:
        """Return a client of a Redis."""
        settings, name = self.settings, self.rename(name)
        pool = RedisPool(
            self.ctx,
            settings.get_address(name),
            size=max(1, settings.get_number(name, "connections")),
            wait_s=settings.get_seconds(name, "timeout_ms"),
            lifetime_s=settings.get_seconds(name, "keepalive_ms"),
        )
        return SortedSets(pool, self.log)

    async def ensure_index(self, pool: MongocPool, database: str, field: str) -> None:
        """Create a unique index; retry until the database accepts it."""
        index = {"key": {field: 1}, "name": f"{field}_1", "unique": True}
        while True:
            try:
                await pool.run(database, {"createIndexes": database, "indexes": [index]})
            except MongoError as error:
                self.log.error(f"Error in createIndexes: {error}", CREATE_INDEX)
            else:
                return
            self.log.error(NO_INDEX, self._locate_main(self._lines.no_index))
            await self.ctx.sleep(RETRY_S)

    def read_machine_id(self) -> str:
        """Return three hexadecimal digits that distinguish this pod's ids."""
        interface = self.settings.get_text(self.service, "netif")
        if interface != "eth0":
            place = self.locate(self._lines.mac - 11, "GetMachineId")
            self.log.fatal(f"Cannot read MAC address from net interface {interface}", place)
            self.ctx.exit(1)
        mac = hardware_of(self.ctx.container.namespace.address)
        self.log.info(f"MAC address = {mac}", self.locate(self._lines.mac, "GetMachineId"))
        found = f"{_hash_identity(mac, self.ctx.process.pid):03x}"[-3:]
        self.log.info(f"machine_id = {found}", self._locate_main(self._lines.machine_id))
        return found

    def create_server(self) -> ThriftServer:
        """Return a server, not yet listening."""
        return ThriftServer(self.ctx, self.tracer)

    async def serve(self, server: ThriftServer) -> int:
        """Open the port and serve until the process ends."""
        port = self.settings.get_port(self.service)
        lines = self._lines
        self.log.info(f"Starting the {self.service} server{lines.gap}...", self._locate_main(lines.start))
        try:
            return await server.serve(port)
        except (AddressInUse, NetworkError) as error:
            print_line(self.ctx, "terminate called after throwing an instance of", 2)
            print_line(self.ctx, f"  what():  Could not bind: {error}", 2)
            raise KilledBySignal(Signal.ABRT) from None

    def locate(self, line: int, function: str) -> str:
        """Return a location in the handler's source file, as in the log."""
        return f"{self._stem.removesuffix('Service')}Handler.h:{line}:{function}"

    async def run_together(self, *works: Coroutine[Any, Any, T]) -> list[T | ThriftError]:
        """Run coroutines concurrently to their end; return the result or the error of each."""
        return await gather(self.ctx.kernel, [_capture_outcome(work) for work in works], "future")

    def _locate_main(self, line: int) -> str:
        return f"{self._stem}.cpp:{line}:main"

    async def _connect_tracing(self) -> Tracer:
        agent, ratio = read_sampling(self.ctx)
        if agent is None:
            return Tracer(self.ctx, self.service, sample_ratio=0.0, library=LIBRARY)
        while True:
            try:
                return await Tracer.open(self.ctx, self.service, agent, sample_ratio=ratio, library=LIBRARY)
            except NetworkError:
                self.log.error(NO_JAEGER, "tracing.h:77:SetUpTracer")
            await self.ctx.sleep(RETRY_S)


def unwrap(outcome: T | ThriftError) -> T:
    """Return a result, or raise it if it is an error."""
    if isinstance(outcome, ThriftError):
        raise outcome
    return outcome


async def _capture_outcome(work: Coroutine[Any, Any, T]) -> T | ThriftError:
    try:
        return await work
    except ThriftError as error:
        return error


def make_program(name: str, main: Callable[[Startup], Awaitable[int]]) -> Callable[[Names], Program]:
    """Return a function that builds, for services of some names, a program that runs a main function after the common startup."""

    def build(names: Names) -> Program:
        async def run(ctx: Context) -> int:
            startup = Startup(ctx, name, names)
            await startup.begin()
            return await main(startup)

        return run

    return build


def _hash_identity(mac: str, pid: int) -> int:
    """Hash a MAC address and a process id to sixteen bits."""
    total = 0
    for index, letter in enumerate(mac + str(pid)):
        total += ord(letter) << (index % 2 * 8)
    return total & 0xFFFF
