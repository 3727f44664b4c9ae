"""The programs of system pods, as far as an operator sees them: they log and answer their probes.

Their work is done elsewhere in this process: the API, the control loops, the scheduler. Two are needed for their
effects: while kube-proxy runs, the rules of its node follow the API; while the local path provisioner runs, claims
get volumes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.controllers.volumes.provisioner import LocalPathProvisioner
from simcloud.kubernetes.network.services import ServiceProxies
from simcloud.kubernetes.nodes import KUBELET_VERSION
from simcloud.kubernetes.scheduler.events import SeriesRecorder
from simcloud.machine.network import (
    HTTP,
    HTTPS,
    HttpHandler,
    HttpRequest,
    HttpResponse,
    NetworkError,
    respond,
    serve_http,
)
from simcloud.machine.process import Context, Program, Signal
from simcloud.sim import Event

MIB: Final = 1024**2
HEALTH_PATHS: Final = ("/healthz", "/livez", "/readyz", "/health")
PROXY_HEALTH_PORT: Final = 10256
PROXY_METRICS_PORT: Final = 10249


@dataclass(frozen=True, slots=True)
class Component:
    """One of the system's programs: what it says at first, and which ports answer for its health."""

    source: str
    first_lines: Sequence[str]
    ports: Mapping[int, str] = field(default_factory=dict)
    in_json: bool = False
    memory_bytes: int = 20 * MIB


ETCD: Final = Component(
    "caller",
    (
        "Starting etcd",
        "starting initial election tick advance",
        "raft.node: 8e9e05c52164694d elected leader 8e9e05c52164694d at term 2",
        "ready to serve client requests",
        "serving client traffic securely",
    ),
    {2379: HTTPS, 2380: HTTPS, 2381: HTTP},
    in_json=True,
    memory_bytes=45 * MIB,
)
API_SERVER: Final = Component(
    "server.go:160",
    (
        f"Version: {KUBELET_VERSION}",
        'Starting controller="apiserver-service-account-token-controller"',
        "Serving securely on [::]:6443",
        "Caches are synced for cluster_authentication_trust_controller controller",
    ),
    {6443: HTTPS},
    memory_bytes=240 * MIB,
)
CONTROLLER_MANAGER: Final = Component(
    "controllermanager.go:188",
    (
        f'"Starting" version="{KUBELET_VERSION}"',
        "Serving securely on 127.0.0.1:10257",
        'attempting to acquire leader lease kube-system/kube-controller-manager..."',
        "successfully acquired lease kube-system/kube-controller-manager",
    ),
    {10257: HTTPS},
    memory_bytes=55 * MIB,
)
SCHEDULER: Final = Component(
    "server.go:180",
    (
        f'"Starting Kubernetes Scheduler" version="{KUBELET_VERSION}"',
        "Serving securely on 127.0.0.1:10259",
        "successfully acquired lease kube-system/kube-scheduler",
    ),
    {10259: HTTPS},
    memory_bytes=25 * MIB,
)
KINDNET: Final = Component(
    "main.go:139",
    (
        "hostIP = $HOST_IP\npodIP = $POD_IP",
        'kindnetd IP family: "ipv4"',
        "noMask IPv4 subnets: [$POD_SUBNET]",
    ),
)
LOCAL_PATH: Final = Component(
    "controller.go:824",
    (
        "Starting provisioner controller rancher.io/local-path",
        "Started provisioner controller rancher.io/local-path",
    ),
)


def component(about: Component, further: HttpHandler | None = None) -> Program:
    """A program that logs, answers probes, and ends on SIGTERM or SIGINT; ``further`` answers all other requests."""

    async def answer(request: HttpRequest) -> HttpResponse:
        if further is not None and "?" in request.path:  # a probe asks plainly
            return await further(request)
        response = await _health(request)
        return response if further is None or response.status == 200 else await further(request)

    async def run(ctx: Context) -> int:
        ctx.memory.use(about.memory_bytes)
        for line in about.first_lines:
            say(ctx, about, line)
        try:
            for port, protocol in about.ports.items():
                serve_http(ctx, port, answer, protocol)
        except NetworkError as error:
            say(ctx, about, f"failed to listen: {str(error).lower()}", "E")
            return 1
        return await wait_for_signal(ctx)

    return run


def local_path(api: Api) -> Program:
    """The provisioner of local volumes: while it runs, claims of its class get them."""

    async def run(ctx: Context) -> int:
        ctx.memory.use(LOCAL_PATH.memory_bytes)
        for line in LOCAL_PATH.first_lines:
            say(ctx, LOCAL_PATH, line)
        provisioner = LocalPathProvisioner(api)
        provisioner.run_in(ctx.spawn)
        try:
            return await wait_for_signal(ctx)
        finally:
            provisioner.end()

    return run


def kube_proxy(api: Api, services: ServiceProxies) -> Program:
    """kube-proxy: while it runs, the Service rules of its node follow the API."""
    client = ComponentClient(api, "system:kube-proxy", "kube-proxy")

    async def run(ctx: Context) -> int:
        node = ctx.machine.name
        recorder = SeriesRecorder(client, "kube-proxy", f"kube-proxy-{node}")
        about = Component("server_linux.go:53", ())
        ctx.memory.use(about.memory_bytes)
        say(ctx, about, '"Using iptables proxy"')
        say(ctx, about, f'"Successfully retrieved node IP(s)" IPs=["{ctx.container.namespace.address}"]')
        say(ctx, about, f'"Version info" version="{KUBELET_VERSION}"')
        try:
            for port in (PROXY_HEALTH_PORT, PROXY_METRICS_PORT):
                serve_http(ctx, port, _health)
        except NetworkError as error:
            say(ctx, about, f'"Error starting proxy health server" err="{str(error).lower()}"', "E")
            return 1
        services.run_on(node)
        reference = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node}}
        recorder.event(reference, "Normal", "Starting", "StartKubeProxy", "")
        say(ctx, about, '"Caches are synced" controller="service config"')
        try:
            return await wait_for_signal(ctx)
        finally:
            services.stop_on(node)

    return run


async def wait_for_signal(ctx: Context) -> int:
    """Wait for the signal that ends a well-behaved program; its exit code."""
    ended: Event[int] = Event(ctx.kernel)
    for signal in (Signal.TERM, Signal.INT):
        ctx.signals.on(signal, lambda _signal: ended.set(0))
    return await ended.wait()


async def _health(request: HttpRequest) -> HttpResponse:
    path = request.path.partition("?")[0]
    return respond(200, "ok") if path in HEALTH_PATHS else respond(404, "404 page not found\n")


def say(ctx: Context, about: Component, words: str, level: str = "I") -> None:
    """A line as klog writes it, or as etcd does."""
    for name in ("HOST_IP", "POD_IP", "POD_SUBNET"):
        words = words.replace(f"${name}", ctx.env.get(name, ""))
    for line in words.split("\n"):
        if about.in_json:
            ctx.log(f'{{"level":"info","ts":"{_time(ctx, "-")}Z","msg":"{line}"}}')
        else:
            ctx.log(f"{level}{_time(ctx, '')}       1 {about.source}] {line}")


def _time(ctx: Context, style: str) -> str:
    moment = datetime.fromtimestamp(ctx.now, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f" if style else "%m%d %H:%M:%S.%f")
