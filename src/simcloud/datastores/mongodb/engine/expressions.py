"""Aggregation expressions: ``"$field"``, ``{$add: […]}`` and the like, compiled to functions of a document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from simcloud.datastores.mongodb.bson import Document, is_number
from simcloud.datastores.mongodb.engine.fuel import burn
from simcloud.datastores.mongodb.engine.operators import OPERATORS
from simcloud.datastores.mongodb.engine.paths import MISSING, split
from simcloud.datastores.mongodb.failures import MongoFailure

Scope = dict[str, Any]
Expression = Callable[..., Any]
"""Called with a document, and the variables if there are any."""

NOTHING: Final[Scope] = {}
MAX_DEPTH: Final = 100
SIZED: Final = (list, str)
UNSUITABLE: Final = (TypeError, ValueError, AttributeError, ArithmeticError, LookupError)


def is_true(value: Any) -> bool:
    """Return whether a value is true: not false, null, missing or zero."""
    if value is None or value is MISSING or value is False:
        return False
    return not (is_number(value) and value == 0)


def compile_expression(source: Any, depth: int = 0) -> Expression:
    """Return a function of a document and variables."""
    if depth > MAX_DEPTH:
        raise MongoFailure(15, "the expression is nested too deeply")
    if source.__class__ is str and source.startswith("$"):
        return _variable(source[2:]) if source.startswith("$$") else _field(source[1:])
    if source.__class__ is list:
        parts = [compile_expression(each, depth + 1) for each in source]
        return lambda document, scope=NOTHING: [_null(part(document, scope)) for part in parts]
    if source.__class__ is dict:
        return _document(source, depth)
    return lambda document, scope=NOTHING: source


def _null(value: Any) -> Any:
    return None if value is MISSING else value


def _document(source: Document, depth: int) -> Expression:
    first = next(iter(source), "")
    if first.startswith("$"):
        if len(source) != 1:
            raise MongoFailure(
                15983, f"An object representing an expression must have exactly one field: {source}"
            )
        return _operator(first, source[first], depth)
    parts = {name: compile_expression(each, depth + 1) for name, each in source.items()}

    def build(document: Any, scope: Scope = NOTHING) -> Document:
        made = {name: part(document, scope) for name, part in parts.items()}
        return {name: value for name, value in made.items() if value is not MISSING}

    return build


def _field(path: str) -> Expression:
    parts = split(path)
    if len(parts) == 1:
        name = parts[0]
        return lambda document, scope=NOTHING: (
            document.get(name, MISSING) if document.__class__ is dict else MISSING
        )
    return lambda document, scope=NOTHING: walk(document, parts, 0)


def walk(value: Any, parts: tuple[str, ...], at: int) -> Any:
    """Return the value at a path; through an array, the array of what its documents have there."""
    for place in range(at, len(parts)):
        if value.__class__ is list:
            found = [walk(each, parts, place) for each in value if each.__class__ in (dict, list)]
            return [each for each in found if each is not MISSING]
        if value.__class__ is not dict:
            return MISSING
        value = value.get(parts[place], MISSING)
    return value


def _variable(path: str) -> Expression:
    name, _, rest = path.partition(".")
    parts = split(rest) if rest else ()

    def read(document: Any, scope: Scope = NOTHING) -> Any:
        if name in scope:
            value = scope[name]
        elif name in ("ROOT", "CURRENT"):
            value = scope.get("ROOT", document)
        elif name == "REMOVE":
            return MISSING
        else:
            raise MongoFailure(17276, f"Use of undefined variable: {name}")
        return walk(value, parts, 0) if parts else value

    return read


def _operator(name: str, argument: Any, depth: int) -> Expression:
    if name == "$literal":
        return lambda document, scope=NOTHING: argument
    special = SPECIAL.get(name)
    if special is not None:
        return special(argument, depth)
    compute = OPERATORS.get(name)
    if compute is None:
        raise MongoFailure(168, f"Unrecognized expression '{name}'")
    sources = argument if argument.__class__ is list else [argument]
    parts = [compile_expression(each, depth + 1) for each in sources]
    if compute.takes is not None and len(parts) not in compute.takes:
        raise MongoFailure(
            16020,
            f"Expression {name} takes exactly {compute.takes[0]} arguments. {len(parts)} were passed in.",
        )

    def evaluate(document: Any, scope: Scope = NOTHING) -> Any:
        values = [part(document, scope) for part in parts]
        burn(1 + sum([len(value) for value in values if value.__class__ in SIZED]))
        try:
            return compute.function(*values)
        except UNSUITABLE:
            raise MongoFailure(14, f"{name} does not support the types or values of its arguments") from None

    return evaluate


def _fields(name: str, argument: Any, depth: int, *wanted: str) -> list[Expression]:
    if argument.__class__ is not dict:
        raise MongoFailure(28646, f"{name} only supports an object as its argument")
    missing = [each for each in wanted if each not in argument]
    if missing:
        raise MongoFailure(28648, f"Missing '{missing[0]}' parameter to {name}")
    return [compile_expression(argument[each], depth + 1) for each in wanted]


def _cond(argument: Any, depth: int) -> Expression:
    if argument.__class__ is list:
        if len(argument) != 3:
            raise MongoFailure(
                16020, f"Expression $cond takes exactly 3 arguments. {len(argument)} were passed in."
            )
        argument = dict(zip(("if", "then", "else"), argument, strict=True))
    test, yes, no = _fields("$cond", argument, depth, "if", "then", "else")
    return lambda document, scope=NOTHING: (yes if is_true(test(document, scope)) else no)(document, scope)


def _each(name: str, argument: Any, depth: int, wanted: str) -> tuple[Expression, Expression, str]:
    source, body = _fields(name, argument, depth, "input", wanted)
    return source, body, str(argument.get("as", "this"))


def _inside(document: Any, scope: Scope, **more: Any) -> Scope:
    return {"ROOT": document, **scope, **more}


def _array(value: Any, name: str) -> list[Any] | None:
    if value is None or value is MISSING:
        return None
    if value.__class__ is not list:
        raise MongoFailure(28651, f"input to {name} must be an array")
    burn(len(value))
    return value


def _filter(argument: Any, depth: int) -> Expression:
    source, test, variable = _each("$filter", argument, depth, "cond")

    def evaluate(document: Any, scope: Scope = NOTHING) -> Any:
        array = _array(source(document, scope), "$filter")
        return array and [
            each for each in array if is_true(test(document, _inside(document, scope, **{variable: each})))
        ]

    return evaluate


def _map(argument: Any, depth: int) -> Expression:
    source, body, variable = _each("$map", argument, depth, "in")

    def evaluate(document: Any, scope: Scope = NOTHING) -> Any:
        array = _array(source(document, scope), "$map")
        return array and [
            _null(body(document, _inside(document, scope, **{variable: each}))) for each in array
        ]

    return evaluate


def _and(argument: Any, depth: int) -> Expression:
    parts = [
        compile_expression(each, depth + 1)
        for each in (argument if argument.__class__ is list else [argument])
    ]
    return lambda document, scope=NOTHING: all(is_true(part(document, scope)) for part in parts)


def _or(argument: Any, depth: int) -> Expression:
    parts = [
        compile_expression(each, depth + 1)
        for each in (argument if argument.__class__ is list else [argument])
    ]
    return lambda document, scope=NOTHING: any(is_true(part(document, scope)) for part in parts)


SPECIAL: Final[dict[str, Callable[[Any, int], Expression]]] = {
    "$cond": _cond,
    "$filter": _filter,
    "$map": _map,
    "$and": _and,
    "$or": _or,
}
