"""What crosses a connection between a Redis client program and the server.

One message carries as many commands as the client sends at once (a pipeline), and its answer as many replies.
Programs that only move bytes (``nc``) are answered in the protocol's bytes instead.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from simcloud.datastores.redis.replies import Reply

REDIS: Final = "redis"
PORT: Final = 6379

Words = list[bytes]
"""A command: its name and its arguments."""


class Commands(NamedTuple):
    """Commands to be worked off in order."""

    commands: list[Words]


class Replies(NamedTuple):
    """Their answers, or what the server pushes unasked."""

    replies: list[Reply]


def commands_bytes(commands: list[Words]) -> int:
    """The size of commands on the wire."""
    return sum([sum(map(len, words)) + 12 * len(words) + 6 for words in commands])
