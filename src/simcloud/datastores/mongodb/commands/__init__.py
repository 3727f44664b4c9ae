"""The commands of mongod, one module per family; importing this package registers them all."""

from simcloud.datastores.mongodb.commands import (
    administration,
    aggregation,
    authentication,
    diagnostics,
    explain,
    fsync,
    handshake,
    queries,
    roles,
    users,
    writes,
)
from simcloud.datastores.mongodb.commands.registry import COMMANDS

__all__ = [
    "COMMANDS",
    "administration",
    "aggregation",
    "authentication",
    "diagnostics",
    "explain",
    "fsync",
    "handshake",
    "queries",
    "roles",
    "users",
    "writes",
]
