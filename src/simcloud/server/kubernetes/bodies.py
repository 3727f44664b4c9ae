"""Bodies of requests: read with limits, and decoded by their media type."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from starlette.requests import ClientDisconnect, Request

from simcloud.kubernetes.api import ApiError, BadRequest, Resource, TooLarge, UnsupportedMediaType
from simcloud.kubernetes.api.patch import PatchType, read_patch
from simcloud.kubernetes.api.schema import read_body
from simcloud.server.kubernetes.negotiation import JSON, PROTOBUF, YAML
from simcloud.server.kubernetes.protobuf import decode
from simcloud.server.request_bodies import read_limited_body

LIMIT_BYTES: Final = 3 * 1024 * 1024
BODY: Final = "aiopslab.body"
"""The scope key of the body of a request that came over no socket."""

PATIENCE_S: Final = 30.0
"""Maximum time that a client may take to send its body."""


async def read(request: Request) -> bytes:
    """Read the whole body. Reject one that is too large or too slow."""
    here: bytes | None = request.scope.get(BODY)
    if here is not None:
        if len(here) > LIMIT_BYTES:
            raise _too_large()
        return here
    said = request.headers.get("content-length", "")
    if said.isdigit() and int(said) > LIMIT_BYTES:
        raise _too_large()
    try:
        async with asyncio.timeout(PATIENCE_S):
            held = await read_limited_body(request, LIMIT_BYTES)
    except TimeoutError:
        raise BadRequest("the request body did not arrive in time; send it again") from None
    except ClientDisconnect:
        raise BadRequest("unexpected EOF") from None
    if held is None:
        raise _too_large()
    return held


def media_type(request: Request) -> str:
    """Return the media type of the body, by default JSON."""
    said = request.headers.get("content-type", "")
    return said.partition(";")[0].strip().lower() or JSON


def understand(body: bytes, media: str, resource: Resource) -> tuple[Any, list[str]]:
    """Decode a body; return the data and its duplicate fields."""
    if media == PROTOBUF and resource.custom is None:
        return decode(body, (resource.group, resource.version, resource.kind)), []
    if media in (JSON, YAML):
        return read_body(body, resource.kind, media)
    raise UnsupportedMediaType(
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json, application/yaml, application/vnd.kubernetes.protobuf"
    )


def understand_patch(body: bytes, kind: PatchType, resource: Resource) -> tuple[Any, list[str]]:
    """Decode a patch; return the data and its duplicate fields."""
    if kind is PatchType.APPLY:
        return read_body(body, resource.kind, YAML)
    return read_patch(body, kind), []


def _too_large() -> ApiError:
    return TooLarge(f"Request entity too large: limit is {LIMIT_BYTES}")
