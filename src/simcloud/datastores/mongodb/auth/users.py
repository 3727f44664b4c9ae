"""Users and roles: documents in ``admin.system.users`` and ``admin.system.roles``, read for every check.

Permissions follow from the present documents, so revoking a role also affects connections that are already
logged in.
"""

from __future__ import annotations

from typing import Any, Final

from simcloud.datastores.mongodb.auth.roles import CLUSTER, Privilege, allows, find_built_in
from simcloud.datastores.mongodb.bson import Document, type_name
from simcloud.datastores.mongodb.engine.catalog import Catalog
from simcloud.datastores.mongodb.failures import MongoFailure, bad_value

USERS: Final = "admin.system.users"
USERS_INDEX: Final = {"v": 2, "unique": True, "key": {"user": 1, "db": 1}, "name": "user_1_db_1"}
ROLES: Final = "admin.system.roles"
MAX_INHERITANCE: Final = 20


class Users:
    """Looks up users and their permissions."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._known: dict[str, tuple[Document, int, list[Privilege]]] = {}
        self._roles_version = 0

    @property
    def none_exist(self) -> bool:
        """Return whether there are no users yet: then a local client may create the first."""
        collection = self._catalog.find(USERS)
        return collection is None or not len(collection)

    def describe_all(self) -> dict[str, str]:
        """Return all users and roles, each with its document as text: roles, privileges and hashed passwords."""
        return {
            f"the {kind} {document['_id']}": repr(document)
            for kind, namespace in (("user", USERS), ("role", ROLES))
            for document in _get_documents(self._catalog, namespace)
        }

    def find(self, user: str, db: str) -> Document | None:
        """Return a user's document."""
        return self._document(USERS, f"{db}.{user}")

    def row(self, namespace: str, id: str) -> int | None:
        """Return the row of a user's or a role's document."""
        collection = self._catalog.find(namespace)
        return next(iter(collection.plan({"_id": id}).rows), None) if collection is not None else None

    def _document(self, namespace: str, id: str) -> Document | None:
        collection = self._catalog.find(namespace)
        row = self.row(namespace, id)
        return None if collection is None or row is None else collection.rows[row]

    def mechanisms_of(self, full_name: str) -> list[str]:
        """Return the mechanisms that ``hello`` lists for ``db.user``."""
        db, _, user = full_name.partition(".")
        found = self.find(user, db)
        return list(found["credentials"]) if found is not None else []

    def roles_changed(self) -> None:
        """A role is another now."""
        self._roles_version += 1

    def privileges(self, user: str, db: str) -> list[Privilege] | None:
        """All a user may do; None when there is no such user (any more)."""
        document = self.find(user, db)
        if document is None:
            return None
        id = document["_id"]
        known = self._known.get(id)
        if known is None or known[0] is not document or known[1] != self._roles_version:
            found = [
                each
                for role in document.get("roles", ())
                for each in self._of_role(role["role"], role["db"], 0)
            ]
            known = self._known[id] = (document, self._roles_version, found)
        return known[2]

    def _of_role(self, role: str, db: str, depth: int) -> list[Privilege]:
        found = find_built_in(role, db)
        if found is not None:
            return found
        document = self._document(ROLES, f"{db}.{role}")
        if document is None or depth > MAX_INHERITANCE:
            return []
        own = [_privilege(each) for each in document["privileges"]]
        return own + [
            each for r in document["roles"] for each in self._of_role(r["role"], r["db"], depth + 1)
        ]

    def role_exists(self, role: str, db: str) -> bool:
        """Return whether there is such a role."""
        return find_built_in(role, db) is not None or self._document(ROLES, f"{db}.{role}") is not None

    def role(self, role: str, db: str) -> Document | None:
        """Return the document of a user-defined role."""
        return self._document(ROLES, f"{db}.{role}")

    def read_roles(self, given: Any, db: str, must_exist: bool = True) -> list[Document]:
        """Return the roles of a command: names mean roles of its database."""
        if given.__class__ is not list:
            raise bad_value('"roles" argument needs to be an array')
        roles = []
        for each in given:
            role = {"role": each, "db": db} if each.__class__ is str else each
            if (
                role.__class__ is not dict
                or role.get("role").__class__ is not str
                or role.get("db").__class__ is not str
            ):
                raise bad_value("Role names must be either strings or objects")
            if must_exist and not self.role_exists(role["role"], role["db"]):
                raise MongoFailure(31, f"No role named {role['role']}@{role['db']}")
            roles.append({"role": role["role"], "db": role["db"]})
        return roles


def _get_documents(catalog: Catalog, namespace: str) -> list[Document]:
    collection = catalog.find(namespace)
    return [] if collection is None else list(collection.rows.values())


def _privilege(document: Document) -> Privilege:
    resource = document["resource"]
    actions = frozenset(document["actions"])
    if resource.get("cluster"):
        return Privilege(CLUSTER, "", actions)
    return Privilege(resource.get("db") or "*", resource.get("collection") or "*", actions)


def check_privileges(given: Any) -> list[Document]:
    """Return the privileges of a createRole command, as far as they make sense."""
    if given.__class__ is not list:
        raise bad_value('"privileges" argument needs to be an array')
    for each in given:
        if (
            each.__class__ is not dict
            or each.get("resource").__class__ is not dict
            or each.get("actions").__class__ is not list
        ):
            raise MongoFailure(
                9, f"privileges must be documents with resource and actions, not {type_name(each)}"
            )
        if any(action.__class__ is not str for action in each["actions"]):
            raise MongoFailure(9, "actions must be strings")
    return list(given)


__all__ = ["Users", "allows", "check_privileges"]
