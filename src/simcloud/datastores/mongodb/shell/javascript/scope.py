"""Scopes of variables, and closures."""

from __future__ import annotations

from typing import Final

from simcloud.datastores.mongodb.shell.javascript import syntax as js
from simcloud.datastores.mongodb.shell.javascript.values import JsFunction, JsObject, Undefined, Value

UNREADY: Final = Undefined()
"""What a ``let`` or ``const`` holds before its declaration has run. Scripts never see it."""


class Scope:
    """The variables of a block, a function or the whole script."""

    __slots__ = ("constants", "parent", "this", "variables")

    def __init__(self, parent: Scope | None, variables: dict[str, Value] | None = None) -> None:
        self.variables: dict[str, Value] = {} if variables is None else variables
        self.parent = parent
        self.constants: dict[str, None] | None = None
        self.this: Value = None if parent is None else parent.this

    def holder(self, name: str) -> Scope | None:
        """Return the nearest scope that has a variable."""
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


class Closure(JsFunction):
    """A function of the script with its enclosing scope."""

    __slots__ = ("node", "scope", "source")

    def __init__(
        self, prototype: JsObject | None, node: js.Function, scope: Scope, source: js.Source, name: str
    ) -> None:
        super().__init__(prototype, name)
        self.node = node
        self.scope = scope
        self.source = source

    def own(self, key: str) -> Value:
        if key == "length":
            return float(len(self.node.params))
        return super().own(key)
