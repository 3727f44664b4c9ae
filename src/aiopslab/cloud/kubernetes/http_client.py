"""An HTTP/1.1 client for asyncio: requests over connections that are kept, and responses that are read while they arrive.

It has what a client of Kubernetes and the users of an application need. There are no redirects, cookies or proxies.
"""

from __future__ import annotations

import asyncio
import ssl
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import httptools

READ_BYTES: Final = 256 << 10
LIMIT_BYTES: Final = 256 << 20
"""Maximum size of a response that is not read while it arrives."""
MAX_IDLE: Final = 32
CONNECT_S: Final = 10.0
SAFE: Final = frozenset({"GET", "HEAD"})
"""Methods of requests that may be sent again if a kept connection turns out to be closed."""


class HttpFailed(Exception):
    """There was no response. ``kind`` says what failed: connect, write or read."""

    def __init__(self, kind: Literal["connect", "write", "read"], why: str) -> None:
        super().__init__(f"{kind}: {why}")
        self.kind = kind


@dataclass
class Answer:
    """A response."""

    status: int
    headers: dict[str, str]
    body: bytes = b""


@dataclass
class _Reading:
    """The parts of a response that the parser has found."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    parts: deque[bytes] = field(default_factory=deque)
    has_head: bool = False
    is_complete: bool = False
    keeps_alive: bool = False
    parser: Any = None

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self.status = self.parser.get_status_code()
        self.has_head = True

    def on_body(self, data: bytes) -> None:
        self.parts.append(data)

    def on_message_complete(self) -> None:
        self.is_complete = True
        self.keeps_alive = self.parser.should_keep_alive()


class _Connection:
    """One connection, which carries one exchange at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.is_reused = False
        self.is_kept = False
        self._reading = _Reading()

    async def send(self, request: bytes) -> None:
        """Send a request."""
        self._reading = _Reading()
        self._reading.parser = httptools.HttpResponseParser(self._reading)
        try:
            self._writer.write(request)
            await self._writer.drain()
        except OSError as error:
            raise HttpFailed("write", str(error) or type(error).__name__) from None

    async def read_head(self) -> Answer:
        """Return status and headers of the response."""
        while not self._reading.has_head:
            if not await self._read_more():
                raise HttpFailed("read", "the connection was closed before a response came")
        return Answer(self._reading.status, self._reading.headers)

    async def read_parts(self) -> AsyncIterator[bytes]:
        """Yield the parts of the body as they arrive."""
        reading = self._reading
        while True:
            while reading.parts:
                yield reading.parts.popleft()
            if reading.is_complete:
                self.is_kept = reading.keeps_alive
                return
            if not await self._read_more():
                if "content-length" in reading.headers or "transfer-encoding" in reading.headers:
                    raise HttpFailed("read", "the connection was closed within a response")
                return

    async def _read_more(self) -> bool:
        try:
            data = await self._reader.read(READ_BYTES)
        except OSError as error:
            raise HttpFailed("read", str(error) or type(error).__name__) from None
        if data:
            try:
                self._reading.parser.feed_data(data)
            except httptools.HttpParserError as error:
                raise HttpFailed("read", f"the response is malformed ({error})") from None
        return bool(data)

    def close(self) -> None:
        """Close it."""
        self._writer.close()


class HttpClient:
    """A client of one server. Use it in one event loop only."""

    def __init__(
        self, url: str, tls: ssl.SSLContext | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        """``url`` may have a path, which is put before that of each request; ``headers`` are sent with all requests."""
        parts = urlsplit(url)
        is_secure = parts.scheme == "https"
        self.host = parts.hostname or ""
        self.port = parts.port or (443 if is_secure else 80)
        self._place = f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
        self._prefix = parts.path.rstrip("/")
        self._tls = (tls or ssl.create_default_context()) if is_secure else None
        self._headers = dict(headers or {})
        self._idle: list[_Connection] = []

    async def request(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send a request and return the whole response; raises ``HttpFailed``."""
        async with self.stream(method, path, body, headers) as (answer, parts):
            chunks, size = [], 0
            async for part in parts:
                chunks.append(part)
                size += len(part)
                if size > LIMIT_BYTES:
                    raise HttpFailed("read", f"the response has more than {LIMIT_BYTES} bytes")
            answer.body = b"".join(chunks)
            return answer

    @asynccontextmanager
    async def stream(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> AsyncIterator[tuple[Answer, AsyncIterator[bytes]]]:
        """Send a request; yield the head of the response, and its body in parts. Raises ``HttpFailed``."""
        connection, answer = await self._begin(method, path, body, headers or {})
        try:
            yield answer, connection.read_parts()
        finally:
            if connection.is_kept and len(self._idle) < MAX_IDLE:
                connection.is_reused, connection.is_kept = True, False
                self._idle.append(connection)
            else:
                connection.close()

    async def _begin(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str]
    ) -> tuple[_Connection, Answer]:
        request = self._format(method, path, body, headers)
        while True:
            connection = self._idle.pop() if self._idle else await self._connect()
            try:
                await connection.send(request)
                return connection, await connection.read_head()
            except HttpFailed:
                connection.close()
                if not (connection.is_reused and method in SAFE):
                    raise
            except BaseException:
                connection.close()
                raise

    def _format(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> bytes:
        sent = {"Host": self._place, **self._headers, **headers}
        if body or method in ("POST", "PUT", "PATCH"):
            sent["Content-Length"] = str(len(body))
        lines = [
            f"{method} {self._prefix}{path} HTTP/1.1",
            *(f"{name}: {value}" for name, value in sent.items()),
        ]
        return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace") + body

    async def _connect(self) -> _Connection:
        name = self.host if self._tls is not None else None
        try:
            async with asyncio.timeout(CONNECT_S):
                streams = await asyncio.open_connection(
                    self.host, self.port, ssl=self._tls, server_hostname=name, limit=READ_BYTES
                )
        except TimeoutError:
            raise HttpFailed(
                "connect", f"{self._place} did not accept a connection in {CONNECT_S:g} s"
            ) from None
        except (OSError, ssl.SSLError) as error:
            raise HttpFailed("connect", f"{self._place}: {error.strerror or error}") from None
        return _Connection(*streams)

    def close(self) -> None:
        """Close the connections that are kept."""
        while self._idle:
            self._idle.pop().close()
