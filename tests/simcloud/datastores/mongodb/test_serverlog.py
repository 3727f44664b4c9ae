"""mongod's log: what is said last is heard, too."""

from __future__ import annotations

from simcloud.datastores.mongodb.serverlog import ServerLog
from simcloud.machine.process import Context, Stream
from tests.simcloud.datastores.mongodb.world import MongoWorld


class Console(Stream):
    """Takes at once what is written, as a container's log does."""

    def __init__(self) -> None:
        super().__init__()
        self.taken = b""

    def write_at_once(self, data: bytes) -> bool:
        """Keep it."""
        self.taken += data
        return True


async def says_and_ends(ctx: Context) -> int:
    ServerLog(ctx).say("CONTROL", 23138, "main", "Shutting down", exitCode=0)
    return 0


def test_the_last_words_of_mongod_are_heard() -> None:
    world, console = MongoWorld(start=False), Console()
    container = world.machine.create_container("talker", world.image, address="10.1.0.77")
    container.start(["talker"], program=says_and_ends, streams={1: console})
    world.kernel.run_for(1)
    assert b'"msg":"Shutting down","attr":{"exitCode":0}' in console.taken
