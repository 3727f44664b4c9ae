"""A small world for the network's tests: two machines, a client and a server."""

from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest

from simcloud.machine.network import Connection, Link, Listener, Namespace, Network
from simcloud.sim import Kernel

T = TypeVar("T")


class World:
    def __init__(self, seed: int = 1) -> None:
        self.kernel = Kernel(seed)
        self.network = Network(self.kernel)
        self.network.add_machine("node-1")
        self.network.add_machine("node-2")
        self.client: Namespace = self.network.namespace("client", "10.0.0.1", "node-1")
        self.server: Namespace = self.network.namespace("server", "10.0.0.2", "node-2")

    @property
    def now(self) -> float:
        return self.kernel.now

    @property
    def link(self) -> Link:
        return self.network.link("node-1", "node-2")

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.kernel.run_task(self.kernel.spawn(work, "test", supervised=True))

    def start(self, work: Coroutine[Any, Any, T]) -> Any:
        return self.kernel.spawn(work, "background", supervised=True)

    def connect(
        self, port: int = 80, protocol: str = "http", owner: object = None, server_owner: object = None
    ) -> tuple[Connection, Connection, Listener]:
        """An established connection: the client's end, the server's end, and the listener."""
        listener = self.server.listen(port, protocol, owner=server_owner)

        async def both() -> tuple[Connection, Connection]:
            ours = await self.client.dial(self.server.address, port, protocol, owner=owner)
            return ours, await listener.accept()

        return (*self.run(both()), listener)


@pytest.fixture
def world() -> World:
    return World()


class Recorder:
    """Keeps what a callback was called with, and when."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.calls: list[Any] = []
        self.times: list[float] = []

    def __call__(self, argument: Any) -> None:
        self.calls.append(argument)
        self.times.append(self._world.now)


@pytest.fixture
def recorder(world: World) -> Recorder:
    return Recorder(world)
