"""One client of a server: its database, its transaction, what it listens to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from simcloud.datastores.redis.messages import Words
from simcloud.datastores.redis.replies import Reply

if TYPE_CHECKING:
    from simcloud.datastores.redis.acl import User
    from simcloud.datastores.redis.commands.table import Command
    from simcloud.datastores.redis.engine.database import Database
    from simcloud.datastores.redis.state import ServerState


class Client:
    """A connection as the server knows it. ``push`` sends what the client did not ask for."""

    def __init__(
        self,
        server: ServerState,
        number: int,
        address: str,
        local_address: str,
        push: Callable[[Reply], None],
    ) -> None:
        self.server = server
        self.number = number
        self.address = address
        self.local_address = local_address
        self.push = push
        self.name = b""
        self.db: Database = server.databases[0]
        self.user: User = server.users.default
        self.authenticated = self.user.is_open
        self.queue: list[tuple[Command, Words]] | None = None
        self.queue_broken = False
        self.watched_changed = False
        self.watching: list[tuple[Database, bytes, Callable[[], None]]] = []
        self.channels: dict[bytes, None] = {}
        self.patterns: dict[bytes, None] = {}
        self.monitoring = False
        self.closing = False
        self.created = server.clock()
        self.last_active = self.created
        self.last_command = "NULL"
        self.propagated: list[Words] | None = None

    @property
    def subscriptions(self) -> int:
        """To how many channels and patterns it listens."""
        return len(self.channels) + len(self.patterns)

    def propagate(self, *commands: Words) -> None:
        """What the append-only file is to hold instead of the command being worked off."""
        self.propagated = list(commands)

    def forget_watches(self) -> None:
        """Watch nothing any more."""
        for db, key, told in self.watching:
            callbacks = db.watched.get(key)
            if callbacks is not None and told in callbacks:
                callbacks.remove(told)
                if not callbacks:
                    del db.watched[key]
        self.watching = []
        self.watched_changed = False

    def end_transaction(self) -> None:
        """Neither queue nor watch any more."""
        self.queue = None
        self.queue_broken = False
        self.forget_watches()
