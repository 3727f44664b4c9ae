"""From arguments to a reply: check whether the client may run the command now, then run it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from simcloud.datastores.redis.commands import COMMANDS, belongs
from simcloud.datastores.redis.commands.table import Command, call
from simcloud.datastores.redis.engine.eviction import make_room
from simcloud.datastores.redis.resp import QUEUED, ErrorReply, Reply, Several, Words
from simcloud.datastores.redis.state import Client, ServerState

FOR_STRANGERS: Final = ("auth", "hello", "quit")
NOT_QUEUED: Final = ("exec", "discard", "multi", "watch", "quit")
WHILE_SUBSCRIBED: Final = ("ping", "subscribe", "psubscribe", "unsubscribe", "punsubscribe", "quit")
OUT_OF_MEMORY: Final = "OOM command not allowed when used memory > 'maxmemory'."
SHOWN_ARGUMENTS_BYTES: Final = 128
QUEUE_MAX: Final = 100_000
"""A transaction with more commands is refused as if memory were short."""


def execute(client: Client, words: Words) -> Reply:
    """Work off one command."""
    if not words:
        return Several()
    server = client.server
    command = COMMANDS.get(words[0].lower())
    client.last_active = server.clock()
    if command is None:
        return _reject(client, None, _unknown(words))
    refusal = _refusal(client, command, words)
    if refusal is not None:
        return _reject(client, command, refusal)
    client.last_command = command.name
    if client.queue is not None and command.name not in NOT_QUEUED:
        if len(client.queue) >= QUEUE_MAX:
            return _reject(client, command, OUT_OF_MEMORY)
        client.queue.append(words)
        return QUEUED
    return call(client, command, words)


def _refusal(client: Client, command: Command, words: Words) -> str | None:
    if not command.fits(len(words)):
        return f"ERR wrong number of arguments for '{command.name}' command"
    server, user = client.server, client.user
    if not (client.authenticated or server.users.default.is_open) and command.name not in FOR_STRANGERS:
        return "NOAUTH Authentication required."
    if not user.unlimited and command.name not in FOR_STRANGERS:
        refusal = _forbidden(client, command, words)
        if refusal is not None:
            return refusal
    if server.config.maxmemory and not make_room(server):
        queueing = client.queue is not None and command.name not in ("exec", "discard")
        queued = command.name == "exec" and any(
            COMMANDS[each[0].lower()].deny_oom for each in client.queue or ()
        )
        if command.deny_oom or queueing or queued:
            return OUT_OF_MEMORY
    if command.write or command.name == "ping":
        refusal = server.disk.refusal
        if refusal is not None:
            return refusal
    if (client.channels or client.patterns) and command.name not in WHILE_SUBSCRIBED:
        return (
            f"ERR Can't execute '{command.name}': only (P)SUBSCRIBE / (P)UNSUBSCRIBE / PING / QUIT / RESET are allowed "
            "in this context"
        )
    return None


def _forbidden(client: Client, command: Command, words: Words) -> str | None:
    user = client.user
    if not user.may_run(command.name, belongs):
        return f"NOPERM this user has no permissions to run the '{command.name}' command or its subcommand"
    if not user.may_touch(command.keys_of(words)):
        return "NOPERM this user has no permissions to access one of the keys used as arguments"
    channels = words[1:2] if command.name == "publish" else words[1:] if command.name == "subscribe" else []
    if not all(user.may_hear(channel) for channel in channels):
        return "NOPERM this user has no permissions to access one of the channels used as arguments"
    return None


def _reject(client: Client, command: Command | None, text: str) -> Reply:
    if client.queue is not None:
        client.queue_broken = True
    server = client.server
    server.errors[text.partition(" ")[0]] += 1
    if command is not None:
        server.rejected_calls[command.name] += 1
        if command.name == "exec":
            client.end_transaction()
            kept = text.removeprefix("ERR ")
            return ErrorReply(f"EXECABORT Transaction discarded because of: {kept}")
    return ErrorReply(text)


def _unknown(words: Words) -> str:
    shown = ""
    for word in words[1:]:
        if len(shown) >= SHOWN_ARGUMENTS_BYTES:
            break
        shown += f"`{_plain(word[: SHOWN_ARGUMENTS_BYTES - len(shown)])}`, "
    return (
        f"ERR unknown command `{_plain(words[0][:SHOWN_ARGUMENTS_BYTES])}`, with args beginning with: {shown}"
    )


def _plain(word: bytes) -> str:
    """Text that fits one line of the protocol."""
    return word.replace(b"\r", b" ").replace(b"\n", b" ").decode("utf-8", "surrogateescape")


def replay(server: ServerState, commands: Iterable[Words]) -> None:
    """Work off commands that an earlier run has written down."""
    client = server.connect("loader", "", lambda _reply: None)
    client.authenticated = True
    for words in commands:
        execute(client, words)
    server.disconnect(client)
    server.connections -= 1
