"""``fsync`` and its lock, which blocks writes but not reads."""

from __future__ import annotations

from typing import Final

from simcloud.datastores.mongodb.bson import Document, Int64
from simcloud.datastores.mongodb.commands.registry import command, ok
from simcloud.datastores.mongodb.failures import MongoFailure
from simcloud.datastores.mongodb.server import Request

WRITES: Final = frozenset(
    {
        "insert", "update", "delete", "findAndModify", "findandmodify", "create", "drop", "renameCollection", "dropDatabase",
        "createIndexes", "dropIndexes", "deleteIndexes", "createUser", "updateUser", "dropUser",
        "grantRolesToUser", "revokeRolesFromUser", "createRole",
    }
)  # fmt: skip
SEE_ALSO: Final = "http://dochub.mongodb.org/core/fsynccommand"
MAX_LOCKS: Final = 1 << 20


@command("fsync", scope="cluster", actions=("fsync",), admin_only=True)
def fsync(request: Request) -> Document:
    """Bring everything to the disk, and with ``lock`` let nothing be written from then on."""
    server, who = request.server, request.session.name
    lock = bool(request.body.get("lock"))
    server.log.say("COMMAND", 20461, who, "CMD fsync", sync=not request.body.get("async"), lock=lock)
    request.durable = True
    if not lock:
        return ok(numFiles=1)
    if server.fsync_locks >= MAX_LOCKS:
        raise MongoFailure(20, "too many fsync locks are held")
    server.lock_writes()
    server.log.say(
        "COMMAND", 20462, who, "mongod is locked and no writes are allowed", lockCount=server.fsync_locks
    )
    server.log.say("COMMAND", 20463, who, "For more info see", seeAlso=SEE_ALSO)
    info = "now locked against writes, use db.fsyncUnlock() to unlock"
    return ok(info=info, lockCount=Int64(server.fsync_locks), seeAlso=SEE_ALSO)


@command("fsyncUnlock", scope="cluster", actions=("unlock",), admin_only=True)
def fsync_unlock(request: Request) -> Document:
    """Release one lock; with the last one waiting writes go on."""
    server, who = request.server, request.session.name
    server.log.say("COMMAND", 20465, who, "CMD fsyncUnlock: unlock requested")
    if not server.fsync_locks:
        raise MongoFailure(20, "fsyncUnlock called when not locked")
    server.unlock_writes()
    if server.fsync_locks:
        server.log.say("COMMAND", 20467, who, "fsyncUnlock completed", lockCount=server.fsync_locks)
    else:
        message = "fsyncUnlock completed. mongod is now unlocked and free to accept writes"
        server.log.say("COMMAND", 20466, who, message)
    return ok(info="fsyncUnlock completed", lockCount=Int64(server.fsync_locks))
