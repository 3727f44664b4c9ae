"""The programs of system pods, as far as an operator sees them: they log and answer their probes.

Their work is done elsewhere in this process: the API, the control loops, the scheduler. Two are needed for their
effects: while kube-proxy runs, the rules of its node follow the API; while the local path provisioner runs, claims
get volumes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final
from zlib import crc32

from msgspec import Struct, field

from simcloud.kubernetes import startup_lines
from simcloud.kubernetes.addons.activity_logs import (
    Logger,
    follow_controllers,
    follow_nodes,
    follow_requests,
    follow_storage,
)
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
from simcloud.machine.process import PAGE_BYTES, Context, Program, Signal
from simcloud.sim import Event

MIB: Final = 1024**2
HEALTH_PATHS: Final = ("/healthz", "/livez", "/readyz", "/health")
LOOPBACK: Final = "127.0.0.1"
PROXY_HEALTH_PORT: Final = 10256
PROXY_METRICS_PORT: Final = 10249


Follow = Callable[[Logger, Api], list[Callable[[], None]]]
"""Begins to log what happens in the cluster; returns the functions that end it."""


class Component(Struct, frozen=True):
    """One of the system's programs: what it logs at first and later, and which ports answer for its health.

    The first lines are written as ``source] text``; those of etcd are the fields of a JSON object.
    """

    first_lines: str
    ports: Mapping[int, str] = field(default_factory=dict)
    address: str = "::"
    in_json: bool = False
    memory_bytes: int = 20 * MIB
    threads: int = 9
    follow: Follow | None = None
    name: str = ""
    """That of a component whose work is done elsewhere, and only while its program runs."""
    version: str = f"Kubernetes {KUBELET_VERSION}\n"


ETCD: Final = Component(
    startup_lines.ETCD,
    {2379: HTTPS, 2380: HTTPS, 2381: HTTP},
    in_json=True,
    memory_bytes=45 * MIB,
    threads=14,
    follow=follow_storage,
    version="etcd Version: 3.6.8\nGit SHA: 4e814e2\nGo Version: go1.24.13\nGo OS/Arch: linux/amd64\n",
)
API_SERVER: Final = Component(
    startup_lines.API_SERVER,
    {6443: HTTPS},
    memory_bytes=240 * MIB,
    threads=13,
    follow=follow_requests,
)
CONTROLLER_MANAGER: Final = Component(
    startup_lines.CONTROLLER_MANAGER,
    {10257: HTTPS},
    address=LOOPBACK,
    memory_bytes=55 * MIB,
    follow=follow_controllers,
    name="kube-controller-manager",
)
SCHEDULER: Final = Component(
    startup_lines.SCHEDULER, {10259: HTTPS}, LOOPBACK, memory_bytes=25 * MIB, name="kube-scheduler"
)
KINDNET: Final = Component(startup_lines.KINDNET, follow=follow_nodes)
KUBE_PROXY: Final = Component(startup_lines.KUBE_PROXY)
LOCAL_PATH: Final = Component(startup_lines.LOCAL_PATH)


def component(about: Component, api: Api, further: HttpHandler | None = None) -> Program:
    """A program that logs, answers probes, and ends on SIGTERM or SIGINT; ``further`` answers all other requests."""

    async def answer(request: HttpRequest) -> HttpResponse:
        if further is not None and "?" in request.path:  # a probe asks plainly
            return await further(request)
        response = await _health(request)
        return response if further is None or response.status == 200 else await further(request)

    async def run(ctx: Context) -> int:
        if "--version" in ctx.args:
            await ctx.out(about.version)
            return 0
        log = _begin(ctx, about)
        configs = [arg.partition("=")[2] for arg in ctx.args if arg.startswith("--kubeconfig=")]
        for path in configs:
            if not ctx.files.exists(path):
                log.write("run.go:72", "command failed", "E", err=f"stat {path}: no such file or directory")
                return 1
        if about.name:
            api.components.run_in(about.name, ctx.process)
        try:
            for port, protocol in about.ports.items():
                serve_http(ctx, port, answer, protocol, about.address)
        except NetworkError as error:
            log.write(
                "run.go:72", "command failed", "E", err=f"failed to create listener: {str(error).lower()}"
            )
            return 1
        return await _run_until_signal(ctx, about, log, api)

    return run


def local_path(api: Api) -> Program:
    """The provisioner of local volumes: while it runs, claims of its class get them."""

    async def run(ctx: Context) -> int:
        log = _begin(ctx, LOCAL_PATH)
        provisioner = LocalPathProvisioner(api)
        provisioner.run_in(ctx.spawn)
        try:
            return await _run_until_signal(ctx, LOCAL_PATH, log, api)
        finally:
            provisioner.end()

    return run


def kube_proxy(api: Api, services: ServiceProxies) -> Program:
    """kube-proxy: while it runs, the Service rules of its node follow the API."""
    client = ComponentClient(api, "system:kube-proxy", "kube-proxy")

    async def run(ctx: Context) -> int:
        if "--version" in ctx.args:
            await ctx.out(KUBE_PROXY.version)
            return 0
        node = ctx.machine.name
        recorder = SeriesRecorder(client, "kube-proxy", f"kube-proxy-{node}")
        log = _begin(ctx, KUBE_PROXY)
        try:
            serve_http(ctx, PROXY_HEALTH_PORT, _health)
            serve_http(ctx, PROXY_METRICS_PORT, _health, address=LOOPBACK)
        except NetworkError as error:
            log.write("server.go:455", "Healthz server failed", "E", err=str(error).lower())
            return 1
        services.run_on(node)
        reference = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node}}
        recorder.event(reference, "Normal", "Starting", "StartKubeProxy", "")
        try:
            return await _run_until_signal(ctx, KUBE_PROXY, log, api)
        finally:
            services.stop_on(node)

    return run


def _begin(ctx: Context, about: Component) -> Logger:
    """Take the memory and write the first lines of a program."""
    share = 0.72 + crc32(ctx.container.name.encode()) / 2**34
    ctx.memory.use(int(about.memory_bytes * share) // PAGE_BYTES * PAGE_BYTES)
    ctx.process.threads = about.threads
    log = Logger(ctx, about.in_json)
    log.write_startup(about.first_lines)
    return log


async def _run_until_signal(ctx: Context, about: Component, log: Logger, api: Api) -> int:
    """Log what happens until a signal ends the program."""
    log.quiet = True
    stops = about.follow(log, api) if about.follow is not None else []
    log.quiet = False
    try:
        return await wait_for_signal(ctx)
    finally:
        for stop in stops:
            stop()


async def wait_for_signal(ctx: Context) -> int:
    """Wait for the signal that ends a well-behaved program; its exit code."""
    ended: Event[int] = Event(ctx.kernel)
    for signal in (Signal.TERM, Signal.INT):
        ctx.signals.on(signal, lambda _signal: ended.set(0))
    return await ended.wait()


async def _health(request: HttpRequest) -> HttpResponse:
    path = request.path.partition("?")[0]
    return respond(200, "ok") if path in HEALTH_PATHS else respond(404, "404 page not found\n")
