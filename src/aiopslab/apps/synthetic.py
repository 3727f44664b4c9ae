"""A synthetic application of N services: a tree of calls with a document store at its leaves.

It is for tests and benchmarks of the engine: services that call each other, queue, time out, log, trace and
store, without the details of a real application. Service ``k`` calls services ``3k+1`` to ``3k+3``. It has
two journeys: ``read`` calls all children of the front service and one child of each service below, and reads a
document at the end; ``write`` calls every service and stores an order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from simcloud.machine import Image, Machine
from simcloud.machine.files import Volume
from simcloud.machine.network import HostsResolver
from simcloud.machine.process import Container, Context, Process, Program
from simcloud.services import Tracer, document_store
from simcloud.services.rpc import Call, Capacity, FixedAddresses, GrpcChannel, GrpcServer, HttpServer
from simcloud.sim import gather

CHILDREN: Final = 3
FIRST_PORT: Final = 7000
STORE: Final = "store"
STORE_PORT: Final = 6000
STORE_FOLDER: Final = "/var/lib/store"
STATUS_PORT: Final = 8080
FRONT: Final = "front"
SERVICE_CPU_S: Final = 0.0003
CAPACITY: Final = Capacity(workers=64, queue=256)


def get_service_name(number: int) -> str:
    """Return the name of service ``number``; the front service is number 0."""
    return FRONT if number == 0 else f"svc-{number}"


@dataclass
class SyntheticApp:
    """The running application, with its containers and processes."""

    services: int
    resolver: HostsResolver
    base_image: Image
    containers: dict[str, Container] = field(default_factory=dict)
    processes: dict[str, Process] = field(default_factory=dict)
    next_address: int = 1

    def start(
        self,
        machine: Machine,
        name: str,
        program: Program,
        env: dict[str, str],
        volumes: dict[str, Volume] | None = None,
    ) -> Process:
        """Start a program in a container on a machine, and register its name."""
        host = self.next_address
        self.next_address += 1
        address = f"10.244.{host // 250}.{host % 250 + 1}"
        container = machine.create_container(
            name, self.base_image, address=address, env=env, memory_limit_bytes=512 * 1024**2
        )
        for path, volume in (volumes or {}).items():
            container.files.mkdir(path, parents=True)
            container.files.mount(path, volume)
        self.resolver.table[name] = address
        assert container.log is not None
        streams = {1: container.log.stream("stdout"), 2: container.log.stream("stderr")}
        self.containers[name] = container
        self.processes[name] = container.start([name], program=program, streams=streams)
        return self.processes[name]

    def start_store(self, machine: Machine) -> Process:
        """Start the document store on a machine, with its data in a volume on that machine's disk."""
        env = {"PORT": str(STORE_PORT), "DATA_DIR": STORE_FOLDER}
        return self.start(machine, STORE, document_store, env, {STORE_FOLDER: machine.volume(STORE)})

    def stop(self, name: str) -> None:
        """Kill a program and remove its container."""
        container = self.containers.pop(name)
        container.machine.remove_container(name).namespace.destroy()
        del self.processes[name]


def deploy(machines: list[Machine], resolver: HostsResolver, image: Image, services: int) -> SyntheticApp:
    """Start the store and N services, distributed round-robin over the machines."""
    app = SyntheticApp(services, resolver, image)
    app.start_store(machines[-1])
    for number in range(services):
        children = [
            f"{get_service_name(child)}:{FIRST_PORT + child}"
            for child in range(CHILDREN * number + 1, CHILDREN * number + CHILDREN + 1)
            if child < services
        ]
        env = {
            "PORT": str(FIRST_PORT + number),
            "CHILDREN": " ".join(children),
            "STORE": f"{STORE}:{STORE_PORT}",
            "TIMEOUT_S": "1.0",
        }
        app.start(machines[number % len(machines)], get_service_name(number), synthetic_service, env)
    return app


async def synthetic_service(ctx: Context) -> int:
    """Run one service. Reads ``PORT``, ``CHILDREN``, ``STORE`` and ``TIMEOUT_S`` from its environment."""
    timeout_s, port = float(ctx.env["TIMEOUT_S"]), int(ctx.env["PORT"])
    tracer = Tracer(ctx, ctx.container.name)
    children = [_open_channel(ctx, tracer, child, timeout_s) for child in ctx.env["CHILDREN"].split()]
    store = _open_channel(ctx, tracer, ctx.env["STORE"], timeout_s)
    server = GrpcServer(ctx, tracer, capacity=CAPACITY)
    is_front = ctx.container.name == FRONT

    async def read(call: Call) -> Any:
        user = call.payload
        if not children:
            return await store.call("get", ("orders", user), call.span)
        if is_front:
            ctx.log(f"INFO read for {user} trace={call.span.trace_id}")
            return await gather(
                ctx.kernel, (child.call("read", user, call.span) for child in children), "read"
            )
        return await children[len(user) % len(children)].call("read", user, call.span)

    async def write(call: Call) -> Any:
        order = call.payload
        for child in children:
            await child.call("write", order, call.span)
        if is_front:
            await store.call("put", ("orders", order["user"], order), call.span)
            ctx.log(f"INFO order of {order['user']} stored")
        return "done"

    HttpServer(ctx, tracer, health="/healthz").listen(STATUS_PORT)
    server.method("read", read, SERVICE_CPU_S)
    server.method("write", write, SERVICE_CPU_S)
    ctx.log(f"INFO listening on {port}")
    return await server.serve(port, graceful=True)


def _open_channel(ctx: Context, tracer: Tracer, address: str, timeout_s: float) -> GrpcChannel:
    peer = address.partition(":")[0]
    return GrpcChannel(
        ctx, tracer, FixedAddresses(address), peer=peer, timeout_s=timeout_s, waits_for_connection=True
    )
