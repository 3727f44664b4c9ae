"""One request to Consul's HTTP API, and the refusals that are the same everywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import msgspec

from simcloud.machine.network.http import HttpRequest
from simcloud.services.request_target import target_of

MAX_BODY_BYTES: Final = 512 * 1024
MAX_URL: Final = 1_000


class Refused(Exception):
    """A request that Consul does not carry out: a status and its plain text."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class UnknownService(Refused):
    """No service of this agent has the id."""

    def __init__(self, id: str) -> None:
        words = "Ensure that the service ID is passed, not the service name."
        super().__init__(404, f'Unknown service ID "{id}". {words}')


@dataclass(slots=True)
class Ask:
    """A request: its path, decoded, and its parameters; ``url`` is what stands in the log."""

    method: str
    path: str
    params: dict[str, str]
    body: bytes
    url: str

    def json(self) -> dict[str, Any]:
        """The body as an object; ``Refused`` when it is none."""
        if len(self.body) > MAX_BODY_BYTES:
            raise Refused(413, "Request body too large")
        try:
            document = msgspec.json.decode(self.body or b"null")
        except (msgspec.DecodeError, RecursionError):
            raise Refused(400, f"Request decode failed: {_complaint(self.body)}") from None
        if not isinstance(document, dict):
            raise Refused(400, "Request decode failed: EOF" if not self.body else "Request decode failed")
        return {str(name).lower(): value for name, value in document.items()}


def read_ask(request: HttpRequest) -> Ask:
    """What an HTTP request asks."""
    path, parameters = target_of(request)
    params = {name: values[-1] for name, values in parameters.items()}
    url = request.path[:MAX_URL].encode("utf-8", "replace").decode()
    return Ask(request.method, path, params, request.body, url)


def _complaint(body: bytes) -> str:
    if not body.strip():
        return "EOF"
    letter = body.lstrip()[:1].decode("utf-8", "replace")
    if letter in "{[":
        return "unexpected EOF"
    return f"invalid character '{letter}' looking for beginning of value"
