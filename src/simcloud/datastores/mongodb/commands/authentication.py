"""Authentication: saslStart, saslContinue, logout, connectionStatus."""

from __future__ import annotations

from typing import Any

from simcloud.datastores.mongodb.auth.scram import MECHANISMS, LogIn, ScramError, ServerSide, user_of
from simcloud.datastores.mongodb.bson import Binary, Document
from simcloud.datastores.mongodb.commands.registry import command, ok
from simcloud.datastores.mongodb.failures import MongoFailure
from simcloud.datastores.mongodb.server import Request


@command("saslStart")
def sasl_start(request: Request) -> Document:
    """Return the client's first message and the server's challenge."""
    mechanism = request.body.get("mechanism")
    if mechanism not in MECHANISMS:
        raise MongoFailure(334, f"Received authentication for mechanism {mechanism} which is not enabled")
    payload = _payload(request)
    user = ""
    try:
        user = user_of(payload)
        found = request.server.users.find(user, request.db)
        if found is None:
            raise _Refused(f'UserNotFound: Could not find user "{user}" for db "{request.db}"')
        stored = found["credentials"].get(mechanism)
        if stored is None:
            raise _Refused(
                f"MechanismUnavailable: Unable to use {mechanism} based authentication for user without any "
                f"{mechanism} credentials registered"
            )
        scram = ServerSide(mechanism, stored, payload, request.server.random)
    except ScramError as error:
        raise _make_failure(request, mechanism, user, f"BadValue: {error}") from None
    except _Refused as refusal:
        raise _make_failure(request, mechanism, user, str(refusal)) from None
    options = request.document("options")
    request.session.log_in = LogIn(mechanism, user, request.db, scram, bool(options.get("skipEmptyExchange")))
    return ok(conversationId=1, done=False, payload=Binary(scram.first))


@command("saslContinue")
def sasl_continue(request: Request) -> Document:
    """Return the client's proof, the server's, and the empty message that ends it."""
    log_in = request.session.log_in
    if log_in is None:
        raise MongoFailure(17, "No SASL session state found")
    if log_in.proven:
        request.session.log_in = None
        return ok(conversationId=1, done=True, payload=Binary(b""))
    try:
        payload = log_in.scram.final(_payload(request))
    except ScramError as error:
        request.session.log_in = None
        raise _make_failure(
            request, log_in.mechanism, log_in.user, f"AuthenticationFailed: {error}"
        ) from None
    log_in.proven = True
    session = request.session
    session.users[log_in.db] = log_in.user
    session.server.log.say(
        "ACCESS", 20250, session.name, "Authentication succeeded",
        mechanism=log_in.mechanism, speculative=False, principalName=log_in.user,
        authenticationDatabase=log_in.db, remote=session.remote, extraInfo={},
    )  # fmt: skip
    if log_in.skip_empty:
        session.log_in = None
    return ok(conversationId=1, done=log_in.skip_empty, payload=Binary(payload))


class _Refused(Exception):
    """Why a login failed; only the server's log shows it."""


def _payload(request: Request) -> bytes:
    payload: Any = request.body.get("payload")
    if payload.__class__ is Binary:
        return bytes(payload.data)
    if payload.__class__ is bytes:
        return bytes(payload)
    raise MongoFailure(14, "Wrong type for field (payload)")


def _make_failure(request: Request, mechanism: str, user: str, error: str) -> MongoFailure:
    session = request.session
    session.server.log.say(
        "ACCESS", 20249, session.name, "Authentication failed",
        mechanism=mechanism, speculative=False, principalName=user, authenticationDatabase=request.db,
        remote=session.remote, extraInfo={}, error=error,
    )  # fmt: skip
    return MongoFailure(18, "Authentication failed.")


@command("logout")
def logout(request: Request) -> Document:
    """Forget who is logged in from this database."""
    request.session.users.pop(request.db, None)
    return ok()


@command("connectionStatus")
def connection_status(request: Request) -> Document:
    """Return the users who are logged in."""
    users = [{"user": user, "db": db} for db, user in request.session.users.items()]
    roles: list[Document] = []
    for each in users:
        found = request.server.users.find(each["user"], each["db"])
        roles += found["roles"] if found is not None else []
    return ok(authInfo={"authenticatedUsers": users, "authenticatedUserRoles": roles})
