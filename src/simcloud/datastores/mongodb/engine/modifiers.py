"""The update operators, which change one path of a document in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from simcloud.datastores.mongodb.bson import (
    INT64_MAX,
    INT64_MIN,
    Document,
    Int64,
    copy_value,
    is_number,
    type_name,
)
from simcloud.datastores.mongodb.document_text import show
from simcloud.datastores.mongodb.engine.filters import compile_query, is_operators
from simcloud.datastores.mongodb.engine.paths import MISSING, plain_get
from simcloud.datastores.mongodb.engine.sort import sort_documents
from simcloud.datastores.mongodb.failures import MongoFailure, bad_value, parse_failure
from simcloud.datastores.mongodb.order import equal, sort_key

Parts = tuple[str, ...]
MAX_BACKFILL: Final = 1_500_000


def put(document: Document, parts: Parts, value: Any) -> None:
    """Set what is at a path, making what is missing on the way."""
    holder: Any = document
    for at, part in enumerate(parts):
        last = at == len(parts) - 1
        if holder.__class__ is dict:
            if last:
                holder[part] = value
            else:
                holder = holder.setdefault(part, {})
        elif holder.__class__ is list and part.isdigit():
            place = int(part)
            if place > len(holder) + MAX_BACKFILL:
                raise bad_value(f"can't backfill more than {MAX_BACKFILL} elements")
            holder.extend([None] * (place + 1 - len(holder)))
            if last:
                holder[place] = value
            else:
                if holder[place] is None:
                    holder[place] = {}
                holder = holder[place]
        else:
            name = parts[at - 1]
            raise MongoFailure(28, f"Cannot create field '{part}' in element {{{name}: {show(holder)}}}")


def remove(document: Document, parts: Parts) -> Any:
    """Take away what is at a path, and return it; an array keeps a null in its place."""
    holder = plain_get(document, parts[:-1]) if len(parts) > 1 else document
    last = parts[-1]
    if holder.__class__ is dict:
        return holder.pop(last, MISSING)
    if holder.__class__ is list and last.isdigit() and int(last) < len(holder):
        value, holder[int(last)] = holder[int(last)], None
        return value
    return MISSING


def _set(document: Document, parts: Parts, argument: Any) -> None:
    put(document, parts, copy_value(argument))


def _unset(document: Document, parts: Parts, argument: Any) -> None:
    remove(document, parts)


def _inc(document: Document, parts: Parts, argument: Any) -> None:
    path = ".".join(parts)
    if not is_number(argument):
        raise MongoFailure(14, f"Cannot increment with non-numeric argument: {{{path}: {show(argument)}}}")
    old = plain_get(document, parts)
    if old is MISSING:
        put(document, parts, argument)
        return
    if not is_number(old):
        shown = show({"_id": document.get("_id")}).replace("{ ", "{").replace(" }", "}")
        raise MongoFailure(
            14,
            f"Cannot apply $inc to a value of non-numeric type. {shown} has the field '{parts[-1]}' "
            f"of non-numeric type {type_name(old)}",
        )
    total = old + argument
    if isinstance(total, int):
        if not INT64_MIN <= total <= INT64_MAX:
            raise bad_value(f"Failed to apply $inc operations to current value (({type_name(old)}) {old})")
        if old.__class__ is Int64 or argument.__class__ is Int64:
            total = Int64(total)
    put(document, parts, total)


def _rename(document: Document, parts: Parts, argument: Any) -> None:
    path = ".".join(parts)
    if argument.__class__ is not str:
        raise bad_value(f"The 'to' field for $rename must be a string: {path}: {show(argument)}")
    if argument == path:
        raise bad_value(f'The source and target field for $rename must differ: {path}: "{argument}"')
    value = remove(document, parts)
    if value is not MISSING:
        put(document, tuple(argument.split(".")), value)


def _array_at(document: Document, parts: Parts, operator: str) -> list[Any] | None:
    """Return the array at a path; None when nothing is there."""
    value = plain_get(document, parts)
    if value is MISSING:
        return None
    if value.__class__ is not list:
        path = ".".join(parts)
        shown = show({"_id": document.get("_id")}).replace("{ ", "{").replace(" }", "}")
        if operator == "$push":
            raise bad_value(
                f"The field '{path}' must be an array but is of type {type_name(value)} in document {shown}"
            )
        if operator == "$addToSet":
            raise bad_value(
                f"Cannot apply $addToSet to non-array field. Field named '{path}' has non-array type {type_name(value)}"
            )
        if operator == "$pop":
            raise MongoFailure(
                14, f"Path '{path}' contains an element of non-array type '{type_name(value)}'"
            )
        raise bad_value(f"Cannot apply {operator} to a non-array value")
    return value


def _push(document: Document, parts: Parts, argument: Any) -> None:
    array = list(_array_at(document, parts, "$push") or [])
    options: Document = (
        argument if argument.__class__ is dict and "$each" in argument else {"$each": [argument]}
    )
    added = options["$each"]
    if added.__class__ is not list:
        raise bad_value(
            f"The argument to $each in $push must be an array but it was of type: {type_name(added)}"
        )
    for name in options:
        if name not in ("$each", "$slice", "$position", "$sort"):
            raise bad_value(f"Unrecognized clause in $push: {name}")
    place = options.get("$position", len(array))
    place = int(place) if place >= 0 else max(0, len(array) + int(place))
    array[place:place] = [copy_value(each) for each in added]
    order = options.get("$sort")
    if order.__class__ is dict:
        array = sort_documents(array, order)
    elif order is not None:
        array.sort(key=sort_key, reverse=order < 0)
    if "$slice" in options:
        count = int(options["$slice"])
        array = array[count:] if count < 0 else array[:count]
    put(document, parts, array)


def _add_to_set(document: Document, parts: Parts, argument: Any) -> None:
    array = list(_array_at(document, parts, "$addToSet") or [])
    several = argument.__class__ is dict and "$each" in argument
    added = argument["$each"] if several else [argument]
    if added.__class__ is not list:
        raise MongoFailure(
            14, f"The argument to $each in $addToSet must be an array but it was of type {type_name(added)}"
        )
    for value in added:
        if not any(equal(value, each) for each in array):
            array.append(copy_value(value))
    put(document, parts, array)


def _pull(document: Document, parts: Parts, argument: Any) -> None:
    array = _array_at(document, parts, "$pull")
    if array is None:
        return
    if argument.__class__ is dict and not is_operators(argument):
        matches = compile_query(argument)
        kept = [each for each in array if not (each.__class__ is dict and matches(each))]
    else:
        condition = compile_query({"of": argument})
        kept = [each for each in array if not condition({"of": each})]
    put(document, parts, kept)


def _pop(document: Document, parts: Parts, argument: Any) -> None:
    if not is_number(argument) or argument not in (1, -1):
        raise parse_failure(f"$pop expects 1 or -1, found: {show(argument)}")
    array = _array_at(document, parts, "$pop")
    if array:
        put(document, parts, array[:-1] if argument == 1 else array[1:])


MODIFIERS: Final[dict[str, Callable[[Document, Parts, Any], None]]] = {
    "$set": _set,
    "$setOnInsert": _set,
    "$unset": _unset,
    "$inc": _inc,
    "$rename": _rename,
    "$push": _push,
    "$addToSet": _add_to_set,
    "$pull": _pull,
    "$pop": _pop,
}
