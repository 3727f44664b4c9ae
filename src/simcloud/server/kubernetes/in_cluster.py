"""The API as pods reach it, at https://kubernetes.default: the same application inside the world, without a socket.

A request arrives as a message over the simulated network at the program of the kube-apiserver's pod, and is answered
with one message. So a stream (a watch, a followed log) ends when nothing has arrived for a short time, as a genuine
server may end a watch at any time. exec, attach and port-forward are not supported here.
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from simcloud.kubernetes.api import Api, Key, Object, Pending, at
from simcloud.machine.network import HttpHandler, HttpRequest, HttpResponse
from simcloud.server.kubernetes.app import KubernetesApp
from simcloud.server.kubernetes.bodies import BODY
from simcloud.server.kubernetes.live import Signal
from simcloud.sim import Kernel

MOMENT_S: Final = 0.05
"""So long a stream waits for more."""

SERVICE: Final = "10.96.0.1"


def open_door(api: Api) -> HttpHandler:
    """Let pods reach this API from now on; who answers them."""
    api.door = answer = InClusterApp(api).answer
    return answer


class InClusterApp(KubernetesApp):
    """The application for clients inside the world."""

    def __init__(self, api: Api) -> None:
        super().__init__(api, _Present(), _own_address(api))

    def signal(self) -> Signal:
        return _Moment(self.api.kernel)

    async def wait_for(self, pending: Pending) -> None:
        await pending.wait()

    async def answer(self, request: HttpRequest) -> HttpResponse:
        """One request of a pod."""
        path, _, query = request.path.partition("?")
        scope: dict[str, Any] = {
            "type": "http",
            "http_version": "1.1",
            "method": request.method,
            "scheme": "https",
            "path": unquote(path),
            "raw_path": path.encode("utf-8", "replace"),
            "root_path": "",
            "query_string": query.encode("utf-8", "replace"),
            "headers": [
                (name.lower().encode("latin-1", "replace"), value.strip().encode("latin-1", "replace"))
                for name, value in request.headers.items()
            ],
            "server": (SERVICE, 443),
            BODY: request.body,
        }
        response = await self.respond(Request(scope))
        response.headers.setdefault("cache-control", "no-cache, private")
        headers = {_title_case(name): value for name, value in response.headers.items()}
        return HttpResponse(response.status_code, await _whole(response), headers)


def _own_address(api: Api) -> str:
    """Return the address that the server publishes: the endpoint of its own Service."""
    found = api.log.get(Key("", "endpoints", "default", "kubernetes"))
    subset: Object = at(found, "subsets", default=[{}])[0]
    addresses, ports = subset.get("addresses"), subset.get("ports")
    return f"{addresses[0]['ip']}:{ports[0]['port']}" if addresses and ports else f"{SERVICE}:443"


class _Present:
    """The pace of a world that needs no advancing."""

    def catch_up(self) -> None:
        """A request from inside meets the world at its own moment."""

    def poke(self) -> None:
        """The kernel runs already."""


class _Ended(Exception):
    """The input has ended."""


class _Moment:
    """A signal that waits once, for a short time."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._set = False

    def set(self) -> None:
        self._set = True

    def clear(self) -> None:
        self._set = False

    async def wait(self) -> None:
        await self._kernel.sleep(MOMENT_S)
        if not self._set:
            raise _Ended


async def _whole(response: Response) -> bytes:
    if not isinstance(response, StreamingResponse):
        return bytes(response.body)
    parts: list[bytes] = []
    try:
        async for part in response.body_iterator:
            parts.append(part.encode() if isinstance(part, str) else bytes(part))
    except _Ended:
        pass
    return b"".join(parts)


def _title_case(name: str) -> str:
    return "-".join(word.capitalize() for word in name.split("-"))
