"""Commands on user-defined roles."""

from __future__ import annotations

from simcloud.datastores.mongodb.auth.roles import ON_ADMIN, ON_ANY_DATABASE
from simcloud.datastores.mongodb.auth.users import ROLES, check_privileges
from simcloud.datastores.mongodb.bson import Document
from simcloud.datastores.mongodb.commands.registry import command, ok
from simcloud.datastores.mongodb.commands.users import grantable
from simcloud.datastores.mongodb.failures import MongoFailure, bad_value
from simcloud.datastores.mongodb.server import Request


@command("createRole", scope="database", actions=("createRole",))
def create_role(request: Request) -> Document:
    """Define a role."""
    role = request.body["createRole"]
    if role.__class__ is not str or not role:
        raise bad_value("Role name must be non-empty")
    users = request.server.users
    if "privileges" not in request.body or "roles" not in request.body:
        raise bad_value('"createRole" command requires "privileges" and "roles" arrays')
    if users.role_exists(role, request.db):
        raise MongoFailure(51002, f'Role "{role}@{request.db}" already exists')
    roles = users.read_roles(request.body["roles"], request.db)
    grantable(request, roles)
    document = {
        "_id": f"{request.db}.{role}",
        "role": role,
        "db": request.db,
        "privileges": check_privileges(request.body["privileges"]),
        "roles": roles,
    }
    request.server.catalog.need(ROLES).insert(document)
    users.roles_changed()
    request.durable = True
    return ok()


@command("rolesInfo", scope="database", actions=("viewRole",))
def roles_info(request: Request) -> Document:
    """Roles of this database, or the one that is named."""
    wanted = request.body["rolesInfo"]
    collection = request.server.catalog.find(ROLES)
    roles = [
        {
            "role": each["role"],
            "db": each["db"],
            "isBuiltin": False,
            "roles": each["roles"],
            "inheritedRoles": each["roles"],
            **({"privileges": each["privileges"]} if request.body.get("showPrivileges") else {}),
        }
        for each in (collection.rows.values() if collection is not None else ())
    ]
    if request.body.get("showBuiltinRoles") or wanted.__class__ in (str, dict):
        names = [*ON_ANY_DATABASE, *(ON_ADMIN if request.db == "admin" else ())]
        roles += [
            {"role": name, "db": request.db, "isBuiltin": True, "roles": [], "inheritedRoles": []}
            for name in names
        ]
    if wanted.__class__ is str:
        wanted = {"role": wanted, "db": request.db}
    if wanted.__class__ is dict:
        roles = [
            each for each in roles if (each["role"], each["db"]) == (wanted.get("role"), wanted.get("db"))
        ]
    else:
        roles = [each for each in roles if each["db"] == request.db]
    return ok(roles=roles)
