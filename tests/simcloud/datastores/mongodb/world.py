"""A mongod on one machine with its data on a volume, and clients on another."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from simcloud.datastores.mongodb.driver import MongoClient, MongoError
from simcloud.datastores.mongodb.image import mongo_image
from simcloud.machine.computer import Machine
from simcloud.machine.emit import MemoryEmitter
from simcloud.machine.files import Disk, Volume
from simcloud.machine.image import Image
from simcloud.machine.network import HostsResolver, Network
from simcloud.machine.process import Context, Process, Program
from simcloud.sim import Kernel

BARE = Image("bare", {})
ADDRESS = "10.1.0.1"
Work = Callable[[MongoClient], Awaitable[Any]]


class MongoWorld:
    """One database server and whoever talks to it."""

    def __init__(self, *args: str, programs: Mapping[str, Program] | None = None, start: bool = True) -> None:
        self.kernel = Kernel(1)
        self.network = Network(self.kernel)
        self.emitter = MemoryEmitter()
        self.resolver = HostsResolver({"store": ADDRESS})
        self.image = mongo_image(programs)
        self.disk = Disk("data", 1 << 30)
        self.machine = self._machine("left", "10.0.0.1")
        self.client = self._machine("right", "10.0.0.2").create_container("client", BARE, address="10.1.0.2")
        self.volume = Volume(self.disk, self.machine.clock, name="store")
        self.files: dict[str, bytes] = {}
        self.args = args
        self.process: Process
        if start:
            self.start()

    def _machine(self, name: str, address: str) -> Machine:
        return Machine(
            self.kernel, self.network, name, address, BARE, resolver=self.resolver, emitter=self.emitter
        )

    def start(self, *args: str, env: Mapping[str, str] | None = None, wait_s: float = 5.0) -> Process:
        """Start the image in a fresh container on the same volume, and let some time pass."""
        self.launch(*args, env=env)
        self.kernel.run_for(wait_s)
        return self.process

    def launch(self, *args: str, env: Mapping[str, str] | None = None) -> None:
        """Start the image in a fresh container on the same volume."""
        if "store" in self.machine.containers:
            self.machine.remove_container("store").namespace.destroy()
        container = self.machine.create_container("store", self.image, address=ADDRESS)
        container.files.mount("/data/db", self.volume)
        for path, data in self.files.items():
            container.files.put(path, data)
        assert container.log is not None
        streams = {1: container.log.stream("stdout"), 2: container.log.stream("stderr")}
        argv = ["docker-entrypoint.sh", "mongod", *(args or self.args)]
        self.process = container.start(argv, env=env, streams=streams)

    def run(self, work: Work, **options: Any) -> Any:
        """Let a client work with the server; a ``MongoError`` is returned, not raised."""
        result: list[Any] = []

        async def program(ctx: Context) -> int:
            client = MongoClient(ctx, "store:27017", **options)
            try:
                await client.connect()
                result.append(await work(client))
            except MongoError as error:
                result.append(error)
            client.close()
            return 0

        process = self.client.start(["client"], program=program)
        self.kernel.run_task(self.kernel.spawn(process.wait(), "client"))
        return result[0]

    def command(self, db: str, body: dict[str, Any], **options: Any) -> Any:
        """Run one command; the reply or the ``MongoError``."""
        return self.run(lambda client: client.run(db, body), **options)

    def local(self, db: str, *bodies: dict[str, Any], **options: Any) -> Any:
        """Run commands from inside the server's own container; the last reply or the ``MongoError``."""
        result: list[Any] = []

        async def program(ctx: Context) -> int:
            client = MongoClient(ctx, "127.0.0.1:27017", **options)
            try:
                await client.connect()
                result.extend([await client.run(db, body) for body in bodies])
            except MongoError as error:
                result.append(error)
            return 0

        process = self.machine.containers["store"].start(["client"], program=program)
        self.kernel.run_task(self.kernel.spawn(process.wait(), "client"))
        return result[-1]

    @property
    def lines(self) -> list[str]:
        """What the server's container wrote."""
        return [line.text for line in self.emitter.logs if line.source == "store"]

    def logged(self, id: int) -> list[dict[str, Any]]:
        """The log documents of that id."""
        found = [json.loads(line) for line in self.lines if line.startswith('{"t"')]
        return [each for each in found if each["id"] == id]
