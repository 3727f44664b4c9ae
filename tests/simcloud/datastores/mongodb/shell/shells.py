"""Running the shells inside the database's own container."""

from __future__ import annotations

from typing import NamedTuple

from simcloud.datastores.mongodb.shell import mongo, mongosh
from simcloud.machine.process.streams import ByteSource, Capture
from tests.simcloud.datastores.mongodb.world import MongoWorld


class Ended(NamedTuple):
    """What a shell wrote and how it ended."""

    status: int
    out: str
    err: str


class Terminal(ByteSource):
    """Input that is a terminal."""

    isatty = True


class ShellWorld(MongoWorld):
    """A server with both shells beside it."""

    def __init__(self, *args: str) -> None:
        super().__init__(*args, programs={"mongo": mongo, "mongosh": mongosh})

    def shell(self, *argv: str, stdin: str = "", terminal: bool = False) -> Ended:
        """Run a command line in the server's container to its end."""
        out, err = Capture(), Capture()
        source = Terminal if terminal else ByteSource
        process = self.machine.containers["store"].start(
            list(argv), streams={0: source(stdin.encode()), 1: out, 2: err}
        )
        status = self.kernel.run_task(self.kernel.spawn(process.wait(), "shell"))
        return Ended(status, out.data.decode(), err.data.decode())

    def typed(self, *lines: str, shell: str = "mongo", db: str = "test") -> str:
        """What a quiet shell prints for these lines."""
        return self.shell(shell, "--quiet", db, stdin="\n".join(lines) + "\n").out

    def evaluated(self, script: str, *args: str, shell: str = "mongo") -> str:
        """What a quiet shell prints for a script on its command line."""
        ended = self.shell(shell, "--quiet", *args, "--eval", script)
        return ended.out + ended.err
