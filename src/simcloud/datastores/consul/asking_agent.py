"""How the commands of ``consul`` ask their agent, and the words for its silence."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Final

import msgspec

from simcloud.machine.process import Context
from simcloud.services.rpc.http import HttpClient, HttpError

DEFAULT_SERVER: Final = "127.0.0.1:8500"
Flags = dict[str, str]


class Failed(Exception):
    """A command came to nothing; the text is for stderr."""


class Asking:
    """Requests to the agent, in the words of Consul's Go client."""

    def __init__(self, ctx: Context, flags: Flags) -> None:
        server = flags.get("http-addr") or ctx.env.get("CONSUL_HTTP_ADDR") or DEFAULT_SERVER
        self._server = server.removeprefix("http://")
        self._http = HttpClient(ctx, timeout_s=60.0)

    async def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        """Status and body; ``Failed`` when there is no answer or a bad one."""
        try:
            response = await self._http.request(method, f"http://{self._server}{path}", body)
        except (HttpError, ValueError, KeyError) as error:
            raise Failed(str(error)) from None
        if response.status not in (200, 404) or (response.status == 404 and response.body):
            text = response.body.decode("utf-8", "replace")
            raise Failed(f"Unexpected response code: {response.status} ({text})")
        return response.status, response.body

    async def json(self, path: str) -> Any:
        """What an address answers, decoded."""
        _, body = await self.ask("GET", path)
        return msgspec.json.decode(body or b"null")


async def prefix_failure(what: str, work: Awaitable[Any]) -> Any:
    """Return the result; the message of a failure begins with ``what``."""
    try:
        return await work
    except Failed as failure:
        raise Failed(f"{what}: {failure}") from None
