"""A request to Consul's HTTP API, and the errors that several endpoints answer with."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import Struct

from simcloud.machine.network import HttpRequest
from simcloud.services.rpc.http import target_of

MAX_BODY_BYTES: Final = 512 * 1024
MAX_URL: Final = 1_000


class Refused(Exception):
    """A request that Consul rejects: the status and the text of the response."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class UnknownService(Refused):
    """No service of this agent has the id."""

    def __init__(self, id: str) -> None:
        words = "Ensure that the service ID is passed, not the service name."
        super().__init__(404, f'Unknown service ID "{id}". {words}')


class ApiRequest(Struct):
    """A parsed request. ``path`` is decoded; ``url`` is as the log shows it."""

    method: str
    path: str
    params: dict[str, str]
    body: bytes
    url: str

    def json(self) -> dict[str, Any]:
        """Decode the body, a JSON object, with its names in lower case. Raise ``Refused`` if it is not one."""
        if len(self.body) > MAX_BODY_BYTES:
            raise Refused(413, "Request body too large")
        try:
            document = msgspec.json.decode(self.body or b"null")
        except (msgspec.DecodeError, RecursionError):
            raise Refused(400, f"Request decode failed: {_format_decode_error(self.body)}") from None
        if not isinstance(document, dict):
            raise Refused(400, "Request decode failed: EOF" if not self.body else "Request decode failed")
        return {str(name).lower(): value for name, value in document.items()}


def parse_request(request: HttpRequest) -> ApiRequest:
    """Parse the target of an HTTP request."""
    path, parameters = target_of(request)
    params = {name: values[-1] for name, values in parameters.items()}
    url = request.path[:MAX_URL].encode("utf-8", "replace").decode()
    return ApiRequest(request.method, path, params, request.body, url)


def _format_decode_error(body: bytes) -> str:
    if not body.strip():
        return "EOF"
    letter = body.lstrip()[:1].decode("utf-8", "replace")
    if letter in "{[":
        return "unexpected EOF"
    return f"invalid character '{letter}' looking for beginning of value"
