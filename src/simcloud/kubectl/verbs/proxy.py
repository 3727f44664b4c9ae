"""``kubectl proxy``: serves the API on a local port, with the user's own credentials."""

from __future__ import annotations

import re
from typing import Final

from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.raw import build_credentials
from simcloud.kubectl.session import Kubectl
from simcloud.machine.network import HttpRequest, HttpResponse, NetworkError, respond, serve_http
from simcloud.sim import Event

EXAMPLES: Final = ("kubectl proxy --port=8080 &", "kubectl proxy --address=0.0.0.0 --accept-hosts='.*'")
FORBIDDEN: Final = 403
BAD_GATEWAY: Final = 502


@command("proxy", "Serve the API on a local port", examples=EXAMPLES)
async def proxy(kubectl: Kubectl) -> None:
    """Pass requests on to the API server until the command is ended."""
    if kubectl.args:
        raise KubectlError(f"unexpected arguments: {kubectl.args}")
    await kubectl.connect(discoveries=0)
    flags = kubectl.flags
    address, port = flags["address"], flags["port"]

    async def answer(request: HttpRequest) -> HttpResponse:
        if not _is_accepted(kubectl, request):
            return respond(FORBIDDEN, "Forbidden")
        headers = {**request.headers, **build_credentials(kubectl)}
        try:
            return await kubectl.exchange(HttpRequest(request.method, request.path, headers, request.body))
        except NetworkError as error:
            return respond(BAD_GATEWAY, f"Error trying to reach service: {error}")

    try:
        listener = serve_http(kubectl.ctx, port, answer, address=address)
    except NetworkError as error:
        raise KubectlError(f"listen tcp {address}:{port}: bind: {str(error).lower()}") from None
    await kubectl.out(f"Starting to serve on {address}:{listener.port}\n")
    await Event[None](kubectl.ctx.kernel).wait()


def _is_accepted(kubectl: Kubectl, request: HttpRequest) -> bool:
    """Return whether the filter lets a request through: by its host, path and method."""
    flags = kubectl.flags
    if flags["disable-filter"]:
        return True
    host, path = request.headers.get("Host", ""), request.path.partition("?")[0]
    host = host.rpartition(":")[0] if re.search(r":\d+$", host) else host
    return (
        _matches(flags["accept-hosts"], host)
        and _matches(flags["accept-paths"], path)
        and not _matches(flags["reject-paths"], path)
        and not _matches(flags["reject-methods"], request.method)
    )


def _matches(patterns: str, text: str) -> bool:
    try:
        return any(re.search(pattern, text) for pattern in patterns.split(","))
    except re.error as error:
        raise KubectlError(f"error parsing regexp: {error}") from None
