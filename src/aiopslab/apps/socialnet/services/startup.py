"""How each of the C++ programs starts: tracing, configuration, its stores, an index, and then it serves.

What is missing at first is waited for: a tracing agent whose name has no address, a database that does not take the
index. Until then the port is closed, while the pod looks well. Nothing else is asked at the start.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, NamedTuple, TypeVar

from aiopslab.apps.socialnet.config import Settings, read_sampling, read_settings
from aiopslab.apps.socialnet.services.sorted_sets import SortedSets
from simcloud.datastores.memcached.libmemcached import MemcachedPool
from simcloud.datastores.mongodb.driver import MongoError
from simcloud.datastores.mongodb.libmongoc import MongocPool
from simcloud.datastores.redis import RedisPool
from simcloud.machine.network import AddressInUse, NetworkError
from simcloud.machine.process import Context, KilledBySignal, Program, Signal
from simcloud.services.languages.cpp import BoostLog
from simcloud.services.languages.output import print_line
from simcloud.services.rpc.thrift import ThriftError, ThriftPool, ThriftServer
from simcloud.services.tracing import Tracer
from simcloud.sim import gather
from simcloud.userland.commands.net.interfaces import hardware_of

T = TypeVar("T")

RESIDENT_BYTES: Final = 14 << 20
START_CPU_S: Final = 0.02
RETRY_S: Final = 1.0
LIBRARY: Final = "C++-0.4.2"
NO_INDEX: Final = "Failed to create mongodb index, try again"
NO_JAEGER: Final = "Failed to connect to jaeger, retrying ..."
CREATE_INDEX: Final = "utils_mongodb.h:76:CreateIndex"


class Lines(NamedTuple):
    """Where in a program's main file a missing index and the start are told."""

    no_index: int
    start: int


LINES: Final = {
    "compose-post-service": Lines(0, 110),
    "home-timeline-service": Lines(0, 117),
    "media-service": Lines(0, 47),
    "post-storage-service": Lines(67, 83),
    "social-graph-service": Lines(80, 124),
    "text-service": Lines(0, 71),
    "unique-id-service": Lines(0, 63),
    "url-shorten-service": Lines(75, 92),
    "user-mention-service": Lines(0, 71),
    "user-service": Lines(80, 100),
    "user-timeline-service": Lines(80, 124),
}


class Startup:
    """One program on its way up."""

    def __init__(self, ctx: Context, name: str) -> None:
        self.ctx = ctx
        self.name = name
        self.log = BoostLog(ctx)
        self.settings: Settings
        self.tracer: Tracer
        self._stem = "".join(word.capitalize() for word in name.split("-"))

    async def begin(self) -> None:
        """Tracing, and the configuration."""
        self.ctx.memory.grow(RESIDENT_BYTES)
        await self.ctx.cpu(START_CPU_S)
        self.tracer = await self._tracing()
        self.settings = read_settings(self.ctx, self.log)

    def pool(self, service: str, label: str) -> ThriftPool:
        """Calls to another service; ``label`` is what the log calls it."""
        settings = self.settings
        return ThriftPool(
            self.ctx,
            self.tracer,
            label,
            settings.text(service, "addr"),
            settings.port(service),
            most=max(1, settings.number(service, "connections")),
            wait_s=settings.seconds(service, "timeout_ms"),
            keepalive_s=settings.seconds(service, "keepalive_ms"),
        )

    def mongo(self, name: str) -> MongocPool:
        """Clients of a database."""
        return MongocPool(self.ctx, self.settings.address(name), tls=self.settings.flag("ssl", "enabled"))

    def cache(self, name: str) -> MemcachedPool:
        """Clients of a cache."""
        settings = self.settings
        return MemcachedPool(self.ctx, settings.address(name), settings.number(name, "connections"))

    def sorted_sets(self, name: str) -> SortedSets:
        """Clients of a Redis."""
        settings = self.settings
        pool = RedisPool(
            self.ctx,
            settings.address(name),
            size=max(1, settings.number(name, "connections")),
            wait_s=settings.seconds(name, "timeout_ms"),
            lifetime_s=settings.seconds(name, "keepalive_ms"),
        )
        return SortedSets(pool, self.log)

    async def index(self, pool: MongocPool, database: str, field: str) -> None:
        """Have a unique index, however long that takes."""
        index = {"key": {field: 1}, "name": f"{field}_1", "unique": True}
        while True:
            try:
                await pool.run(database, {"createIndexes": database, "indexes": [index]})
            except MongoError as error:
                self.log.error(f"Error in createIndexes: {error}", CREATE_INDEX)
            else:
                return
            self.log.error(NO_INDEX, self._main(LINES[self.name].no_index))
            await self.ctx.sleep(RETRY_S)

    def machine_id(self) -> str:
        """Three digits that tell this pod's ids from others'."""
        interface = self.settings.text(self.name, "netif")
        if interface != "eth0":
            place = f"{self._stem.removesuffix('Service')}Handler.h:132:GetMachineId"
            self.log.fatal(f"Cannot read MAC address from net interface {interface}", place)
            self.ctx.exit(1)
        mac = hardware_of(self.ctx.container.namespace.address)
        self.log.info(
            f"MAC address = {mac}", f"{self._stem.removesuffix('Service')}Handler.h:144:GetMachineId"
        )
        found = f"{_hashed(mac, self.ctx.process.pid):03x}"[-3:]
        self.log.info(f"machine_id = {found}", self._main(LINES[self.name].start - 45))
        return found

    def server(self) -> ThriftServer:
        """A server that is not open yet."""
        return ThriftServer(self.ctx, self.tracer)

    async def serve(self, server: ThriftServer) -> int:
        """Open the port, and answer until the process ends."""
        port = self.settings.port(self.name)
        self.log.info(f"Starting the {self.name} server ...", self._main(LINES[self.name].start))
        try:
            return await server.serve(port)
        except (AddressInUse, NetworkError) as error:
            print_line(self.ctx, "terminate called after throwing an instance of", 2)
            print_line(self.ctx, f"  what():  Could not bind: {error}", 2)
            raise KilledBySignal(Signal.ABRT) from None

    def place(self, line: int, function: str) -> str:
        """A place in the file of handlers, as the log tells it."""
        return f"{self._stem.removesuffix('Service')}Handler.h:{line}:{function}"

    async def together(self, *works: Coroutine[Any, Any, T]) -> list[T | ThriftError]:
        """Do things in threads of their own, to the end of all: what each returned, or how it failed."""
        return await gather(self.ctx.kernel, [_outcome(work) for work in works], "future")

    def _main(self, line: int) -> str:
        return f"{self._stem}.cpp:{line}:main"

    async def _tracing(self) -> Tracer:
        agent, ratio = read_sampling(self.ctx)
        if agent is None:
            return Tracer(self.ctx, self.name, sample_ratio=0.0, library=LIBRARY)
        while True:
            try:
                return await Tracer.open(self.ctx, self.name, agent, sample_ratio=ratio, library=LIBRARY)
            except NetworkError:
                self.log.error(NO_JAEGER, "tracing.h:76:SetUpTracer")
            await self.ctx.sleep(RETRY_S)


def got(outcome: T | ThriftError) -> T:
    """What a thread returned; raises what it threw."""
    if isinstance(outcome, ThriftError):
        raise outcome
    return outcome


async def _outcome(work: Coroutine[Any, Any, T]) -> T | ThriftError:
    try:
        return await work
    except ThriftError as error:
        return error


def program(name: str, main: Callable[[Startup], Awaitable[int]]) -> Program:
    """One of the programs, from its main function."""

    async def run(ctx: Context) -> int:
        startup = Startup(ctx, name)
        await startup.begin()
        return await main(startup)

    return run


def _hashed(mac: str, pid: int) -> int:
    """Sixteen bits of an Ethernet address and a process's number."""
    total = 0
    for at, letter in enumerate(mac + str(pid)):
        total += ord(letter) << (at % 2 * 8)
    return total & 0xFFFF
