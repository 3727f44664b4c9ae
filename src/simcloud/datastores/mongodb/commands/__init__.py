"""The commands of mongod, one module per family; importing this package registers them all."""

from simcloud.datastores.mongodb.commands import (
    administering,
    aggregating,
    authenticating,
    diagnosing,
    explaining,
    handshake,
    locking,
    reading,
    roles,
    users,
    writing,
)
from simcloud.datastores.mongodb.commands.registry import COMMANDS

__all__ = [
    "COMMANDS",
    "administering",
    "aggregating",
    "authenticating",
    "diagnosing",
    "explaining",
    "handshake",
    "locking",
    "reading",
    "roles",
    "users",
    "writing",
]
