"""``proxy``: one HTTP exchange with a pod, or with a pod behind a service.

Requests and responses are not streamed. Upgrades, trailers and the rewriting of links are not supported. Of nodes, the
pages of the kubelet can be read.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from simcloud.kubernetes.api import (
    ApiError,
    BadRequest,
    MethodNotAllowed,
    NotFound,
    ServiceUnavailable,
    at,
)
from simcloud.server.kubernetes import bodies
from simcloud.server.kubernetes.context import AppContext
from simcloud.server.kubernetes.paths import Target
from simcloud.server.kubernetes.streams.backends import Backend, of_pod, of_service
from simcloud.server.kubernetes.streams.exchange import Answer, Exchange

_METHODS: Final = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
_OWN_HEADERS: Final = frozenset(
    {
        "authorization", "connection", "content-length", "host", "keep-alive", "proxy-authenticate",
        "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade",
    }
)  # fmt: skip
"""What belongs to a connection, or to the API server, and is not passed on."""


async def proxy(app: AppContext, request: Request, target: Target) -> Response:
    """Pass a request on and answer with what comes back."""
    if request.method not in _METHODS:
        raise MethodNotAllowed
    if target.plural == "nodes":
        return _ask_node(app, target)
    backend = _backend(app, target)
    body = await bodies.read(request)
    answer = await _exchange(app, backend, _request(request, target, backend, body), request.method == "HEAD")
    response = Response(answer.body, answer.code)
    for name, value in answer.headers:
        if name.lower() not in _OWN_HEADERS:
            response.raw_headers.append((name.lower().encode("latin-1"), value.encode("latin-1")))
    return response


def _backend(app: AppContext, target: Target) -> Backend:
    scheme, name, port = _split_name(target)
    resource = app.api.catalogue.find(target.plural)
    found = app.api.log.get(app.api.key(resource, target.namespace, name))
    if found is None:
        raise NotFound(resource, name)
    if target.plural == "services":
        slices = app.api.log.objects("discovery.k8s.io", "endpointslices", target.namespace)
        return of_service(app.api, found, slices, port)
    return of_pod(found, port, scheme)


def _split_name(target: Target) -> tuple[str, str, str]:
    """``https:web:443`` names a scheme, an object and a port; only the object must be there."""
    parts = target.name.split(":")
    if len(parts) == 1:
        return "", parts[0], ""
    if len(parts) == 2 and parts[0]:
        return "", parts[0], parts[1]
    if len(parts) == 3 and parts[0] in ("", "http", "https") and parts[1]:
        return parts[0], parts[1], parts[2]
    raise BadRequest(f'invalid {target.plural.removesuffix("s")} request "{target.name}"')


def _ask_node(app: AppContext, target: Target) -> Response:
    """Get a page of a node's kubelet, with the API server's own rights there."""
    _, name, port = _split_name(target)
    resource = app.api.catalogue.find(target.plural)
    node = app.api.log.get(app.api.key(resource, "", name))
    if node is None:
        raise NotFound(resource, name)
    if app.api.runtime is None:
        known = {each["type"]: each["address"] for each in at(node, "status", "addresses", default=[])}
        address = f"{known.get('InternalIP') or name}:{port or '10250'}"
        raise ServiceUnavailable(
            f"error trying to reach service: dial tcp {address}: connect: connection refused"
        )
    path = f"/{target.rest}" + ("/" if target.rest and target.path.endswith("/") else "")
    try:
        answer = app.api.runtime.ask_node(name, port, path)
    except ApiError as error:
        raise ServiceUnavailable(error.message) from None
    return Response(answer.body, answer.status, dict(answer.headers))


def _request(request: Request, target: Target, backend: Backend, body: bytes) -> bytes:
    path = "/" + quote(target.rest, safe="/%:@!$&'()*+,;=~-._")
    if target.rest and target.path.endswith("/"):
        path += "/"
    query = f"?{request.url.query}" if request.url.query else ""
    lines = [f"{request.method} {path}{query} HTTP/1.1", f"Host: {backend.host}"]
    lines += [f"{name}: {value}" for name, value in request.headers.items() if name not in _OWN_HEADERS]
    lines += [f"Content-Length: {len(body)}"] if body else []
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1", "replace") + body


async def _exchange(app: AppContext, backend: Backend, request: bytes, is_head: bool) -> Answer:
    runtime = app.api.runtime
    if runtime is None:
        raise ServiceUnavailable(
            f"error trying to reach service: dial tcp {backend.host}: connect: no route to host"
        )
    try:
        forward = runtime.forward(backend.pod, backend.port)
    except ApiError as error:
        raise ServiceUnavailable(f"error trying to reach service: {error.message}") from None
    exchange = Exchange(app, forward, is_head)
    forward.write(request)
    app.live.poke()
    try:
        return await exchange.answer(backend.host)
    finally:
        exchange.close()
        app.live.poke()
