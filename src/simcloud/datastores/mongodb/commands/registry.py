"""How a command is declared: its name, what it needs to be allowed, and the function that answers it.

A handler answers at once; what its work costs in CPU it adds to the request, and the session lets that
time pass before the answer leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from simcloud.datastores.mongodb.bson import Document, type_name
from simcloud.datastores.mongodb.engine.collection import Collection, Plan
from simcloud.datastores.mongodb.engine.fuel import burn
from simcloud.datastores.mongodb.failures import MongoFailure, bad_value
from simcloud.datastores.mongodb.rendering import show

if TYPE_CHECKING:
    from simcloud.datastores.mongodb.server import Server
    from simcloud.datastores.mongodb.session import Session

Scope = Literal["anyone", "collection", "database", "cluster", "handler"]
"""What the actions are needed on; "handler" means that the handler itself asks for what it needs."""

SEQUENCES: Final = ("documents", "updates", "deletes")
"""Fields that travel beside a command and so are not shown in messages about it."""

EXAMINE_CPU_S: Final = 0.000_002
"""What looking at one document costs."""


class Request:
    """One command being answered."""

    __slots__ = (
        "body",
        "cpu_s",
        "db",
        "docs_examined",
        "durable",
        "keys_examined",
        "name",
        "plan",
        "server",
        "session",
    )

    def __init__(self, server: Server, session: Session, db: str, name: str, body: Document) -> None:
        self.server = server
        self.session = session
        self.db = db
        self.name = name
        self.body = body
        self.cpu_s = 0.0
        self.durable = False
        self.docs_examined = 0
        self.keys_examined = 0
        self.plan: Plan | None = None

    @property
    def namespace(self) -> str:
        """The collection the command names, with its database."""
        collection = self.body[self.name]
        if collection.__class__ is not str:
            raise bad_value(f"collection name has invalid type {type_name(collection)}")
        if not collection:
            raise MongoFailure(73, f"Invalid namespace specified '{self.db}.'")
        return f"{self.db}.{collection}"

    def collection(self) -> Collection | None:
        """The collection the command names, if it exists."""
        return self.server.catalog.collections.get(self.namespace)

    def need_collection(self) -> Collection:
        """The collection the command names, made if there is none."""
        found = self.collection()
        if found is None:
            found = self.server.catalog.create(self.namespace)
            self.server.log_created(self.session.name, found)
        return found

    def document(self, field: str) -> Document:
        """A field that holds a document; empty when it is not given."""
        value = self.body.get(field)
        if value is None:
            return {}
        if value.__class__ is not dict:
            raise MongoFailure(
                14,
                f"BSON field '{self.name}.{field}' is the wrong type '{type_name(value)}', expected type 'object'",
            )
        return value

    def number(self, field: str, default: int = 0) -> int:
        """A field that holds a whole number."""
        value = self.body.get(field, default)
        if value is None:
            return default
        if value.__class__ is bool or not isinstance(value, int | float) or value != value:
            raise MongoFailure(14, f"Field '{field}' should be a number, but found: {type_name(value)}")
        return int(max(-(2**63), min(2**63 - 1, value)))

    @property
    def shown(self) -> Document:
        """The command as messages and the log show it."""
        body = {name: value for name, value in self.body.items() if name not in SEQUENCES}
        return {**body, "$db": self.db}

    @property
    def plan_summary(self) -> str:
        """How the documents were found, as the log has it; empty when none were looked for."""
        if self.plan is None:
            return ""
        index = self.plan.index
        if index is None:
            return "COLLSCAN"
        if index.name == "_id_" and self.plan.test is None:
            return "IDHACK"
        return f"IXSCAN {show(index.key)}"

    def examined(self, documents: int, keys: int = 0) -> None:
        """Count what was looked at; it costs CPU."""
        self.docs_examined += documents
        self.keys_examined += keys
        self.cpu_s += documents * EXAMINE_CPU_S
        if documents > 1:
            burn(documents)


MALFORMED: Final = (TypeError, ValueError, AttributeError, ArithmeticError, LookupError, RecursionError)
"""What comes of values of the wrong kind deep inside a command; mongod's parser refuses them before."""

Handler = Callable[[Request], Document]


class CommandInfo(NamedTuple):
    """A command of the server."""

    name: str
    handler: Handler
    scope: Scope
    actions: tuple[str, ...]
    admin_only: bool
    cpu_s: float


COMMANDS: Final[dict[str, CommandInfo]] = {}

POINT_CPU_S: Final = 0.000_06
"""What receiving, running and answering a simple command costs."""


def command(
    *names: str,
    scope: Scope = "anyone",
    actions: tuple[str, ...] = (),
    admin_only: bool = False,
    cpu_s: float = POINT_CPU_S,
) -> Callable[[Handler], Handler]:
    """Register a handler under its names."""

    def register(handler: Handler) -> Handler:
        for name in names:
            COMMANDS[name] = CommandInfo(names[0], handler, scope, actions, admin_only, cpu_s)
        return handler

    return register


def ok(**fields: Any) -> Document:
    """A reply that says that all went well."""
    fields["ok"] = 1.0
    return fields
