"""``$group`` and its accumulators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from simcloud.datastores.mongodb.bson import Document
from simcloud.datastores.mongodb.engine.expressions import compile_expression
from simcloud.datastores.mongodb.engine.operators import OPERATORS
from simcloud.datastores.mongodb.engine.paths import MISSING
from simcloud.datastores.mongodb.failures import MongoFailure
from simcloud.datastores.mongodb.order import identity


def _there(values: list[Any]) -> list[Any]:
    return [value for value in values if value is not MISSING]


def _or_null(value: Any) -> Any:
    return None if value is MISSING else value


ACCUMULATORS: Final[dict[str, Callable[[list[Any]], Any]]] = {
    "$sum": OPERATORS["$sum"].function,
    "$avg": OPERATORS["$avg"].function,
    "$min": OPERATORS["$min"].function,
    "$max": OPERATORS["$max"].function,
    "$first": lambda values: _or_null(values[0]),
    "$last": lambda values: _or_null(values[-1]),
    "$push": _there,
    "$addToSet": lambda values: list({identity(each): each for each in _there(values)}.values()),
}


def group(documents: list[Document], specification: Any) -> list[Document]:
    """One document per key."""
    if specification.__class__ is not dict:
        raise MongoFailure(15947, "a group's fields must be specified in an object")
    if "_id" not in specification:
        raise MongoFailure(15955, "a group specification must include an _id")
    key_of = compile_expression(specification["_id"])
    fields = {name: _accumulator(name, each) for name, each in specification.items() if name != "_id"}
    groups: dict[Any, tuple[Any, list[Document]]] = {}
    for document in documents:
        key = _or_null(key_of(document))
        groups.setdefault(identity(key), (key, []))[1].append(document)
    return [
        {
            "_id": key,
            **{name: fold([value(each) for each in members]) for name, (fold, value) in fields.items()},
        }
        for key, members in groups.values()
    ]


def _accumulator(name: str, specification: Any) -> tuple[Callable[[list[Any]], Any], Callable[..., Any]]:
    if specification.__class__ is not dict:
        raise MongoFailure(40234, f"The field '{name}' must be an accumulator object")
    if len(specification) != 1:
        raise MongoFailure(40238, f"The field '{name}' must specify one accumulator")
    ((operator, argument),) = specification.items()
    fold = ACCUMULATORS.get(operator)
    if fold is None:
        raise MongoFailure(15952, f"unknown group operator '{operator}'")
    return fold, compile_expression(argument)
