"""The table of commands: name, handler, how many words, what it does, where its keys are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from simcloud.datastores.redis.messages import Words
from simcloud.datastores.redis.replies import Reply
from simcloud.datastores.redis.state import Client

Handler = Callable[[Client, Words], Reply]


@dataclass(frozen=True, slots=True)
class Command:
    """One command. ``arity`` counts the name; negative means at least. ``keys`` is first, last, step; 0 is none."""

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
        """The keys among the words."""
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
