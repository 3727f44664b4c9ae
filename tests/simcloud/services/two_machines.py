"""A server and a client in containers on two machines: enough of a world for remote calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from simcloud.machine.computer import Machine
from simcloud.machine.emit import MemoryEmitter
from simcloud.machine.image import Image
from simcloud.machine.network import HostsResolver, Network
from simcloud.machine.process import Context, Process, Program
from simcloud.sim import Kernel
from simcloud.userland.images import operator_image

BARE = Image("bare", {})
SERVER = "10.1.0.1"


class TwoMachines:
    """``serve`` runs a program in the server's container, ``run`` asks something from the client's."""

    def __init__(self, seed: int = 1) -> None:
        self.kernel = Kernel(seed)
        self.emitter = MemoryEmitter()
        resolver = HostsResolver({"server": SERVER})
        network = Network(self.kernel)
        self.machines = [
            Machine(
                self.kernel, network, name, address, operator_image(), emitter=self.emitter, resolver=resolver
            )
            for name, address in (("left", "10.0.0.1"), ("right", "10.0.0.2"))
        ]
        self.server = self.machines[0].create_container("server", BARE, address=SERVER)
        self.client = self.machines[1].create_container("client", BARE, address="10.1.0.2")
        self.server.start(["pause"], program=_pause)
        self.client.start(["pause"], program=_pause)

    def serve(self, program: Program, settle_s: float = 0.1) -> Process:
        process = self.server.start(["server"], program=program)
        self.kernel.run_for(settle_s)
        return process

    def run(self, work: Callable[[Context], Awaitable[Any]]) -> Any:
        result = []

        async def program(ctx: Context) -> int:
            result.append(await work(ctx))
            return 0

        process = self.client.start(["client"], program=program)
        self.kernel.run_task(self.kernel.spawn(process.wait(), "client"))
        return result[0]

    def shell(self, line: str) -> str:
        done = self.machines[1].host.run(["bash", "-c", line])
        return (done.stdout + done.stderr).decode()

    def log(self, source: str = "server") -> list[str]:
        return [line.text for line in self.emitter.logs if line.source == source]


async def _pause(ctx: Context) -> int:
    await ctx.sleep(1e9)
    return 0
