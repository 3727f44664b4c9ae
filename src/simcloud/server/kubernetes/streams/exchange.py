"""An HTTP/1.1 response, read from a connection to a pod with limits of size and time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from simcloud.kubernetes.api import ApiError, Forward, Pending, ServiceUnavailable
from simcloud.server.kubernetes.context import AppContext

PATIENCE_S: Final = 30.0
LIMIT_BYTES: Final = 32 << 20
HEAD_BYTES: Final = 1 << 20
CHUNK_HEAD_BYTES: Final = 4_096


@dataclass(frozen=True, slots=True)
class Answer:
    """The response."""

    code: int
    headers: list[tuple[str, str]]
    body: bytes


class AnswerReader:
    """Parses the bytes of one response. Raises ``ValueError`` if they are invalid."""

    def __init__(self, is_head: bool) -> None:
        self._is_head = is_head
        self._held = bytearray()
        self._ended = False
        self._code = 0
        self._headers: list[tuple[str, str]] = []
        self._chunks: list[bytes] | None = None
        self._length: int | None = None

    def feed(self, data: bytes) -> Answer | None:
        """More bytes; the answer, once it is whole."""
        self._held += data
        while not self._code:
            if not self._read_head():
                if len(self._held) > HEAD_BYTES:
                    raise ValueError("net/http: HTTP/1.x transport connection broken: header too long")
                return None
        body = self._read_body()
        return None if body is None else Answer(self._code, self._headers, body)

    def end(self) -> Answer | None:
        """There are no more bytes; the answer, if that makes it whole."""
        self._ended = True
        return self.feed(b"")

    def _read_head(self) -> bool:
        """Return whether the head is there. An interim answer is passed over."""
        end = self._held.find(b"\r\n\r\n")
        if end < 0:
            return False
        first, *lines = self._held[:end].decode("latin-1").split("\r\n")
        del self._held[: end + 4]
        words = first.split(" ", 2)
        if len(words) < 2 or not words[0].startswith("HTTP/1.") or not _is_code(words[1]):
            raise ValueError(f'malformed HTTP response "{first[:80]}"')
        if int(words[1]) < 200 and words[1] != "101":
            return True
        self._code = int(words[1])
        self._headers = [
            (name.strip(), value.strip()) for name, _, value in (line.partition(":") for line in lines)
        ]
        named = {name.lower(): value for name, value in self._headers}
        length = named.get("content-length", "")
        if self._is_head or self._code in (101, 204, 304):
            self._length = 0
        elif named.get("transfer-encoding", "").lower() == "chunked":
            self._chunks = []
        elif length.isascii() and length.isdecimal() and len(length) < 12:
            self._length = int(length)
        return True

    def _read_body(self) -> bytes | None:
        if self._chunks is not None:
            return self._read_chunks(self._chunks)
        if self._length is not None:
            return bytes(self._held[: self._length]) if len(self._held) >= self._length else None
        return bytes(self._held) if self._ended else None

    def _read_chunks(self, chunks: list[bytes]) -> bytes | None:
        while (end := self._held.find(b"\r\n", 0, CHUNK_HEAD_BYTES)) >= 0:
            said = bytes(self._held[:end]).partition(b";")[0].strip()
            if not said or not all(digit in b"0123456789abcdefABCDEF" for digit in said):
                raise ValueError("invalid byte in chunk length")
            size, start = int(said, 16), end + 2
            if size == 0:
                return b"".join(chunks)
            if len(self._held) < start + size + 2:
                return None
            chunks.append(bytes(self._held[start : start + size]))
            del self._held[: start + size + 2]
        if len(self._held) >= CHUNK_HEAD_BYTES:
            raise ValueError("chunk length too long")
        return None


class Exchange:
    """Collects the data of a forward until the response is complete."""

    def __init__(self, app: AppContext, forward: Forward, is_head: bool) -> None:
        self._app = app
        self._forward = forward
        self._reader = AnswerReader(is_head)
        self._answer: Answer | None = None
        self._why: str | None = None
        self._held_bytes = 0
        self._pending = Pending(app.api.kernel)
        forward.on_data, forward.on_end = self._take, self._end

    async def answer(self, host: str) -> Answer:
        """Return the response, or raise the error of a failed dial."""
        late = f"dial tcp {host}: i/o timeout"
        timer = self._app.api.kernel.call_later(PATIENCE_S, lambda _: self._finish(None, late))
        if not self._pending.done:
            await self._app.wait_for(self._pending)
        timer.cancel()
        if self._answer is None:
            raise _unreachable(_reason(host, self._why or ""))
        return self._answer

    def close(self) -> None:
        """Close the forward; further data is ignored."""
        self._forward.on_data = self._forward.on_end = None
        self._forward.close()

    def _take(self, data: bytes) -> None:
        self._held_bytes += len(data)
        if self._held_bytes > LIMIT_BYTES:
            self._finish(None, "http: response body too large")
            return
        try:
            found = self._reader.feed(data)
        except ValueError as error:
            self._finish(None, str(error))
            return
        if found is not None:
            self._finish(found, "")

    def _end(self, why: str) -> None:
        try:
            self._finish(self._reader.end(), why)
        except ValueError as error:
            self._finish(None, str(error))

    def _finish(self, found: Answer | None, why: str) -> None:
        if not self._pending.done:
            self._answer, self._why = found, why
            self._pending.give(None)
            self.close()


def _is_code(word: str) -> bool:
    return len(word) == 3 and word.isascii() and word.isdecimal() and word >= "100"


def _reason(host: str, why: str) -> str:
    """Shorten the node's message to that of a failed dial."""
    for words in ("connection refused", "no route to host", "connection reset by peer"):
        if words in why:
            return f"dial tcp {host}: connect: {words}"
    return why or "EOF"


def _unreachable(why: str) -> ApiError:
    return ServiceUnavailable(f"error trying to reach service: {why}")
