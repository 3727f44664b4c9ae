"""Built-in roles and their privileges.

A privilege consists of a database, a collection and actions. The database ``ANY`` means every database, the
collection ``ANY`` every collection that is not a system collection. The cluster is a resource of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

ANY: Final = "*"
CLUSTER: Final = "$cluster"

READ: Final = frozenset({"find", "collStats", "dbHash", "dbStats", "killCursors", "listCollections", "listIndexes", "planCacheRead", "changeStream"})  # fmt: skip
READ_WRITE: Final = READ | {"insert", "update", "remove", "createCollection", "dropCollection", "createIndex", "dropIndex", "convertToCapped", "renameCollectionSameDB"}  # fmt: skip
DB_ADMIN: Final = frozenset({"bypassDocumentValidation", "collMod", "collStats", "compact", "convertToCapped", "createCollection", "createIndex", "dbStats", "dropCollection", "dropDatabase", "dropIndex", "enableProfiler", "listCollections", "listIndexes", "planCacheIndexFilter", "planCacheRead", "planCacheWrite", "reIndex", "renameCollectionSameDB", "storageDetails", "validate"})  # fmt: skip
USER_ADMIN: Final = frozenset({"changeCustomData", "changePassword", "createRole", "createUser", "dropRole", "dropUser", "grantRole", "revokeRole", "setAuthenticationRestriction", "viewRole", "viewUser"})  # fmt: skip
MONITOR: Final = frozenset({"connPoolStats", "getCmdLineOpts", "getLog", "getParameter", "getShardMap", "hostInfo", "inprog", "listDatabases", "listSessions", "listShards", "netstat", "replSetGetConfig", "replSetGetStatus", "serverStatus", "setFreeMonitoring", "shardingState", "top", "checkFreeMonitoringStatus"})  # fmt: skip
MANAGER: Final = frozenset({"addShard", "appendOplogNote", "applicationMessage", "cleanupOrphaned", "flushRouterConfig", "listSessions", "listShards", "removeShard", "replSetConfigure", "replSetGetConfig", "replSetGetStatus", "replSetStateChange", "resync", "setFeatureCompatibilityVersion", "setFreeMonitoring"})  # fmt: skip
HOST: Final = frozenset({"applicationMessage", "closeAllDatabases", "connPoolSync", "cpuProfiler", "dropConnections", "flushRouterConfig", "fsync", "invalidateUserCache", "killAnyCursor", "killAnySession", "killop", "logRotate", "resync", "setParameter", "shutdown", "touch", "unlock", "killCursors"})  # fmt: skip
ALL_OF_CLUSTER: Final = MONITOR | MANAGER | HOST


class Privilege(NamedTuple):
    """Actions on a resource."""

    db: str
    collection: str
    actions: frozenset[str]


def _read(db: str) -> list[Privilege]:
    return [Privilege(db, ANY, READ), Privilege(db, "system.js", READ)]


def _read_write(db: str) -> list[Privilege]:
    return [Privilege(db, ANY, READ_WRITE), Privilege(db, "system.js", READ_WRITE)]


def _db_admin(db: str) -> list[Privilege]:
    profile = frozenset({"find", "collStats", "createCollection", "dropCollection", "listIndexes"})
    return [Privilege(db, ANY, DB_ADMIN), Privilege(db, "system.profile", profile)]


def _user_admin(db: str) -> list[Privilege]:
    return [Privilege(db, ANY, USER_ADMIN)]


def _any(of: Callable[[str], list[Privilege]]) -> Callable[[str], list[Privilege]]:
    def make_privileges(db: str) -> list[Privilege]:
        listing = Privilege(CLUSTER, "", frozenset({"listDatabases"}))
        return [*of(ANY), listing]

    return make_privileges


def _user_admin_any(db: str) -> list[Privilege]:
    system = READ | {"createIndex", "dropIndex"}
    cluster = frozenset(
        {"listDatabases", "authSchemaUpgrade", "invalidateUserCache", "listCachedAndActiveUsers"}
    )
    return [
        *_user_admin(ANY),
        Privilege("admin", "system.users", system),
        Privilege("admin", "system.roles", system),
        Privilege(CLUSTER, "", cluster),
    ]


def _monitor(db: str) -> list[Privilege]:
    of_all = frozenset(
        {"collStats", "dbStats", "getShardVersion", "indexStats", "listCollections", "listIndexes"}
    )
    return [
        Privilege(CLUSTER, "", MONITOR),
        Privilege(ANY, ANY, of_all),
        Privilege("local", ANY, READ),
        Privilege("config", ANY, READ),
        Privilege(ANY, "system.profile", frozenset({"find"})),
    ]


def _cluster_admin(db: str) -> list[Privilege]:
    return [
        Privilege(CLUSTER, "", ALL_OF_CLUSTER),
        *_monitor(db),
        Privilege(ANY, ANY, frozenset({"dropDatabase"})),
    ]


def _root(db: str) -> list[Privilege]:
    everything = READ_WRITE | DB_ADMIN | USER_ADMIN
    return [Privilege(ANY, ANY, everything), *_cluster_admin(db), *_user_admin_any(db), *_db_admin(ANY)]


def _backup(db: str) -> list[Privilege]:
    return [
        Privilege(ANY, ANY, READ),
        Privilege("admin", "system.users", READ),
        Privilege("admin", "system.roles", READ),
        Privilege(
            CLUSTER, "", frozenset({"listDatabases", "appendOplogNote", "getParameter", "serverStatus"})
        ),
    ]


def _restore(db: str) -> list[Privilege]:
    return [
        Privilege(ANY, ANY, READ_WRITE | DB_ADMIN),
        Privilege("admin", "system.users", READ_WRITE),
        Privilege("admin", "system.roles", READ_WRITE),
        Privilege(CLUSTER, "", frozenset({"getParameter"})),
    ]


ON_ANY_DATABASE: Final[dict[str, Callable[[str], list[Privilege]]]] = {
    "read": _read,
    "readWrite": _read_write,
    "dbAdmin": _db_admin,
    "userAdmin": _user_admin,
    "dbOwner": lambda db: [*_read_write(db), *_db_admin(db), *_user_admin(db)],
}

ON_ADMIN: Final[dict[str, Callable[[str], list[Privilege]]]] = {
    "readAnyDatabase": _any(_read),
    "readWriteAnyDatabase": _any(_read_write),
    "dbAdminAnyDatabase": _any(_db_admin),
    "userAdminAnyDatabase": _user_admin_any,
    "clusterMonitor": _monitor,
    "clusterManager": lambda db: [Privilege(CLUSTER, "", MANAGER)],
    "hostManager": lambda db: [Privilege(CLUSTER, "", HOST)],
    "clusterAdmin": _cluster_admin,
    "backup": _backup,
    "restore": _restore,
    "root": _root,
    "__system": _root,
}


def find_built_in(role: str, db: str) -> list[Privilege] | None:
    """Return the privileges of a built-in role on a database, or None if it does not exist there."""
    found = ON_ANY_DATABASE.get(role) or (ON_ADMIN.get(role) if db == "admin" else None)
    if found is None:
        return None
    return found(db)


def allows(privileges: list[Privilege], action: str, db: str, collection: str) -> bool:
    """Return whether the privileges allow an action (``CLUSTER`` is a database here)."""
    system = collection.startswith("system.")
    for privilege in privileges:
        if action not in privilege.actions:
            continue
        if CLUSTER in (db, privilege.db):
            if db == privilege.db:
                return True
        elif privilege.db in (ANY, db) and (
            privilege.collection == collection or (privilege.collection == ANY and not system)
        ):
            return True
    return False
