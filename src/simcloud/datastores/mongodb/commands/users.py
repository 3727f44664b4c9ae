"""Commands on users: create, drop, update, list, grant and revoke roles."""

from __future__ import annotations

from typing import Any

from simcloud.datastores.mongodb.auth.scram import KEY_CPU_S, MECHANISMS, credentials
from simcloud.datastores.mongodb.auth.users import USERS, USERS_INDEX
from simcloud.datastores.mongodb.bson import Binary, Document, new_uuid, type_name
from simcloud.datastores.mongodb.commands.registry import command, ok
from simcloud.datastores.mongodb.failures import MongoFailure, bad_value
from simcloud.datastores.mongodb.server import Request


@command("createUser", scope="database", actions=("createUser",))
def create_user(request: Request) -> Document:
    """Make a user."""
    user = _name(request)
    if "roles" not in request.body:
        raise bad_value('"createUser" command requires a "roles" array')
    if "pwd" not in request.body and request.db != "$external":
        raise bad_value(
            "Must provide a 'pwd' field for all user documents, except those with '$external' as the user's source db"
        )
    roles = request.server.users.read_roles(request.body["roles"], request.db)
    grantable(request, roles)
    if request.server.users.find(user, request.db) is not None:
        raise MongoFailure(51003, f'User "{user}@{request.db}" already exists')
    document: Document = {
        "_id": f"{request.db}.{user}",
        "userId": Binary(new_uuid(request.server.random), 4),
        "user": user,
        "db": request.db,
        "credentials": _credentials(request, user),
        "roles": roles,
    }
    if "customData" in request.body:
        document["customData"] = request.document("customData")
    collection = request.server.catalog.find(USERS)
    if collection is None:
        collection = request.server.catalog.create(USERS)
        request.server.log_created(request.session.name, collection)
        request.server.build_index(request.session.name, collection, USERS_INDEX)
    collection.insert(document)
    request.durable = True
    return ok()


def grantable(request: Request, roles: list[Document]) -> None:
    """Check that the caller may grant these roles."""
    for role in roles:
        request.session.need(request, "grantRole", role["db"])


def _name(request: Request) -> str:
    name = request.body[request.name]
    if name.__class__ is not str:
        raise bad_value(f'"{request.name}" had the wrong type. Expected string, found {type_name(name)}')
    if not name:
        raise bad_value("User document needs 'user' field to be non-empty")
    return str(name)


def _credentials(request: Request, user: str) -> Document:
    password = request.body.get("pwd")
    if password.__class__ is not str or not password:
        raise bad_value(
            "Password cannot be empty" if password == "" else '"pwd" had the wrong type. Expected string'
        )
    wanted: Any = request.body.get("mechanisms") or list(MECHANISMS)
    if wanted.__class__ is not list or any(each not in MECHANISMS for each in wanted):
        raise bad_value("Unknown auth mechanism")
    made = {}
    for mechanism in wanted:
        request.cpu_s += KEY_CPU_S[mechanism]
        made[mechanism] = credentials(mechanism, user, password, request.server.random)
    return made


def _replace_user(request: Request, user: str, missing: str, **fields: Any) -> None:
    """Put a user's new document in the old one's place."""
    collection, row = (
        request.server.catalog.find(USERS),
        request.server.users.row(USERS, f"{request.db}.{user}"),
    )
    if collection is None or row is None:
        raise MongoFailure(11, missing)
    collection.replace(row, {**collection.rows[row], **fields})
    request.durable = True


@command("updateUser", scope="handler")
def update_user(request: Request) -> Document:
    """Change a user's password, roles or data."""
    user = _name(request)
    fields: Document = {}
    if not request.body.keys() & {"pwd", "roles", "customData", "mechanisms"}:
        raise bad_value("Must specify at least one field to update in updateUser")
    if "pwd" in request.body:
        request.session.need(request, "changePassword", request.db)
        fields["credentials"] = _credentials(request, user)
    if "roles" in request.body:
        request.session.need(request, "revokeRole", request.db)
        fields["roles"] = request.server.users.read_roles(request.body["roles"], request.db)
        grantable(request, fields["roles"])
    if "customData" in request.body:
        request.session.need(request, "changeCustomData", request.db)
        fields["customData"] = request.document("customData")
    _replace_user(request, user, f"User {user}@{request.db} not found", **fields)
    return ok()


@command("dropUser", scope="database", actions=("dropUser",))
def drop_user(request: Request) -> Document:
    """Remove a user."""
    user = _name(request)
    collection, row = (
        request.server.catalog.find(USERS),
        request.server.users.row(USERS, f"{request.db}.{user}"),
    )
    if collection is None or row is None:
        raise MongoFailure(11, f"User '{user}@{request.db}' not found")
    collection.delete(row)
    request.durable = True
    return ok()


@command("grantRolesToUser", scope="handler")
def grant_roles(request: Request) -> Document:
    """Give a user more roles."""
    user = _name(request)
    given = request.server.users.read_roles(request.body.get("roles"), request.db)
    grantable(request, given)
    found = request.server.users.find(user, request.db)
    missing = f'Could not find user "{user}" for db "{request.db}"'
    had = found["roles"] if found is not None else []
    _replace_user(request, user, missing, roles=had + [role for role in given if role not in had])
    return ok()


@command("revokeRolesFromUser", scope="handler")
def revoke_roles(request: Request) -> Document:
    """Take roles from a user."""
    user = _name(request)
    taken = request.server.users.read_roles(request.body.get("roles"), request.db)
    for role in taken:
        request.session.need(request, "revokeRole", role["db"])
    found = request.server.users.find(user, request.db)
    missing = f'Could not find user "{user}" for db "{request.db}"'
    left = [role for role in found["roles"] if role not in taken] if found is not None else []
    _replace_user(request, user, missing, roles=left)
    return ok()


@command("usersInfo", scope="handler")
def users_info(request: Request) -> Document:
    """Users of this database, of all, or those that are named."""
    request_of: Any = request.body["usersInfo"]
    collection = request.server.catalog.find(USERS)
    everybody = (
        sorted(collection.rows.values(), key=lambda each: str(each["_id"])) if collection is not None else []
    )
    names = _parse_names(request_of, request.db)
    own = {f"{db}.{user}": None for db, user in request.session.users.items()}
    if not (names and all(name in own for name in names)):
        request.session.need(request, "viewUser", request.db)
    if names is not None:
        shown = [each for each in everybody if each["_id"] in names]
    elif request_of.__class__ is dict and request_of.get("forAllDBs"):
        shown = everybody
    else:
        shown = [each for each in everybody if each["db"] == request.db]
    return ok(users=[_format_user(request, each) for each in shown])


def _parse_names(of: Any, db: str) -> list[str] | None:
    """Return the ids of the users a command names; None when it means all."""
    if of.__class__ is str:
        return [f"{db}.{of}"]
    if of.__class__ is dict and "user" in of:
        return [f"{of.get('db', db)}.{of['user']}"]
    if of.__class__ is list:
        return [name for each in of for name in _parse_names(each, db) or ()]
    return None


def _format_user(request: Request, user: Document) -> Document:
    shown: Document = {
        name: user[name] for name in ("_id", "userId", "user", "db", "roles", "customData") if name in user
    }
    shown["mechanisms"] = list(user["credentials"])
    if request.body.get("showCredentials"):
        shown["credentials"] = user["credentials"]
    return shown
