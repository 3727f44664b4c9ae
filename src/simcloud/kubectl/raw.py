"""``--raw``: sends a request to the API server over the machine's network and prints the response unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import msgspec

from simcloud.kubectl.errors import KubectlError, PlainError
from simcloud.kubernetes.api import ApiError
from simcloud.machine.files import FileError
from simcloud.machine.network import HttpRequest, NetworkError

if TYPE_CHECKING:
    from simcloud.kubectl.session import Kubectl

UNSAID: Final = {
    401: ("Unauthorized", "the server has asked for the client to provide credentials"),
    403: ("Forbidden", "the server does not allow access to the requested resource"),
    404: ("NotFound", "the server could not find the requested resource"),
    405: ("MethodNotAllowed", "the server does not allow this method on the requested resource"),
    503: ("ServiceUnavailable", "the server is currently unable to handle the request"),
}
"""What kubectl makes of answers that do not say it themselves."""


class Refused(ApiError):
    """A refusal that came over the network."""

    def __init__(self, code: int, reason: str, message: str, details: Any = None) -> None:
        super().__init__(message, details)
        self.code, self.reason = code, reason


async def raw(kubectl: Kubectl, path: str, method: str = "GET", body: bytes = b"") -> str:
    """The answer to a request; raises ``KubectlError`` or ``ApiError``."""
    if not path.startswith("/") and "://" not in path:
        raise KubectlError(f'--raw must be a valid URL path: parse "{path}": invalid URI for request')
    await kubectl.connect(discoveries=0)
    config = kubectl.config
    asked = urlsplit(path)
    target = asked.path + (f"?{asked.query}" if asked.query else "")
    headers = {"User-Agent": "kubectl", "Accept": "application/json, */*", "Content-Length": str(len(body))}
    request = HttpRequest(method, target or "/", {**headers, **build_credentials(kubectl)}, body)
    try:
        response = await kubectl.exchange(request)
    except NetworkError:
        raise PlainError(
            f'Unable to connect to the server: {method.title()} "{config.server}{path}": EOF'
        ) from None
    if not 200 <= response.status < 300:
        raise _refusal(response.status, response.body)
    text: str = response.body.decode(errors="replace")
    return text


def build_credentials(kubectl: Kubectl) -> dict[str, str]:
    """Return the headers that say which server is asked and by whom."""
    config = kubectl.config
    headers = {"Host": urlsplit(config.server).netloc}
    if config.token:
        headers["Authorization"] = f"Bearer {config.token}"
    for name, values in config.impersonate.items():
        headers[name.title()] = ", ".join(values)
    return headers


def _refusal(code: int, body: bytes) -> Refused:
    try:
        status = msgspec.json.decode(body)
    except msgspec.DecodeError:
        status = None
    if isinstance(status, dict) and status.get("kind") == "Status":
        return Refused(code, status.get("reason", ""), status.get("message", ""), status.get("details"))
    return Refused(code, *UNSAID.get(code, ("InternalError", body.decode(errors="replace"))))


async def raw_file(kubectl: Kubectl, method: str) -> str:
    """The answer to a request whose body is a file, or standard input."""
    names = kubectl.flags["filename"]
    if len(names) != 1:
        raise KubectlError("--raw can only use a single local file or stdin")
    try:
        body = await kubectl.input() if names[0] == "-" else await kubectl.ctx.read_file(names[0])
    except FileError as error:
        raise KubectlError(f"open {names[0]}: {error.strerror.lower()}") from None
    return await raw(kubectl, kubectl.flags["raw"], method, body)
