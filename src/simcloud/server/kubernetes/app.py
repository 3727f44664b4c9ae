"""The Kubernetes API over HTTP: an ASGI application around an ``Api``.

A request is authenticated and authorized, and then served at one instant of virtual time. No client input ends the
server: an API error is a Status, and an internal error is a 500 that is logged without the request's body or token.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from simcloud.kubernetes import ApiClient, bearer_token
from simcloud.kubernetes.api import (
    Api,
    ApiError,
    InternalError,
    MethodNotAllowed,
    NoSuchPath,
    NotAcceptable,
    Pending,
    Resource,
)
from simcloud.server.kubernetes import non_resource, objects, streams
from simcloud.server.kubernetes.live import Pace, Signal
from simcloud.server.kubernetes.negotiation import Form, choose, wants_pretty
from simcloud.server.kubernetes.paths import Target, read_target
from simcloud.server.kubernetes.responses import refusal

log = logging.getLogger("simcloud.server")

METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class KubernetesApp:
    """Serves one cluster. ``live`` advances the world to the present before each request."""

    def __init__(self, api: Api, live: Pace, address: str = "") -> None:
        self.api = api
        self.live = live
        self.address = address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request (ASGI)."""
        if scope["type"] == "websocket":
            await streams.serve(self, scope, receive, send)
        elif scope["type"] == "http":
            response = await self.respond(Request(scope, receive))
            response.headers.setdefault("cache-control", "no-cache, private")
            await response(scope, receive, send)

    async def respond(self, request: Request) -> Response:
        """Answer one request of any kind."""
        try:
            self.live.catch_up()
            target = read_target(request.method, request.scope["path"], request.query_params)
            return await self._serve(request, target, self.authorize(request, target))
        except NoSuchPath:
            return _not_found()
        except ApiError as error:
            return refusal(error, _form_of_refusal(request))
        except Exception:
            log.exception("%s %s failed", request.method, request.scope["path"])
            return refusal(InternalError("the server met an error of its own; it is in the server's log"))

    def signal(self) -> Signal:
        """Return a new signal for a stream to wait on."""
        return asyncio.Event()

    async def wait_for(self, pending: Pending) -> None:
        """Wait for an answer from inside the world."""
        arrived = asyncio.Event()
        pending.on_done = arrived.set
        self.live.poke()
        await arrived.wait()

    def authorize(self, request: HTTPConnection, target: Target) -> ApiClient:
        """Return the client of a request's bearer token after checking its permission for the path."""
        token = bearer_token(request.headers.get("authorization", ""))
        acting = {
            name: request.headers.getlist(name) for name in request.headers if name.startswith("impersonate-")
        }
        client = ApiClient.authenticate(self.api, token, impersonation=acting)
        client.authorize(
            target.verb,
            group=target.group,
            version=target.version,
            plural=target.plural,
            subresource=target.subresource,
            namespace=target.namespace,
            name=target.name,
            path=None if target.is_resource else target.path,
        )
        return client

    def resource(self, target: Target) -> Resource:
        """Return the resource of a path, which must support the verb."""
        found = self.api.catalogue.at(target.group, target.version, target.plural)
        if found is None or (target.namespace and not found.namespaced and not target.is_namespace):
            raise NoSuchPath
        if target.subresource:
            if target.subresource not in found.subresources:
                raise NoSuchPath
        elif target.verb not in found.verbs:
            raise MethodNotAllowed
        return found

    async def _serve(self, request: Request, target: Target, client: ApiClient) -> Response:
        if request.method not in METHODS:
            raise MethodNotAllowed
        if target.is_resource:
            return await objects.serve(self, request, target, client)
        found = non_resource.serve(self, request, target)
        if found is None:
            return _not_found()
        return found


def _not_found() -> Response:
    return PlainTextResponse("404 page not found\n", 404, {"x-content-type-options": "nosniff"})


def _form_of_refusal(request: Request) -> Form:
    """Return the requested form, if a Status supports it."""
    pretty = wants_pretty(request.query_params, request.headers.get("user-agent", ""))
    try:
        return choose(request.headers.get("accept", ""), transforms=False, protobuf=True, pretty=pretty)
    except NotAcceptable:
        return Form(pretty=pretty)
