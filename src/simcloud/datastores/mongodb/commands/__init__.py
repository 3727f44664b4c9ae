"""The commands of mongod, one module per family; importing this package registers them all."""

from simcloud.datastores.mongodb.commands import (
    administration as administration,
    aggregation as aggregation,
    authentication as authentication,
    diagnostics as diagnostics,
    explain as explain,
    fsync as fsync,
    handshake as handshake,
    queries as queries,
    roles as roles,
    users as users,
    writes as writes,
)
from simcloud.datastores.mongodb.commands.registry import COMMANDS as COMMANDS
