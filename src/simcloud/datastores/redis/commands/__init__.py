"""All commands, one module per group; importing this package fills the table."""

from __future__ import annotations

from typing import Final

from simcloud.datastores.redis.commands import (
    acl,
    administration,
    configuration,
    connections,
    expiry,
    hashes,
    information,
    keys,
    lists,
    persistence,
    pubsub,
    scan,
    sets,
    sorted_ranges,
    sorted_sets,
    strings,
    transactions,
)
from simcloud.datastores.redis.commands.table import COMMANDS as COMMANDS

GROUPS: Final = {
    administration.__name__: "",
    configuration.__name__: "",
    information.__name__: "",
    acl.__name__: "",
    persistence.__name__: "",
    connections.__name__: "connection",
    expiry.__name__: "keyspace",
    hashes.__name__: "hash",
    keys.__name__: "keyspace",
    lists.__name__: "list",
    pubsub.__name__: "pubsub",
    scan.__name__: "keyspace",
    sets.__name__: "set",
    sorted_ranges.__name__: "sortedset",
    sorted_sets.__name__: "sortedset",
    strings.__name__: "string",
    transactions.__name__: "transaction",
}


def categories(name: str) -> list[str]:
    """Return the ACL categories of a command."""
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
    """Return whether a command is in a category."""
    return category in categories(name)
