"""media-service: the pictures of a post. It only combines ids and types."""

from __future__ import annotations

from typing import Any, Final

from aiopslab.apps.socialnet.messages import HANDLER, Media
from aiopslab.apps.socialnet.services.startup import Startup, make_program
from simcloud.datastores.mongodb import Int64
from simcloud.services.rpc import Call
from simcloud.services.rpc.thrift import ServiceError

CPU_S: Final = 0.00008


async def _compose(call: Call) -> list[dict[str, Any]]:
    media: Media = call.payload
    if len(media.types) != len(media.ids):
        raise ServiceError(HANDLER, "The lengths of media_id list and media_type list are not equal")
    return [
        {"media_id": Int64(id), "media_type": type} for id, type in zip(media.ids, media.types, strict=True)
    ]


async def main(startup: Startup) -> int:
    """Run the service."""
    server = startup.create_server()
    server.method("ComposeMedia", _compose, "compose_media_server", CPU_S)
    return await startup.serve(server)


media_service = make_program("media-service", main)
