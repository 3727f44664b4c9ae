"""The registry of commands: name, required privileges and handler.

A handler returns at once and adds the CPU time of its work to the request; the session sends the reply when that
time has passed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple

from simcloud.datastores.mongodb.bson import Document
from simcloud.datastores.mongodb.server import Request

Scope = Literal["anyone", "collection", "database", "cluster", "handler"]
"""What the actions are needed on; "handler" means that the handler itself asks for what it needs."""

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
    """Return a successful reply."""
    fields["ok"] = 1.0
    return fields
