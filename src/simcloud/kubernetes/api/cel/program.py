"""A compiled expression: its tree as nested functions that count every step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any, TypeAlias

from simcloud.kubernetes.api.cel import parser, values
from simcloud.kubernetes.api.cel.functions import FUNCTIONS, METHODS
from simcloud.kubernetes.api.cel.values import Asked, CelError, CostExceeded, Maybe, no_such_overload

DEFAULT_STEPS = 200_000


class Scope:
    """The variables in sight, and the steps that are left for the whole evaluation."""

    __slots__ = ("left", "variables")

    def __init__(self, variables: Mapping[str, Any], left: list[int]) -> None:
        self.variables = variables
        self.left = left

    def spend(self, steps: int = 1) -> None:
        """Count steps."""
        self.left[0] -= steps
        if self.left[0] < 0:
            raise CostExceeded

    def with_variable(self, name: str, value: Any) -> Scope:
        """This scope and one variable more."""
        return Scope({**self.variables, name: value}, self.left)


Run: TypeAlias = Callable[[Scope], Any]


class Program:
    """A compiled expression."""

    def __init__(self, text: str) -> None:
        tree = parser.parse(text)
        self.text = text
        self.names = frozenset(_names(tree))
        """Every name that the expression speaks of, variables of macros too."""
        self._run = _compile(tree)

    def evaluate(self, variables: Mapping[str, Any], steps: int = DEFAULT_STEPS) -> Any:
        """The expression's value. Raises ``CelError``; ``CostExceeded`` after that many steps."""
        return self.evaluate_counted(variables, steps)[0]

    def evaluate_counted(self, variables: Mapping[str, Any], steps: int) -> tuple[Any, int]:
        """The value, and the steps that were left."""
        left = [steps]
        return self._run(Scope(variables, left)), left[0]


@lru_cache(maxsize=1024)
def compile_expression(text: str) -> Program:
    """A program from text. Raises ``CelSyntaxError``."""
    return Program(text)


def _names(tree: parser.Node) -> Iterator[str]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, parser.Name):
            yield node.name
        waiting += parser.children(node)


def _compile(node: parser.Node) -> Run:
    match node:
        case parser.Literal(value):
            return lambda scope: value
        case parser.Name(name):
            return _variable(name)
        case parser.Select():
            return _selection(node)
        case parser.Index():
            return _indexing(node)
        case parser.Macro():
            return _macro(node)
        case parser.Call():
            return _call(node)
        case parser.Listing(items):
            runs = [_compile(item) for item in items]
            return lambda scope: [run(scope) for run in runs]
        case parser.Mapping(entries):
            pairs = [(_compile(key), _compile(value)) for key, value in entries]
            return lambda scope: _map_of([(key(scope), value(scope)) for key, value in pairs])


def _map_of(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    for key, _ in pairs:
        if values.type_name(key) not in ("string", "int", "uint", "bool"):
            raise CelError(f"unsupported key type: {values.type_name(key)}")
    return dict(pairs)


_TYPES = {"int", "uint", "double", "string", "bytes", "bool", "list", "map", "null_type", "type"}


def _variable(name: str) -> Run:
    def run(scope: Scope) -> Any:
        scope.spend()
        if name in scope.variables:
            return scope.variables[name]
        if name in _TYPES:
            return values.TypeName(name)
        raise CelError(f"no such attribute(s): {name}")

    return run


def _selection(node: parser.Select) -> Run:
    operand, field = _compile(node.operand), node.field
    plain, test, optional = unescape_name(field), node.test, node.optional

    def run(scope: Scope) -> Any:
        scope.spend()
        value = operand(scope)
        if isinstance(value, Maybe):
            if test:
                return bool(value.values) and plain in value.values[0]
            return _optional_lookup(value, plain)
        if isinstance(value, Asked) and not test:
            return value.part(plain)
        if not isinstance(value, dict):
            raise no_such_overload()
        if test:
            return plain in value
        if optional:
            return Maybe((value[plain],)) if plain in value else Maybe()
        if plain not in value:
            raise CelError(f"no such key: {plain}")
        return value[plain]

    return run


def _optional_lookup(value: Maybe, key: Any) -> Maybe:
    if not value.values:
        return value
    try:
        return Maybe((_at(value.values[0], key),))
    except CelError:
        return Maybe()


_ESCAPES = {"__underscores__": "__", "__dot__": ".", "__dash__": "-", "__slash__": "/"}
_KEYWORDS = (
    "true false null in as break const continue else for function if import let loop package namespace return var"
    " void while"
)
_RESERVED = {f"__{word}__": word for word in _KEYWORDS.split(" ")}


def unescape_name(field: str) -> str:
    """The name of a field that is no identifier: ``__dash__`` stands for ``-``."""
    if "__" not in field:
        return field
    if field in _RESERVED:
        return _RESERVED[field]
    for escape, plain in _ESCAPES.items():
        field = field.replace(escape, plain)
    return field


def _indexing(node: parser.Index) -> Run:
    operand, index, optional = _compile(node.operand), _compile(node.index), node.optional

    def run(scope: Scope) -> Any:
        scope.spend()
        value, key = operand(scope), index(scope)
        if isinstance(value, Maybe):
            return _optional_lookup(value, key)
        return _optional_lookup(Maybe((value,)), key) if optional else _at(value, key)

    return run


def _at(value: Any, key: Any) -> Any:
    if isinstance(value, dict):
        if values.type_name(key) not in ("string", "int", "uint", "bool") or key not in value:
            raise CelError(f"no such key: {key}")
        return value[key]
    if isinstance(value, list) and values.is_number(key) and key == int(key):
        if not 0 <= key < len(value):
            raise CelError(f"index out of bounds: {key}")
        return value[int(key)]
    raise no_such_overload()


def _macro(node: parser.Macro) -> Run:
    target, name = _compile(node.target), node.variable
    runs = [_compile(argument) for argument in node.arguments]
    apply = {"all": _all, "exists": _exists, "exists_one": _exists_one, "filter": _filter, "map": _map}[
        node.kind
    ]

    def run(scope: Scope) -> Any:
        scope.spend()
        over = target(scope)
        if not isinstance(over, list | dict):
            raise no_such_overload()
        return apply(_scopes(scope, name, list(over)), name, runs)

    return run


def _scopes(scope: Scope, name: str, items: list[Any]) -> Iterator[Scope]:
    for item in items:
        scope.spend()
        yield scope.with_variable(name, item)


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise no_such_overload()
    return value


def _all(scopes: Iterator[Scope], name: str, runs: list[Run]) -> bool:
    return _decide((partial(runs[0], scope) for scope in scopes), False)


def _exists(scopes: Iterator[Scope], name: str, runs: list[Run]) -> bool:
    return _decide((partial(runs[0], scope) for scope in scopes), True)


def _decide(questions: Iterator[Callable[[], Any]], deciding: bool) -> bool:
    """Return ``deciding`` if any question answers so, even if others fail; otherwise raise the first failure."""
    failure: CelError | None = None
    for ask in questions:
        try:
            if _truth(ask()) is deciding:
                return deciding
        except CostExceeded:
            raise
        except CelError as error:
            failure = failure or error
    if failure is not None:
        raise failure
    return not deciding


def _exists_one(scopes: Iterator[Scope], name: str, runs: list[Run]) -> bool:
    return sum(_truth(runs[0](scope)) for scope in scopes) == 1


def _filter(scopes: Iterator[Scope], name: str, runs: list[Run]) -> list[Any]:
    return [scope.variables[name] for scope in scopes if _truth(runs[0](scope))]


def _map(scopes: Iterator[Scope], name: str, runs: list[Run]) -> list[Any]:
    if len(runs) == 1:
        return [runs[0](scope) for scope in scopes]
    return [runs[1](scope) for scope in scopes if _truth(runs[0](scope))]


_BINARY: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": values.add,
    "-": values.subtract,
    "*": values.multiply,
    "/": values.divide,
    "%": values.remainder,
    "==": values.equal,
    "!=": lambda one, other: not values.equal(one, other),
    **{sign: partial(values.compare, sign) for sign in ("<", "<=", ">", ">=")},
}


def _call(node: parser.Call) -> Run:
    runs = [_compile(argument) for argument in node.arguments]
    name = node.name
    if name in ("&&", "||") and node.target is None:
        deciding = name == "||"
        return lambda scope: _decide((partial(run, scope) for run in runs), deciding)
    if name == "?:":
        condition, then, otherwise = runs
        return lambda scope: then(scope) if _truth(condition(scope)) else otherwise(scope)
    if node.target is None and (name in _BINARY or name == "in"):
        return _operator(name, runs)
    if name == "!_":
        return lambda scope: not _truth(runs[0](scope))
    if name == "-_":
        return lambda scope: values.negate(runs[0](scope))
    return _function(node, runs)


def _operator(sign: str, runs: list[Run]) -> Run:
    left, right = runs

    def run(scope: Scope) -> Any:
        one, other = left(scope), right(scope)
        scope.spend(1 + _size(one) + _size(other))
        return _contains(one, other) if sign == "in" else _BINARY[sign](one, other)

    return run


def _contains(item: Any, container: Any) -> bool:
    if isinstance(container, dict):
        return values.type_name(item) in ("string", "int", "uint", "bool") and item in container
    if isinstance(container, list):
        return any(values.equal(item, other) for other in container)
    raise no_such_overload()


def _size(value: Any) -> int:
    """What it costs to look at a value: more for long ones."""
    if isinstance(value, str | bytes):
        return len(value) // 10
    return len(value) if isinstance(value, list | dict) else 0


def _function(node: parser.Call, runs: list[Run]) -> Run:
    name, target = node.name, node.target
    known = FUNCTIONS.get(name) if target is None else METHODS.get(name)
    receiver = None if target is None else _compile(target)

    def run(scope: Scope) -> Any:
        arguments = [evaluate(scope) for evaluate in runs]
        if receiver is not None:
            arguments.insert(0, receiver(scope))
        scope.spend(1 + sum(map(_size, arguments)))
        if known is None:
            raise no_such_overload()
        try:
            result = known(*arguments)
        except (TypeError, ValueError, AttributeError, OverflowError, IndexError, KeyError):
            raise no_such_overload() from None
        scope.spend(_size(result))
        return result

    return run
