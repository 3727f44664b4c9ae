"""Filters: compiles a filter document to a predicate on documents.

A filter is compiled once per command. Comparisons hold within one type (numbers are one type); an array matches if
an element matches or the whole array does. Errors have mongod's messages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from simcloud.datastores.mongodb.bson import TYPE_NUMBERS, Document, Regex, is_number, type_name
from simcloud.datastores.mongodb.engine.fuel import burn
from simcloud.datastores.mongodb.engine.paths import MISSING, leaves, split, spread
from simcloud.datastores.mongodb.failures import MongoFailure, bad_value
from simcloud.datastores.mongodb.order import equal, identity, rank, sort_key
from simcloud.patterns import RegexError, TooMuchWorkError, compile_regex


def types_wanted(wanted: Any) -> Callable[[Any], bool]:
    """Compile the argument of ``$type``, names or numbers of types, to a predicate."""
    given = wanted if wanted.__class__ is list else [wanted]
    if not given:
        raise bad_value("$type must match at least one type")
    names = {name: None for each in given for name in _names(each)}
    return lambda value: type_name(value) in names


def _names(each: Any) -> list[str]:
    if each == "number":
        return ["int", "long", "double", "decimal"]
    if each.__class__ is str:
        if each not in TYPE_NUMBERS:
            raise bad_value(f"Unknown type name alias: {each}")
        return [each]
    if is_number(each):
        for name, number in TYPE_NUMBERS.items():
            if number == each:
                return [name]
        raise bad_value(f"Invalid numerical type code: {each}")
    raise bad_value("type must be represented as a number or a string")


def searcher(regex: Regex) -> Callable[[str], bool]:
    """Compile a Perl regular expression to a predicate on strings, with bounded work."""
    for letter in regex.options:
        if letter not in "imsx":
            raise bad_value(f" invalid flag in regex options: {letter}")
    inline = "".join(letter for letter in "sx" if letter in regex.options)
    pattern = (f"(?{inline})" if inline else "") + regex.pattern
    try:
        compiled = compile_regex(
            pattern.encode("utf-8", "surrogatepass"),
            "perl",
            ignore_case="i" in regex.options,
            multiline="m" in regex.options,
        )
    except RegexError as error:
        raise MongoFailure(51091, f"Regular expression is invalid: {error}") from None

    def search(text: str) -> bool:
        before = compiled.steps
        try:
            found = compiled.search(text.encode("utf-8", "surrogatepass")) is not None
        except TooMuchWorkError:
            raise MongoFailure(51156, "Error occurred while executing the regular expression") from None
        burn(1 + len(text) // 256 + (compiled.steps - before) // 16)
        return found

    return search


Predicate = Callable[[Any], bool]
"""A predicate on a document, or on a value at a path."""

MAX_NESTING: Final = 100


def compile_query(query: Document, depth: int = 0) -> Predicate:
    """Return a predicate over documents."""
    if depth > MAX_NESTING:
        raise bad_value("exceeded maximum query tree depth")
    tests = [_clause(name, wanted, depth) for name, wanted in query.items()]
    if len(tests) == 1:
        return tests[0]
    return lambda document: all(test(document) for test in tests)


def _clause(name: str, wanted: Any, depth: int) -> Predicate:
    if not name.startswith("$"):
        return _field(name, wanted, depth)
    if name in ("$and", "$or", "$nor"):
        parts = [compile_query(each, depth + 1) for each in _branches(name, wanted)]
        if name == "$and":
            return lambda document: all(part(document) for part in parts)
        if name == "$or":
            return lambda document: any(part(document) for part in parts)
        return lambda document: not any(part(document) for part in parts)
    if name == "$expr":
        from simcloud.datastores.mongodb.engine.expressions import compile_expression, is_true

        evaluate = compile_expression(wanted)
        return lambda document: is_true(evaluate(document))
    if name == "$where":
        raise MongoFailure(2, "$where is not allowed in this context")
    raise bad_value(f"unknown top level operator: {name}")


def _branches(name: str, wanted: Any) -> list[Document]:
    if wanted.__class__ is not list:
        raise bad_value(f"{name} must be an array")
    if not wanted:
        raise bad_value("$and/$or/$nor must be a nonempty array")
    if any(each.__class__ is not dict for each in wanted):
        raise bad_value("$or/$and/$nor entries need to be full objects")
    return list(wanted)


def _field(path: str, wanted: Any, depth: int) -> Predicate:
    test = compile_condition(wanted, depth)
    if "." not in path:

        def of_field(document: Any) -> bool:
            return test((document.get(path, MISSING),))

        def of_text(document: Any) -> bool:
            value = document.get(path, MISSING)
            return value == wanted if value.__class__ is str else test((value,))

        # Most queries ask for one text, and without an index every document is looked at.
        return of_text if wanted.__class__ is str else of_field
    parts = split(path)
    return lambda document: test(tuple(leaves(document, parts)))


Leaves = Sequence[Any]
Condition = Callable[[Leaves], bool]
"""A predicate on the values at a path."""


def compile_condition(wanted: Any, depth: int = 0) -> Condition:
    """Return a condition on the values at a path: a plain value, a regular expression, or operators."""
    if wanted.__class__ is dict and is_operators(wanted):
        tests = _operators(wanted, depth)
        return tests[0] if len(tests) == 1 else (lambda found: all(test(found) for test in tests))
    return _equals(wanted)


def is_operators(wanted: Document) -> bool:
    """Return whether a document is conditions, not a value to compare with."""
    first = next(iter(wanted), "")
    return first.startswith("$") and first not in ("$ref", "$id", "$db")


def _operators(wanted: Document, depth: int) -> list[Condition]:
    tests: list[Condition] = []
    for name, argument in wanted.items():
        if name == "$options":
            if "$regex" not in wanted:
                raise bad_value("$options needs a $regex")
            continue
        if name == "$regex":
            argument = _regex(argument, wanted.get("$options"))
        maker = OPERATORS.get(name)
        if maker is None:
            raise bad_value(f"unknown operator: {name}")
        tests.append(maker(argument, depth))
    return tests


def any_value(test: Predicate) -> Condition:
    """True when one of the values at a path passes, or one element of an array there."""

    def condition(found: Leaves) -> bool:
        for value in found:
            if value.__class__ is list and any(test(each) for each in value):
                return True
            if test(value):
                return True
        return False

    return condition


def _equals(wanted: Any) -> Condition:
    if wanted is None:
        return any_value(lambda value: value is None or value is MISSING)
    if wanted.__class__ is Regex:
        return _regex_condition(wanted)
    key = identity(wanted)
    return any_value(lambda value: value is not MISSING and identity(value) == key)


def _regex(argument: Any, options: Any) -> Regex:
    if argument.__class__ is Regex:
        return argument if options is None else Regex(argument.pattern, str(options))
    if argument.__class__ is not str:
        raise bad_value("$regex has to be a string")
    if options is not None and options.__class__ is not str:
        raise bad_value("$options has to be a string")
    return Regex(argument, options or "")


def _regex_condition(regex: Regex) -> Condition:
    search = searcher(regex)

    def test(value: Any) -> bool:
        return search(value) if value.__class__ is str else value.__class__ is Regex and value == regex

    return any_value(test)


def _compare(
    name: str, accept: Callable[[Any, Any], bool], or_equal: bool
) -> Callable[[Any, int], Condition]:
    def make(wanted: Any, depth: int) -> Condition:
        if wanted.__class__ is Regex:
            raise bad_value(f"Can't have RegEx as arg to predicate over field '{name}'.")
        if wanted is None:
            return _equals(None) if or_equal else (lambda found: False)
        place, key = rank(wanted), sort_key(wanted)

        def test(value: Any) -> bool:
            if value is MISSING or rank(value) != place:
                return False
            if value != value or wanted != wanted:
                return or_equal and value != value and wanted != wanted
            return accept(sort_key(value), key)

        return any_value(test)

    return make


def _not(wanted: Any, depth: int) -> Condition:
    if wanted.__class__ is Regex:
        inner = _regex_condition(wanted)
    elif wanted.__class__ is dict:
        if not wanted:
            raise bad_value("$not cannot be empty")
        inner = compile_condition(wanted, depth + 1)
        if not is_operators(wanted):
            raise bad_value(f"unknown operator: {next(iter(wanted))}")
    else:
        raise bad_value("$not needs a regex or a document")
    return lambda found: not inner(found)


def _negate(make: Callable[[Any, int], Condition]) -> Callable[[Any, int], Condition]:
    def negative(wanted: Any, depth: int) -> Condition:
        inner = make(wanted, depth)
        return lambda found: not inner(found)

    return negative


def _in(name: str) -> Callable[[Any, int], Condition]:
    def make(wanted: Any, depth: int) -> Condition:
        if wanted.__class__ is not list:
            raise bad_value(f"{name} needs an array")
        if any(each.__class__ is dict and is_operators(each) for each in wanted):
            raise bad_value(f"cannot nest $ under {name}")
        regexes = [searcher(each) for each in wanted if each.__class__ is Regex]
        keys = {identity(each): None for each in wanted}
        with_null = None in keys

        def test(value: Any) -> bool:
            if value is MISSING:
                return with_null
            if identity(value) in keys:
                return True
            return value.__class__ is str and any(search(value) for search in regexes)

        return any_value(test)

    return make


def _exists(wanted: Any, depth: int) -> Condition:
    sought = bool(wanted)
    return lambda found: any(value is not MISSING for value in found) == sought


def _type(wanted: Any, depth: int) -> Condition:
    accepts = types_wanted(wanted)

    def condition(found: Leaves) -> bool:
        return any(value is not MISSING and any(map(accepts, spread(value))) for value in found)

    return condition


def _size(wanted: Any, depth: int) -> Condition:
    if not is_number(wanted):
        raise bad_value("$size needs a number")
    if wanted < 0:
        raise bad_value("$size may not be negative")
    return lambda found: any(value.__class__ is list and len(value) == wanted for value in found)


def _all(wanted: Any, depth: int) -> Condition:
    if wanted.__class__ is not list:
        raise bad_value("$all needs an array")
    tests = [compile_condition(each, depth + 1) for each in wanted]
    return lambda found: bool(tests) and all(test(found) for test in tests)


def _elem_match(wanted: Any, depth: int) -> Condition:
    if wanted.__class__ is not dict:
        raise bad_value("$elemMatch needs an Object")
    if wanted and is_operators(wanted) and next(iter(wanted)) not in ("$and", "$or", "$nor", "$expr"):
        condition = compile_condition(wanted, depth + 1)
        return _in_any_array(lambda each: condition((each,)))
    matches = compile_query(wanted, depth + 1)
    return _in_any_array(lambda each: each.__class__ is dict and matches(each))


def _in_any_array(element: Predicate) -> Condition:
    return lambda found: any(value.__class__ is list and any(map(element, value)) for value in found)


OPERATORS: Final[dict[str, Callable[[Any, int], Condition]]] = {
    "$eq": lambda wanted, depth: _equals_exactly(wanted),
    "$ne": _negate(lambda wanted, depth: _equals_exactly(wanted)),
    "$gt": _compare("$gt", lambda value, key: value > key, or_equal=False),
    "$gte": _compare("$gte", lambda value, key: value >= key, or_equal=True),
    "$lt": _compare("$lt", lambda value, key: value < key, or_equal=False),
    "$lte": _compare("$lte", lambda value, key: value <= key, or_equal=True),
    "$in": _in("$in"),
    "$nin": _negate(_in("$nin")),
    "$not": _not,
    "$exists": _exists,
    "$type": _type,
    "$regex": lambda wanted, depth: _regex_condition(wanted),
    "$size": _size,
    "$all": _all,
    "$elemMatch": _elem_match,
}


def _equals_exactly(wanted: Any) -> Condition:
    if wanted.__class__ is Regex:
        return any_value(lambda value: value is not MISSING and equal(value, wanted))
    return _equals(wanted)
