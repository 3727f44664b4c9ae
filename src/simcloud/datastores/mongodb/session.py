"""The server thread of a client's connection, which answers its commands one after the other."""

from __future__ import annotations

from typing import Any, Final

from simcloud.datastores.mongodb.auth.roles import CLUSTER
from simcloud.datastores.mongodb.bson import Document
from simcloud.datastores.mongodb.commands import COMMANDS
from simcloud.datastores.mongodb.commands.fsync import WRITES
from simcloud.datastores.mongodb.commands.registry import MALFORMED, CommandInfo
from simcloud.datastores.mongodb.engine.catalog import check_database
from simcloud.datastores.mongodb.engine.fuel import count_steps, refill
from simcloud.datastores.mongodb.failures import MongoFailure
from simcloud.datastores.mongodb.server import Request, Session
from simcloud.datastores.mongodb.wire import Command, Reply, reply_bytes
from simcloud.machine.network import NetworkError

MAX_NESTING: Final = 180
STEP_CPU_S: Final = 0.000_000_5
OPERATIONS: Final = {
    "insert": "insert", "find": "query", "update": "update", "delete": "delete", "getMore": "getmore",
}  # fmt: skip
"""The counter of each command that is not counted as a command."""


async def serve(session: Session) -> None:
    """Answer until the client hangs up."""
    server, connection = session.server, session.connection
    while True:
        try:
            command = await connection.receive()
            if command.__class__ is not Command:
                break
            reply = await _answer(session, command)
            connection.send(Reply(command.id, reply), reply_bytes(reply))
            del command, reply  # a client that is silent for long must not keep a great answer in memory
        except NetworkError:
            break
    session.end()
    server.log.say(
        "NETWORK", 22944, session.name, "Connection ended",
        remote=session.remote, connectionId=session.number, connectionCount=len(server.sessions),
    )  # fmt: skip


async def _answer(session: Session, command: Command) -> Document:
    server, kernel = session.server, session.server.ctx.kernel
    started_at = kernel.now
    if server.fsync_locks and next(iter(command.body), "") in WRITES:
        await _wait_for_lock(session, command)
    reply, request = _run(session, command.db, command.body)
    session.running, session.running_since = request, started_at
    await server.ctx.cpu(request.cpu_s)
    if request.durable:
        await server.durable()
    session.running = None
    if server.profiled and request.db in server.profiled:
        server.profile(request, reply, kernel.now - started_at)
    if kernel.now - started_at > server.slow_s:
        server.log_slow(request, reply, kernel.now - started_at)
    return reply


async def _wait_for_lock(session: Session, command: Command) -> None:
    """Wait until writes are allowed; ``currentOp`` shows the waiting operation."""
    server = session.server
    name = next(iter(command.body), "")
    session.running = Request(server, session, command.db, name, command.body)
    session.running_since = server.ctx.kernel.now
    session.waiting_for_lock = True
    while server.fsync_locks:
        await server.unlocked.wait()
    session.waiting_for_lock = False


def _run(session: Session, db: str, body: Document) -> tuple[Document, Request]:
    """Answer a command; failures are replies too."""
    server = session.server
    name = next(iter(body), "")
    request = Request(server, session, db, name, body)
    info = COMMANDS.get(name)
    try:
        if info is None:
            raise MongoFailure(59, f"no such command: '{name}'")
        request.cpu_s = info.cpu_s
        counter = OPERATIONS.get(name, "command")
        server.counters[counter] += 1
        if info.admin_only and db != "admin":
            raise MongoFailure(13, f"{name} may only be run against the admin database.")
        _check_nesting(body, 0)
        check_database(db)
        if server.options.auth:
            _authorize(request, info)
        reply = info.handler(request)
        request.cpu_s += count_steps() * STEP_CPU_S
        return reply, request
    except MongoFailure as failure:
        request.cpu_s = (request.cpu_s or 0.000_05) + count_steps() * STEP_CPU_S
        return failure.reply(), request
    except MALFORMED:
        return MongoFailure(14, f"a field of the command {name} has the wrong type").reply(), request
    finally:
        refill()


def _authorize(request: Request, info: CommandInfo) -> None:
    """Raise ``Unauthorized`` unless the connection's users may run this command."""
    if info.scope == "anyone":
        return
    session = request.session
    if not session.has_known_users() and not (session.local and session.server.users.none_exist):
        raise MongoFailure(13, f"command {request.name} requires authentication")
    if info.scope == "handler":
        return
    for action in info.actions:
        if info.scope == "cluster":
            session.need(request, action, CLUSTER)
        elif info.scope == "database":
            session.need(request, action, request.db)
        else:
            session.need(request, action, request.db, request.namespace.partition(".")[2])


def _check_nesting(value: Any, depth: int) -> None:
    """Refuse what is nested deeper than MongoDB lets it be."""
    if depth > MAX_NESTING:
        raise MongoFailure(15, f"Document exceeds maximum nested object depth: {MAX_NESTING}")
    for each in value.values() if value.__class__ is dict else value:
        if each.__class__ is dict or each.__class__ is list:
            _check_nesting(each, depth + 1)
