"""ingress-nginx as an image, and its installation on a cluster: a Deployment behind a Service with node ports."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Final

import yaml

from simcloud.kubernetes.addons.activity_logs import Logger
from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.client import ApiClient
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.network.ingress.controller import IngressController
from simcloud.kubernetes.network.ingress.proxy import Proxy
from simcloud.kubernetes.network.ingress.status import StatusWriter
from simcloud.kubernetes.nodes import KUBELET_VERSION
from simcloud.machine import Image
from simcloud.machine.files import FileError
from simcloud.machine.network import HTTP, HTTPS, HttpRequest, HttpResponse, NetworkError, respond, serve_http
from simcloud.machine.process import Context, Signal
from simcloud.sim import Event

if TYPE_CHECKING:
    from simcloud.kubernetes.images import ImageRegistry

IMAGE: Final = "registry.k8s.io/ingress-nginx/controller:v1.13.3"
IMAGE_BYTES: Final = 111_000_000
NAMESPACE: Final = "ingress-nginx"
SERVICE: Final = "ingress-nginx-controller"
TOKEN: Final = "/var/run/secrets/kubernetes.io/serviceaccount/token"
MEMORY_BYTES: Final = 90 * 1024**2
STATUS_PORT: Final = 10254
QUIT_S: Final = 10.0
"""Time between the end of nginx and that of the controller."""
FATAL: Final = 255
DEFAULTS: Final = {
    "controller-class": "k8s.io/ingress-nginx",
    "ingress-class": "nginx",
    "election-id": "ingress-controller-leader",
}
BANNER: Final = """\
-------------------------------------------------------------------------------
NGINX Ingress controller
  Release:       v1.13.3
  Build:         468a9c9a3068a066e076fbdda21ee9559f2a4d8a
  Repository:    https://github.com/kubernetes/ingress-nginx
  nginx version: nginx/1.27.1
-------------------------------------------------------------------------------
"""


class CannotStart(Exception):
    """The controller ends at once; the message is its last line."""


def ingress_objects() -> list[Object]:
    """Return what ``kubectl apply`` of the manifest for bare metal creates, in that order; without the admission webhook."""
    path = resources.files("simcloud.kubernetes.network.ingress") / "deploy.yaml"
    return list(yaml.load_all(path.read_text(), yaml.CSafeLoader))


def install_ingress(api: Api, registry: ImageRegistry) -> None:
    """Publish the image and create the objects of the controller on a cluster."""
    registry.add(IMAGE, ingress_image(api), user="101", size_bytes=IMAGE_BYTES)
    client = ComponentClient(api, "kubernetes-admin", "kubectl")
    for obj in ingress_objects():
        client.create(obj)


def ingress_image(api: Api) -> Image:
    """Return the image of the controller for a cluster."""

    async def nginx_ingress_controller(ctx: Context) -> int:
        log = Logger(ctx)
        for line in BANNER.split("\n"):
            ctx.log(line)
        options = DEFAULTS | dict(word.removeprefix("--").partition("=")[::2] for word in ctx.args[1:])
        log.write_text(
            "client_config.go:667] Neither --kubeconfig nor --master was specified.  Using the inClusterConfig.  This might "
            "not work.",
            "W",
        )
        try:
            access, pod = await _connect(ctx, log, api)
        except CannotStart as error:
            log.write_text(str(error), "F")
            return FATAL
        controller = IngressController(ctx, access, log, options, pod)
        writer = StatusWriter(access, log, controller, options, pod)
        try:
            return await _run(ctx, log, controller, writer)
        finally:
            controller.stop()

    programs = {"nginx-ingress-controller": nginx_ingress_controller}
    return Image(IMAGE, programs, entrypoint=["nginx-ingress-controller"])


async def _connect(ctx: Context, log: Logger, api: Api) -> tuple[ApiClient, Object]:
    """Return the client of the pod's service account, and the pod; raises ``CannotStart``."""
    log.write("main.go:205", "Creating API client", host="https://10.96.0.1:443")
    try:
        access = ApiClient.authenticate(
            api, ctx.files.read(TOKEN).decode().strip(), "nginx-ingress-controller"
        )
    except (FileError, ApiError) as error:
        raise CannotStart(
            "main.go:262] Error while initiating a connection to the Kubernetes API server. This could mean the cluster is "
            "misconfigured (e.g. it has invalid API server certificates or Service Accounts configuration). "
            f"Reason: {error}\nRefer to the troubleshooting guide for more information: "
            "https://kubernetes.github.io/ingress-nginx/troubleshooting/"
        ) from None
    major, minor = KUBELET_VERSION.removeprefix("v").split(".")[:2]
    log.write(
        "main.go:248", "Running in Kubernetes cluster", major=major, minor=minor, git=KUBELET_VERSION, state="clean",
        platform="linux/amd64",
    )  # fmt: skip
    file = "/etc/ingress-controller/ssl/default-fake-certificate.pem"
    log.write("main.go:101", "SSL fake certificate created", file=file)
    namespace, name = ctx.env.get("POD_NAMESPACE", ""), ctx.env.get("POD_NAME", "")
    try:
        return access, await access.get(access.resource("pods"), namespace, name)
    except ApiError as error:
        what = f"unable to get POD information: {error}"
        raise CannotStart(f"main.go:120] Unexpected error obtaining ingress-nginx pod: {what}") from None


async def _run(ctx: Context, log: Logger, controller: IngressController, writer: StatusWriter) -> int:
    ctx.memory.use(MEMORY_BYTES)
    ctx.process.start_runtime()
    proxy = Proxy(ctx, controller)
    ended: Event[None] = Event(ctx.kernel)
    ctx.signals.on(Signal.TERM, lambda _signal: ended.set(None))

    async def answer(request: HttpRequest) -> HttpResponse:
        if request.path == "/healthz":
            return respond(200, "ok") if controller.reloads and not ended.is_set else respond(500, "not ok")
        return respond(404, "404 page not found\n")

    async def serve() -> None:
        log.write("nginx.go:273", "Starting NGINX Ingress controller")
        await controller.start()
        ctx.spawn(writer.run(), "leader election")
        log.write("nginx.go:319", "Starting NGINX process")
        proxy.listen(80, HTTP)
        proxy.listen(443, HTTPS)
        controller.schedule()

    try:
        serve_http(ctx, STATUS_PORT, answer)
    except NetworkError as error:
        log.write_text(f"main.go:190] listen tcp :{STATUS_PORT}: bind: {str(error).lower()}", "F")
        return FATAL
    ctx.spawn(serve(), "start")
    await ended.wait()
    log.write("sigterm.go:36", "Received SIGTERM, shutting down")
    log.write("nginx.go:395", "Shutting down controller queues")
    controller.stop()
    writer.clear()
    log.write("nginx.go:411", "Stopping NGINX process")
    proxy.close()
    await ctx.sleep(1.0)
    log.write("nginx.go:424", "NGINX process has stopped")
    log.write_text(f"sigterm.go:44] Handled quit, delaying controller exit for {QUIT_S:g} seconds")
    await ctx.sleep(QUIT_S)
    log.write("sigterm.go:47", "Exiting", code=0)
    return 0
