"""A cluster's HTTP application, asked without a socket: one call is one request."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import unquote

from simcloud.kubernetes.api.access.users import SYSTEM_MASTERS
from simcloud.kubernetes.api.api import Api
from simcloud.server.kubernetes.app import KubernetesApp
from simcloud.server.kubernetes.live import Live

TOKEN = "the-administrator"


class Still:
    """A world that does not move by itself: what a request finds depends on the requests before it only."""

    def catch_up(self) -> None:
        pass

    def poke(self) -> None:
        pass


@dataclass(frozen=True)
class Answer:
    """What came back."""

    code: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str:
        """A header's value, empty if there is none."""
        return next((value for key, value in self.headers if key == name), "")

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class Door:
    """Asks the application of an API; by default as the administrator."""

    def __init__(self, api: Api, meanwhile: Callable[[], object] = lambda: None) -> None:
        """``meanwhile`` happens in the world after the head of each answer."""
        self.api = api
        self.meanwhile = meanwhile
        api.tokens.accept(TOKEN, SYSTEM_MASTERS)
        self.app = KubernetesApp(api, cast(Live, Still()), "127.0.0.1:6443")

    def __call__(
        self, method: str, target: str, body: Any = b"", headers: Mapping[str, str] | None = None
    ) -> Answer:
        """One request by itself, outside any loop. A body that is not bytes is sent as JSON."""
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        all_headers = {"authorization": f"Bearer {TOKEN}", **(headers or {})}
        return asyncio.run(self.ask(method, target, sent, [*all_headers.items()]))

    async def ask(self, method: str, target: str, body: bytes, headers: list[tuple[str, str]]) -> Answer:
        """One request as a server would hand it on; a stream is left after its first part."""
        raw, _, query = target.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "https",
            "path": unquote(raw),
            "raw_path": raw.encode("ascii", "replace"),
            "root_path": "",
            "query_string": query.encode("ascii", "replace"),
            "headers": [
                (name.lower().encode("latin-1"), value.encode("latin-1", "replace"))
                for name, value in headers
            ],
            "server": ("127.0.0.1", 6443),
            "client": ("127.0.0.1", 50000),
        }
        parts = [body[: len(body) // 2], body[len(body) // 2 :]]
        code, answered, held = 0, [], bytearray()
        first_part = asyncio.Event()

        async def receive() -> dict[str, Any]:
            if parts:
                return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts)}
            try:
                async with asyncio.timeout(0.02):
                    await first_part.wait()
            except TimeoutError:
                pass
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            nonlocal code, answered
            if message["type"] == "http.response.start":
                code = message["status"]
                answered = [(name.decode(), value.decode("latin-1")) for name, value in message["headers"]]
                self.meanwhile()
            else:
                held.extend(message.get("body", b""))
                if held:
                    first_part.set()

        await self.app(scope, receive, send)
        return Answer(code, answered, bytes(held))
