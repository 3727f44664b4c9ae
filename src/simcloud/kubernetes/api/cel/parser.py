"""The parser: tokens to a syntax tree, with macros expanded.

Nesting is limited, so that the tree can be processed recursively.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import Struct

from simcloud.kubernetes.api.cel.lexer import Token, tokens
from simcloud.kubernetes.api.cel.values import MAX_INT, MAX_UINT, CelSyntaxError, Uint

MAX_DEPTH = 50
MAX_HEIGHT = 100


class Literal(Struct, frozen=True):
    """A value written out."""

    value: Any


class Name(Struct, frozen=True):
    """A variable."""

    name: str


class Select(Struct, frozen=True):
    """``operand.field``, ``operand.?field`` if optional, ``has(operand.field)`` if a test."""

    operand: Node
    field: str
    optional: bool = False
    test: bool = False


class Index(Struct, frozen=True):
    """``operand[index]``."""

    operand: Node
    index: Node
    optional: bool = False


class Call(Struct, frozen=True):
    """An operator or a function, of a target or of none."""

    name: str
    target: Node | None
    arguments: tuple[Node, ...]


class Macro(Struct, frozen=True):
    """``target.all(name, condition)`` and its kin."""

    kind: str
    target: Node
    variable: str
    arguments: tuple[Node, ...]


class Listing(Struct, frozen=True):
    """``[a, b]``."""

    items: tuple[Node, ...]


class Mapping(Struct, frozen=True):
    """``{a: b}``."""

    entries: tuple[tuple[Node, Node], ...]


Node: TypeAlias = Literal | Name | Select | Index | Call | Macro | Listing | Mapping

_MACROS = {"all": (2,), "exists": (2,), "exists_one": (2,), "existsOne": (2,), "filter": (2,), "map": (2, 3)}
_CONSTANTS = {"true": True, "false": False, "null": None}
_LEVELS = (("||",), ("&&",), ("<", "<=", ">", ">=", "==", "!=", "in"), ("+", "-"), ("*", "/", "%"))


def parse(text: str) -> Node:
    """The tree of an expression."""
    parser = _Parser(tokens(text))
    node = parser.expression()
    if parser.token.kind != "end":
        raise parser.make_syntax_error()
    _check_height(node)
    return node


def children(node: Node) -> tuple[Node, ...]:
    """The nodes that a node is made of."""
    match node:
        case Select(operand=operand):
            return (operand,)
        case Index(operand=operand, index=index):
            return operand, index
        case Call(target=target, arguments=arguments) | Macro(target=target, arguments=arguments):
            return arguments if target is None else (target, *arguments)
        case Listing(items):
            return items
        case Mapping(entries):
            return tuple(part for entry in entries for part in entry)
    return ()


def _check_height(node: Node) -> None:
    level: list[Node] = [node]
    height = 0
    while level:
        height += 1
        if height > MAX_HEIGHT:
            raise _too_deep(MAX_HEIGHT)
        level = [inner for outer in level for inner in children(outer)]


def _too_deep(limit: int) -> CelSyntaxError:
    return CelSyntaxError(f"expression recursion limit exceeded: {limit}")


class _Parser:
    def __init__(self, found: list[Token]) -> None:
        self.tokens = found
        self.position = 0
        self.depth = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.position]

    def make_syntax_error(self) -> CelSyntaxError:
        return CelSyntaxError(
            f"Syntax error: mismatched input '{self.token.text}' at column {self.token.at + 1}"
        )

    def next_is(self, *texts: str) -> bool:
        token = self.token
        return token.text in texts and (
            token.kind == "operator" or (token.kind == "name" and token.text == "in")
        )

    def take(self, *texts: str) -> bool:
        if not self.next_is(*texts):
            return False
        self.position += 1
        return True

    def need(self, text: str) -> None:
        if not self.take(text):
            raise self.make_syntax_error()

    def need_name(self) -> str:
        token = self.token
        if token.kind != "name":
            raise self.make_syntax_error()
        self.position += 1
        return token.text

    def expression(self) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _too_deep(MAX_DEPTH)
        node = self.binary(0)
        if self.take("?"):
            then = self.binary(0)
            self.need(":")
            node = Call("?:", None, (node, then, self.expression()))
        self.depth -= 1
        return node

    def binary(self, level: int) -> Node:
        if level == len(_LEVELS):
            return self.unary()
        signs = _LEVELS[level]
        node = self.binary(level + 1)
        if level < 2:
            operands = [node]
            while self.take(*signs):
                operands.append(self.binary(level + 1))
            return Call(signs[0], None, tuple(operands)) if len(operands) > 1 else node
        while self.next_is(*signs):
            sign = self.token.text
            self.position += 1
            node = Call(sign, None, (node, self.binary(level + 1)))
        return node

    def unary(self) -> Node:
        signs = 0
        sign = self.token.text
        while self.next_is(sign) and sign in ("!", "-"):
            self.position += 1
            signs += 1
        if not signs:
            return self.member()
        if (
            sign == "-"
            and isinstance(self.token.value, int | float)
            and not isinstance(self.token.value, bool)
        ):
            return self.member(negative=signs % 2 == 1)
        operand = self.member()
        return Call(f"{sign}_", None, (operand,)) if signs % 2 else operand

    def member(self, negative: bool = False) -> Node:
        node = self.primary(negative)
        while self.next_is(".", "["):
            if self.take("["):
                optional = self.take("?")
                node = Index(node, self.expression(), optional)
                self.need("]")
                continue
            self.need(".")
            optional = self.take("?")
            name = self.need_name()
            node = self.method(node, name) if self.take("(") else Select(node, name, optional)
        return node

    def method(self, target: Node, name: str) -> Node:
        arguments = self.arguments(")")
        if name in _MACROS and len(arguments) in _MACROS[name]:
            variable = arguments[0]
            if not isinstance(variable, Name):
                raise CelSyntaxError("argument must be a simple name")
            return Macro(name.replace("existsOne", "exists_one"), target, variable.name, tuple(arguments[1:]))
        if isinstance(target, Name) and target.name in (
            "optional",
            "cel",
            "math",
            "base64",
            "strings",
            "sets",
        ):
            return Call(f"{target.name}.{name}", None, tuple(arguments))
        return Call(name, target, tuple(arguments))

    def arguments(self, closing: str) -> list[Node]:
        found: list[Node] = []
        while not self.take(closing):
            found.append(self.expression())
            if not self.next_is(closing):
                self.need(",")
        return found

    def primary(self, negative: bool) -> Node:
        token = self.token
        if token.kind == "value":
            self.position += 1
            return Literal(_within_bounds(token.value, negative))
        if self.take("("):
            node = self.expression()
            self.need(")")
            return node
        if self.take("["):
            return Listing(tuple(self.arguments("]")))
        if self.take("{"):
            return self.mapping()
        self.take(".")
        name = self.need_name()
        if name in _CONSTANTS:
            return Literal(_CONSTANTS[name])
        if not self.take("("):
            return Name(name)
        arguments = self.arguments(")")
        if name == "has":
            return _has(arguments)
        return Call(name, None, tuple(arguments))

    def mapping(self) -> Node:
        entries: list[tuple[Node, Node]] = []
        while not self.take("}"):
            key = self.expression()
            self.need(":")
            entries.append((key, self.expression()))
            if not self.next_is("}"):
                self.need(",")
        return Mapping(tuple(entries))


def _has(arguments: list[Node]) -> Node:
    if len(arguments) != 1 or not isinstance(arguments[0], Select):
        raise CelSyntaxError("invalid argument to has() macro")
    return Select(arguments[0].operand, arguments[0].field, test=True)


def _within_bounds(value: Any, negative: bool) -> Any:
    if isinstance(value, Uint):
        if negative or value > MAX_UINT:
            raise CelSyntaxError("invalid uint literal")
        return value
    if isinstance(value, int):
        if value > MAX_INT + negative:
            raise CelSyntaxError("invalid int literal")
    elif not isinstance(value, float):
        return value
    return -value if negative else value
