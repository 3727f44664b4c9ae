"""The tree of commands, as in the library of kubectl and helm."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from typing import Any, Final, Protocol, TypeVar

import msgspec

from simcloud.kubectl.flags import Parser, without_flags

NEAR: Final = 2
"""Maximum edit distance of a suggestion."""


class Node(Protocol):
    """A word of the command line, with what may follow it."""

    path: str
    summary: str
    aliases: tuple[str, ...]
    below: dict[str, Any]

    def __init__(self, path: str) -> None: ...

    def parser(self) -> Parser:
        """Reads its command line."""


N = TypeVar("N", bound=Node)


def read_facts(name: str) -> dict[str, Any]:
    """Usage lines and flags of a tool, by command, from the room's data."""
    packed = (files("simcloud.kubectl") / "data" / name).read_bytes()
    found: dict[str, Any] = msgspec.json.decode(packed)
    return found


def grow(root: N, path: str, summary: str, more: dict[str, Any]) -> None:
    """Put a command in its place below the root; what stands above it is made if it is not there."""
    here = root
    words = path.split()
    for depth, word in enumerate(words, 1):
        here = here.below.setdefault(word, type(root)(" ".join(words[:depth])))
    here.summary = summary
    for name, value in more.items():
        setattr(here, name, value)


def child(here: N, word: str) -> N | None:
    """The command below another that a word means."""
    found: N | None = here.below.get(word)
    return found or next(
        (subcommand for subcommand in here.below.values() if word in subcommand.aliases), None
    )


def descend(root: N, words: list[str]) -> tuple[N, list[str], str]:
    """The command that words mean, what is left of them, and the first argument among that."""
    here, rest = root, list(words)
    while True:
        parser = here.parser()
        places = without_flags(rest, parser.long, parser.short)
        if not places:
            return here, rest, ""
        word = rest[places[0]]
        below = child(here, word)
        if below is None:
            return here, rest, word
        here, rest = below, [*rest[: places[0]], *rest[places[0] + 1 :]]


def suggestions(word: str, names: Iterable[str]) -> str:
    """What a mistyped word may have meant; empty if nothing is near."""
    typed = word.lower()
    near = [name for name in names if distance(typed, name) <= NEAR or name.startswith(typed)]
    return "\nDid you mean this?\n" + "".join(f"\t{name}\n" for name in near) if near else ""


def distance(one: str, other: str) -> int:
    """How many letters must be put in, left out or changed to make one word the other."""
    before = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        now = [row]
        for column, against in enumerate(other, 1):
            now.append(min(before[column] + 1, now[column - 1] + 1, before[column - 1] + (letter != against)))
        before = now
    return before[-1]
