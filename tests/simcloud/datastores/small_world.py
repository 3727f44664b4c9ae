"""A small world for datastores: two machines, containers with names, lines typed in them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from simcloud.machine.computer import Machine, init
from simcloud.machine.emit import MemoryEmitter
from simcloud.machine.image import Image
from simcloud.machine.network import HostsResolver, Network
from simcloud.machine.process import ByteSource, Capture, Completed, Container, Context, Process
from simcloud.sim import Kernel
from simcloud.userland.images import operator_image


class SmallWorld:
    """``run`` starts a server in a container of its own; ``do`` runs a client's work; ``shell`` types a line."""

    def __init__(self, seed: int = 1, **names: str) -> None:
        self.kernel = Kernel(seed)
        self.emitter = MemoryEmitter()
        network = Network(self.kernel)
        self.resolver = HostsResolver({name.replace("_", "-"): address for name, address in names.items()})
        self._machines = [
            Machine(
                self.kernel,
                network,
                name,
                address,
                operator_image(),
                emitter=self.emitter,
                resolver=self.resolver,
            )
            for name, address in (("left", "10.0.0.1"), ("right", "10.0.0.2"))
        ]
        self.client = self._machines[1].create_container("client", operator_image(), address="10.1.0.200")
        self.client.start(
            ["init"], program=init
        )  # or the first line typed would be it, and take all others along

    def run(
        self,
        name: str,
        address: str,
        image: Image,
        *args: str,
        memory_limit_bytes: int | None = None,
        uid: int = 0,
    ) -> tuple[Container, Process]:
        """A container of an image with its entry point and these arguments."""
        container = self._machines[0].create_container(
            name, image, address=address, memory_limit_bytes=memory_limit_bytes
        )
        log = container.log
        assert log is not None
        streams = {0: ByteSource(b""), 1: log.stream("stdout"), 2: log.stream("stderr")}
        process = container.start([*image.entrypoint, *args], uid=uid, streams=streams)
        self.kernel.run_for(1.0)
        return container, process

    def remove(self, container: Container) -> None:
        """Take a container away, as when its pod is deleted."""
        container.machine.remove_container(container.name)

    def do(self, work: Callable[[Context], Awaitable[Any]], timeout_s: float = 3600.0) -> Any:
        """Run a client's work in a process of its own; its outcome."""
        outcome: list[Any] = []

        async def program(ctx: Context) -> int:
            outcome.append(await work(ctx))
            return 0

        process = self.client.start(["client"], program=program)
        self.kernel.run_task(self.kernel.spawn(process.wait(), "client"))
        return outcome[0]

    def shell(self, line: str, where: Container | None = None) -> Completed:
        """Type a line in a container; by default in the client's."""
        out, err = Capture(), Capture()
        streams = {0: ByteSource(b""), 1: out, 2: err}
        process = (where or self.client).start(["sh", "-c", line], streams=streams)
        self.kernel.run_task(self.kernel.spawn(process.wait(), "typed"))
        return Completed(process.status, bytes(out.data), bytes(err.data))
