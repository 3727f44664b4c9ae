"""Bodies of requests, read within a bound."""

from __future__ import annotations

from starlette.requests import Request


async def bounded_body(request: Request, limit_bytes: int) -> bytes | None:
    """The whole body; None when it is longer. Raises ``ClientDisconnect`` when the client goes away."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit_bytes:
            return None
    return bytes(body)
