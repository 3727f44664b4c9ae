"""unique-id-service: generates ids of posts."""

from __future__ import annotations

from typing import Final

from aiopslab.apps.socialnet.services.startup import Startup, make_program
from aiopslab.apps.socialnet.services.unique_ids import UniqueIds
from simcloud.services.rpc import Call

CPU_S: Final = 0.00008


async def main(startup: Startup) -> int:
    """Run the service."""
    ids = UniqueIds(startup.ctx, startup.read_machine_id())

    async def compose(_call: Call) -> int:
        return ids.next()

    server = startup.create_server()
    server.method("ComposeUniqueId", compose, "compose_unique_id_server", CPU_S)
    return await startup.serve(server)


unique_id_service = make_program("unique-id-service", main)
