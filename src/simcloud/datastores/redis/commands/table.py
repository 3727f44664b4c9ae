"""The command table, the decorator that fills it, and the call of a command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from simcloud.datastores.redis.resp import RedisError, Reply, Simple, Words, quote
from simcloud.datastores.redis.state import Client

Handler = Callable[[Client, Words], Reply]


class Command(Struct, frozen=True):
    """A command. ``arity`` includes the name; negative means at least. ``keys`` is first, last, step; first 0: no keys."""

    name: str
    handler: Handler
    arity: int
    flags: frozenset[str]
    keys: tuple[int, int, int]
    write: bool
    deny_oom: bool

    def fits(self, count: int) -> bool:
        """Return whether the command may have that number of words."""
        return count == self.arity if self.arity > 0 else count >= -self.arity

    def keys_of(self, words: Words) -> Words:
        """Return the keys among the arguments."""
        first, last, step = self.keys
        if not first:
            return []
        stop = last + 1 if last >= 0 else len(words) + last + 1
        return words[first:stop:step]


COMMANDS: Final[dict[bytes, Command]] = {}


def command(
    name: str, arity: int, flags: str = "", keys: tuple[int, int, int] = (0, 0, 0)
) -> Callable[[Handler], Handler]:
    """Register a handler under a name."""

    def register(handler: Handler) -> Handler:
        marks = frozenset(flags.split())
        made = Command(name, handler, arity, marks, keys, "write" in marks, "denyoom" in marks)
        COMMANDS[name.encode()] = made
        return handler

    return register


ONE: Final = (1, 1, 1)
TWO: Final = (1, 2, 1)
ALL: Final = (1, -1, 1)


def call(client: Client, command: Command, words: Words) -> Reply:
    """Run a command that is allowed: count it, append it to the append-only file, and notify monitors."""
    server = client.server
    if server.monitors and "admin" not in command.flags and command.name != "exec":
        _notify_monitors(client, words)
    account = server.account
    before = account.changes
    client.propagated = None
    try:
        reply = command.handler(client, words)
    except RedisError as error:
        reply = error.reply
        server.failed_calls[command.name] += 1
        server.errors[str(error).partition(" ")[0]] += 1
    server.calls[command.name] += 1
    if account.changes != before and command.name != "exec":
        server.disk.append(client.db, [words] if client.propagated is None else client.propagated)
    return reply


def _notify_monitors(client: Client, words: Words) -> None:
    server = client.server
    text = " ".join([quote(word) for word in words])
    line = Simple(f"{server.clock():.6f} [{client.db.number} {client.address}] {text}")
    for monitor in list(server.monitors.values()):
        monitor.push(line)
