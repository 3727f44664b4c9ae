"""All commands, a module for each kind; importing this fills the table."""

from __future__ import annotations

from typing import Final

from simcloud.datastores.redis.commands import (
    administration,
    configuration,
    connections,
    expiry,
    hashes,
    information,
    keys,
    lists,
    publishing,
    rights,
    saving,
    scanning,
    sets,
    sorted_ranges,
    sorted_sets,
    strings,
    transactions,
)
from simcloud.datastores.redis.commands.table import COMMANDS

__all__ = ["COMMANDS", "belongs", "categories"]

GROUPS: Final = {
    administration.__name__: "",
    configuration.__name__: "",
    information.__name__: "",
    rights.__name__: "",
    saving.__name__: "",
    connections.__name__: "connection",
    expiry.__name__: "keyspace",
    hashes.__name__: "hash",
    keys.__name__: "keyspace",
    lists.__name__: "list",
    publishing.__name__: "pubsub",
    scanning.__name__: "keyspace",
    sets.__name__: "set",
    sorted_ranges.__name__: "sortedset",
    sorted_sets.__name__: "sortedset",
    strings.__name__: "string",
    transactions.__name__: "transaction",
}


def categories(name: str) -> list[str]:
    """The categories of a command, as rules on users name them."""
    command = COMMANDS[name.encode()]
    group = GROUPS[command.handler.__module__]
    found = [group] if group else []
    if command.write:
        found.append("write")
    if "readonly" in command.flags:
        found.append("read")
    found += [flag for flag in ("admin", "dangerous", "blocking") if flag in command.flags]
    if "admin" in command.flags and "dangerous" not in command.flags:
        found.append("dangerous")
    return [*found, "fast" if "fast" in command.flags else "slow"]


def belongs(name: str, category: str) -> bool:
    """Whether a command is of a category."""
    return category in categories(name)
