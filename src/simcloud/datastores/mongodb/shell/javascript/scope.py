"""Variables: a chain of scopes, each a dictionary."""

from __future__ import annotations

from typing import Final

from simcloud.datastores.mongodb.shell.javascript.values import JsObject, Undefined, Value

UNREADY: Final = Undefined()
"""What a ``let`` or ``const`` holds before its declaration has run. Scripts never see it."""


class Scope:
    """The variables of a block, a function or the whole script."""

    __slots__ = ("callee", "constants", "parent", "this", "variables")

    def __init__(self, parent: Scope | None, variables: dict[str, Value] | None = None) -> None:
        self.variables: dict[str, Value] = {} if variables is None else variables
        self.parent = parent
        self.constants: dict[str, None] | None = None
        self.this: Value = None if parent is None else parent.this
        self.callee: JsObject | None = None if parent is None else parent.callee

    def holder(self, name: str) -> Scope | None:
        """The nearest scope that has a variable."""
        scope: Scope | None = self
        while scope is not None and name not in scope.variables:
            scope = scope.parent
        return scope

    def constant(self, name: str, value: Value) -> None:
        """Declare a constant here."""
        if self.constants is None:
            self.constants = {}
        self.constants[name] = None
        self.variables[name] = value
