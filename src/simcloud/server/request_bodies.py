"""Bodies of requests, read with a size limit."""

from __future__ import annotations

from starlette.requests import Request


async def read_limited_body(request: Request, limit_bytes: int) -> bytes | None:
    """Read the whole body; return None if it is longer. Raise ``ClientDisconnect`` if the client disconnects."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit_bytes:
            return None
    return bytes(body)
