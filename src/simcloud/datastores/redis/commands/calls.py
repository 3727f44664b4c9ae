"""Running a command that is allowed: count it, write it down, tell those who monitor."""

from __future__ import annotations

from simcloud.datastores.redis.commands.table import Command
from simcloud.datastores.redis.messages import Words
from simcloud.datastores.redis.replies import RedisError, Reply, Simple
from simcloud.datastores.redis.resp import quoted
from simcloud.datastores.redis.state import Client


def call(client: Client, command: Command, words: Words) -> Reply:
    """Do it, count it, write it down, tell those who monitor."""
    server = client.server
    if server.monitors and "admin" not in command.flags and command.name != "exec":
        _tell_monitors(client, words)
    account = server.account
    before = account.changes
    client.propagated = None
    try:
        reply = command.handler(client, words)
    except RedisError as error:
        reply = error.reply
        server.failed_calls[command.name] += 1
        server.errors[str(error).partition(" ")[0]] += 1
    server.commands += 1
    server.calls[command.name] += 1
    if account.changes != before and command.name != "exec":
        server.disk.append(client.db, [words] if client.propagated is None else client.propagated)
    return reply


def _tell_monitors(client: Client, words: Words) -> None:
    server = client.server
    said = " ".join([quoted(word) for word in words])
    line = Simple(f"{server.clock():.6f} [{client.db.number} {client.address}] {said}")
    for monitor in list(server.monitors.values()):
        monitor.push(line)
