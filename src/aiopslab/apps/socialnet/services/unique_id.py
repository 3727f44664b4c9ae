"""unique-id-service: gives posts their ids."""

from __future__ import annotations

from typing import Final

from aiopslab.apps.socialnet.services.startup import Startup, program
from aiopslab.apps.socialnet.services.unique_ids import UniqueIds
from simcloud.services.rpc import Call

CPU_S: Final = 0.00008


async def main(startup: Startup) -> int:
    """Serve."""
    ids = UniqueIds(startup.ctx, startup.machine_id())

    async def compose(_call: Call) -> int:
        return ids.next()

    server = startup.server()
    server.method("ComposeUniqueId", compose, "compose_unique_id_server", CPU_S)
    return await startup.serve(server)


unique_id_service = program("unique-id-service", main)
