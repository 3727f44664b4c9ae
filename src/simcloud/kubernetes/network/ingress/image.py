"""ingress-nginx as an image, and the objects that install it on kind: a controller on ports 80 and 443 of a node."""

from __future__ import annotations

from importlib import resources
from typing import Final

import yaml

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.network.ingress.controller import IngressController
from simcloud.kubernetes.network.ingress.proxy import Proxy
from simcloud.machine import Image
from simcloud.machine.network import HTTP, HTTPS, HttpRequest, HttpResponse, NetworkError, respond, serve_http
from simcloud.machine.process import Context, Signal
from simcloud.sim import Event

IMAGE: Final = "registry.k8s.io/ingress-nginx/controller:v1.13.3"
MEMORY_BYTES: Final = 90 * 1024**2
STATUS_PORT: Final = 10254
BANNER: Final = """\
-------------------------------------------------------------------------------
NGINX Ingress controller
  Release:       v1.13.3
  Repository:    https://github.com/kubernetes/ingress-nginx
  nginx version: nginx/1.27.1
-------------------------------------------------------------------------------"""


def ingress_objects() -> list[Object]:
    """What ``kubectl apply`` of kind's manifest creates, in that order; without the admission webhook."""
    path = resources.files("simcloud.kubernetes.network.ingress") / "deploy.yaml"
    return list(yaml.safe_load_all(path.read_text()))


def ingress_image(api: Api) -> Image:
    """The image of the controller for a cluster."""

    async def nginx_ingress_controller(ctx: Context) -> int:
        options = dict(word.removeprefix("--").partition("=")[::2] for word in ctx.args[1:])
        address = options.get("publish-status-address", "")
        publish = {"hostname": address} if address else {"ip": ctx.container.namespace.address}
        controller = IngressController(api, publish, options.get("watch-ingress-without-class") == "true")
        try:
            return await _run(ctx, controller)
        finally:
            controller.stop()

    programs = {"nginx-ingress-controller": nginx_ingress_controller}
    return Image(IMAGE, programs, entrypoint=["nginx-ingress-controller"])


async def _run(ctx: Context, controller: IngressController) -> int:
    ctx.memory.use(MEMORY_BYTES)
    for line in BANNER.splitlines():
        ctx.log(line)
    proxy = Proxy(ctx, controller)

    async def status(request: HttpRequest) -> HttpResponse:
        if request.path == "/healthz":
            return respond(200, "ok")
        if request.path == "/metrics":
            return respond(200, _metrics(proxy, controller), Content_Type="text/plain; version=0.0.4")
        return respond(404, "404 page not found\n")

    try:
        proxy.listen(80, HTTP)
        proxy.listen(443, HTTPS)
        serve_http(ctx, STATUS_PORT, status)
    except NetworkError as error:
        ctx.log(f"F0105 nginx.go:118] port 80 is already in use: {str(error).lower()}")
        return 255
    controller.start()
    ended: Event[int] = Event(ctx.kernel)
    ctx.signals.on(Signal.TERM, lambda _signal: ended.set(0))
    return await ended.wait()


def _metrics(proxy: Proxy, controller: IngressController) -> str:
    lines = ["# TYPE nginx_ingress_controller_requests counter"]
    lines += [
        f'nginx_ingress_controller_requests{{status="{status}"}} {count}'
        for status, count in sorted(proxy.by_status.items())
    ]
    lines += ["# TYPE nginx_ingress_controller_success counter"]
    lines += [f"nginx_ingress_controller_success {controller.reloads}"]
    return "".join(f"{line}\n" for line in lines)
