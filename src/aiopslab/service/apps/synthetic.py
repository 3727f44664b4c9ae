"""A synthetic application of N services: a tree of calls with a document store at its leaves.

It is there to measure and to prove the engine with: services that call each other, wait in queues, give
up, log, trace and store, without the detail of a real application. Service ``k`` calls services
``3k+1`` to ``3k+3``. Two journeys go through it: ``read`` takes one child of each service below the front
door's three, and reads a document at the end; ``write`` visits every service and stores an order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from aiopslab.machine.computer import Machine
from aiopslab.machine.files import Volume
from aiopslab.machine.image import Image
from aiopslab.machine.network import HostsResolver
from aiopslab.machine.network.http import HttpRequest, HttpResponse, serve_http
from aiopslab.machine.process import Container, Context, Process, Program
from aiopslab.service.documents import document_store
from aiopslab.service.rpc import Call, Client, Server
from aiopslab.sim import gather

CHILDREN: Final = 3
FIRST_PORT: Final = 7000
STORE: Final = "store"
STORE_PORT: Final = 6000
STORE_FOLDER: Final = "/var/lib/store"
STATUS_PORT: Final = 8080
FRONT: Final = "front"
SERVICE_CPU_S: Final = 0.0003


def service_name(number: int) -> str:
    """The name of service ``number``; the front door is number 0."""
    return FRONT if number == 0 else f"svc-{number}"


@dataclass
class SyntheticApp:
    """The running application: where its parts are."""

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
        """Start one part in a container on a machine, and make its name known."""
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
        """Kill a part and remove its container."""
        container = self.containers.pop(name)
        container.machine.remove_container(name).namespace.destroy()
        del self.processes[name]


def deploy(machines: list[Machine], resolver: HostsResolver, image: Image, services: int) -> SyntheticApp:
    """Start the store and N services, spread over the machines in turn."""
    app = SyntheticApp(services, resolver, image)
    app.start_store(machines[-1])
    for number in range(services):
        children = [
            f"{service_name(child)}:{FIRST_PORT + child}"
            for child in range(CHILDREN * number + 1, CHILDREN * number + CHILDREN + 1)
            if child < services
        ]
        env = {
            "PORT": str(FIRST_PORT + number),
            "CHILDREN": " ".join(children),
            "STORE": f"{STORE}:{STORE_PORT}",
            "TIMEOUT_S": "1.0",
        }
        app.start(machines[number % len(machines)], service_name(number), synthetic_service, env)
    return app


async def synthetic_service(ctx: Context) -> int:
    """One service. Reads ``PORT``, ``CHILDREN``, ``STORE`` and ``TIMEOUT_S`` from its environment."""
    timeout_s = float(ctx.env["TIMEOUT_S"])
    children = [_client(ctx, child, timeout_s) for child in ctx.env["CHILDREN"].split()]
    store = _client(ctx, ctx.env["STORE"], timeout_s)
    server = Server(ctx, ctx.container.name, int(ctx.env["PORT"]))
    is_front = ctx.container.name == FRONT

    async def read(call: Call) -> Any:
        user = call.payload
        if not children:
            return await store.call("get", ("orders", user), trace_id=call.trace_id, parent_span=call.span_id)
        if is_front:
            ctx.log(f"INFO read for {user} trace={call.trace_id}")
            return await _ask_all(ctx, children, call, "read", user)
        child = children[len(user) % len(children)]
        return await child.call("read", user, trace_id=call.trace_id, parent_span=call.span_id)

    async def write(call: Call) -> Any:
        order = call.payload
        for child in children:
            await child.call("write", order, trace_id=call.trace_id, parent_span=call.span_id)
        if is_front:
            record = ("orders", order["user"], order)
            await store.call("put", record, trace_id=call.trace_id, parent_span=call.span_id)
            ctx.log(f"INFO order of {order['user']} stored")
        return "done"

    async def status(request: HttpRequest) -> HttpResponse:
        if request.path == "/healthz":
            return HttpResponse(200, b"ok\n", {"Content-Type": "text/plain"})
        return HttpResponse(404, b"not found\n", {"Content-Type": "text/plain"})

    serve_http(ctx, STATUS_PORT, status)
    server.method("read", read, SERVICE_CPU_S)
    server.method("write", write, SERVICE_CPU_S)
    ctx.log(f"INFO listening on {server.port}")
    return await server.serve()


async def _ask_all(ctx: Context, children: list[Client], call: Call, method: str, payload: Any) -> list[Any]:
    works = (
        child.call(method, payload, trace_id=call.trace_id, parent_span=call.span_id) for child in children
    )
    return await gather(ctx.kernel, works, method)


def _client(ctx: Context, address: str, timeout_s: float) -> Client:
    host, _, port = address.partition(":")
    return Client(ctx, host, int(port), timeout_s=timeout_s)
