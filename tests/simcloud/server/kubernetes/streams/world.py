"""A pod whose containers really run, on a simulated machine, served to genuine clients over TLS."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.runtime import LogOptions, LogStream
from simcloud.kubernetes.kubelet.streams.console import AttachedSession, Console
from simcloud.kubernetes.kubelet.streams.forwards import PortForward
from simcloud.kubernetes.kubelet.streams.sessions import ContainerSession
from simcloud.machine.computer import Machine
from simcloud.machine.network import HostsResolver, Network
from simcloud.machine.network.http import HttpRequest, HttpResponse, respond, serve_http
from simcloud.machine.process import Container, Context
from simcloud.server.kubernetes.cluster_server import ClusterServer
from simcloud.sim import Kernel
from simcloud.userland.images import operator_image
from tests.simcloud.server.kubernetes.served import PATIENCE_S

SANDBOX = "c179f921c1df314e24f16bb14332dd34a04b5f081d2554fe41551d16773e57a7"
PLACE = "/var/run/netns/cni-cf1a4f94-38b4-b2a1-20c2-489d0f7a3e2a"
PAGE = b"<h1>Welcome to nginx!</h1>\n"
ECHO_PORT, HTTP_PORT, SILENT_PORT = 7, 80, 9


class ContainerMissing(ApiError):
    """A kubelet's refusal."""

    code, reason = 404, "NotFound"

    def __init__(self, name: str) -> None:
        super().__init__(f'container not found ("{name}")')


class PodRuntime:
    """Runs the containers of one machine's pods; a container is called ``pod/container`` there."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.consoles: dict[str, Console] = {}
        self.sessions: list[ContainerSession | AttachedSession] = []

    def add(self, pod: str, container: str, argv: list[str], address: str, stdin: bool = False) -> None:
        """Start a container."""
        name = f"{pod}/{container}"
        made = self.machine.create_container(name, operator_image(), address=address, hostname=pod)
        made.files.mkdir("/w")
        console = self.consoles[name] = Console(made, stdin=stdin)
        console.follow(made.start(argv, streams=console.streams))

    def container(self, pod: Object, name: str) -> Container:
        found = self.machine.containers.get(f"{pod['metadata']['name']}/{name}")
        if found is None:
            raise ContainerMissing(name)
        return found

    def logs(self, pod: Object, options: LogOptions) -> LogStream:
        raise NotImplementedError

    def exec(
        self, pod: Object, container: str, argv: list[str], *, stdin: bool, stderr: bool, tty: bool
    ) -> ContainerSession:
        inside = self.container(pod, container)
        session = ContainerSession(inside, argv, stdin=stdin, stderr=stderr, tty=tty)
        self.sessions.append(session)
        return session

    def check_exec(self, pod: Object, container: str) -> None:
        self.container(pod, container)

    def attach(self, pod: Object, container: str, *, stdin: bool, stderr: bool, tty: bool) -> AttachedSession:
        inside = self.container(pod, container)
        session = self.consoles[inside.name].attach(stdin=stdin, stderr=stderr)
        self.sessions.append(session)
        return session

    def forward(self, pod: Object, port: int) -> PortForward:
        first = pod["spec"]["containers"][0]["name"]
        return PortForward(self.container(pod, first).namespace, port, SANDBOX, PLACE)


async def services(ctx: Context) -> int:
    """A page on one port, an echo on another, and one that never reads."""

    async def answer(request: HttpRequest) -> HttpResponse:
        if request.path != "/":
            return respond(404, f"{request.method} {request.path} {len(request.body)}\n")
        return respond(200, PAGE, Content_Type="text/html")

    serve_http(ctx, HTTP_PORT, answer)
    ctx.listen(SILENT_PORT, "tcp")
    listener = ctx.listen(ECHO_PORT, "tcp")
    while True:
        connection = await listener.accept()
        connection.on_message = lambda data, to=connection: to.send(data, len(data))
        connection.on_close = lambda _error, to=connection: to.close()


def pod_object(name: str, *containers: str, node: str = "host-1", phase: str = "Running") -> Object:
    """A pod as the store has it."""
    specified = [{"name": each, "image": "debian:12"} for each in containers]
    spec: Object = {"containers": specified, **({"nodeName": node} if node else {})}
    state = {"startedAt": "2026-01-05T09:00:00Z"}
    statuses = [
        {
            "name": each,
            "ready": True,
            "restartCount": 0,
            "image": "debian:12",
            "imageID": "",
            "state": {"running": state},
        }
        for each in containers
    ]
    status: Object = {"phase": phase, "podIP": "10.244.0.2" if node else "", "containerStatuses": statuses}
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def put(api: Api, plural: str, obj: Object) -> None:
    """Store an object as it is."""
    group = obj["apiVersion"].rpartition("/")[0]
    resource = api.catalogue.find(plural, group)
    meta = obj["metadata"]
    api.log.put(api.key(resource, meta.get("namespace", ""), meta["name"]), obj)


def make_world() -> tuple[Api, PodRuntime]:
    """A cluster of one machine with the pods that the tests talk to."""
    kernel = Kernel(1)
    machine = Machine(
        kernel, Network(kernel), "host-1", "10.0.0.1", operator_image(), resolver=HostsResolver({})
    )
    api = Api(kernel)
    runtime = PodRuntime(machine)
    api.runtime = runtime
    runtime.add("ok", "web", ["sleep", "infinity"], "10.244.0.2")
    machine.containers["ok/web"].start(["services"], program=services)
    runtime.add(
        "two",
        "app",
        ["bash", "-c", "while read x; do echo got $x; echo err $x >&2; done"],
        "10.244.0.3",
        True,
    )
    runtime.add("two", "side", ["bash", "-c", "while true; do echo tick; sleep 0.05; done"], "10.244.0.4")
    put(api, "pods", pod_object("ok", "web"))
    put(api, "pods", pod_object("two", "app", "side"))
    put(api, "pods", pod_object("crash", "crash"))
    put(api, "pods", pod_object("bigcpu", "app", node="", phase="Pending"))
    put(api, "pods", pod_object("once", "app", phase="Succeeded"))
    return api, runtime


@contextmanager
def serving(folder: Path, api: Api) -> Iterator[ClusterServer]:
    """The cluster behind a genuine HTTPS server, in a thread of its own."""
    server = ClusterServer(api, kubeconfig=folder / "kubeconfig")
    ready = threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(server.run(ready.set)), daemon=True)
    thread.start()
    assert ready.wait(PATIENCE_S), "the server did not come up"
    try:
        yield server
    finally:
        server.stop()
        thread.join(PATIENCE_S)
        assert not thread.is_alive()
