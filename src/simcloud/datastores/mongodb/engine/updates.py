"""Updates: compiles an update document and applies it to documents.

An update is compiled once and applied to each document; the old version is not changed. Errors have mongod's
messages. ``Change.positional`` resolves ``$``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from simcloud.datastores.mongodb.bson import Document, copy_value, type_name
from simcloud.datastores.mongodb.document_text import show
from simcloud.datastores.mongodb.engine.filters import compile_query
from simcloud.datastores.mongodb.engine.modifiers import MODIFIERS
from simcloud.datastores.mongodb.engine.paths import MISSING, plain_get, split
from simcloud.datastores.mongodb.failures import MongoFailure, bad_value, parse_failure
from simcloud.datastores.mongodb.order import equal


class Modifier(NamedTuple):
    """One operator on one path."""

    operator: str
    path: str
    argument: Any


class Update:
    """A compiled update: operators, or a whole replacement."""

    def __init__(self, update: Any) -> None:
        self._replacement: Document | None = None
        self._modifiers: list[Modifier] = []
        if update.__class__ is not dict:
            raise parse_failure("Update argument must be either an object or an array")
        if next(iter(update), "").startswith("$"):
            self._modifiers = _modifiers(update)
        else:
            for name in update:
                if name.startswith("$"):
                    raise MongoFailure(
                        52, f"The dollar ($) prefixed field '{name}' in '{name}' is not valid for storage."
                    )
            self._replacement = update

    @property
    def replaces(self) -> bool:
        """Whether it puts a whole document in another's place."""
        return self._replacement is not None

    def apply(self, old: Document, query: Document, *, inserting: bool = False) -> Document:
        """Return the new version of a document; ``inserting`` when it is added by an upsert."""
        if self._replacement is not None:
            return _replace(old, self._replacement)
        new: Document = copy_value(old)
        for modifier in self._modifiers:
            if modifier.operator == "$setOnInsert" and not inserting:
                continue
            for parts in self._paths(new, modifier.path, query):
                MODIFIERS[modifier.operator](new, parts, modifier.argument)
        if "_id" in old and not equal(new.get("_id", MISSING) if "_id" in new else None, old["_id"]):
            raise MongoFailure(
                66, "Performing an update on the path '_id' would modify the immutable field '_id'"
            )
        return new

    def _paths(self, document: Document, path: str, query: Document) -> Iterator[tuple[str, ...]]:
        """Expand a path with ``$`` or ``$[]`` to plain paths for this document."""
        parts = split(path)
        if "$" not in path:
            yield parts
            return
        yield from self._expand(document, (), parts, query)

    def _expand(
        self, document: Document, done: tuple[str, ...], parts: tuple[str, ...], query: Document
    ) -> Iterator[tuple[str, ...]]:
        for at, part in enumerate(parts):
            if not part.startswith("$"):
                continue
            before = done + parts[:at]
            array = plain_get(document, before)
            if part == "$":
                place = positional(document, query)
                if place is None:
                    raise bad_value("The positional operator did not find the match needed from the query.")
                chosen = [place]
            elif array.__class__ is not list:
                where = ".".join(before)
                raise bad_value(
                    f"The path '{where}' must exist in the document in order to apply array updates."
                )
            elif part != "$[]":
                raise bad_value(f"No array filter found for identifier '{part[2:-1]}'")
            else:
                chosen = list(range(len(array)))
            for place in chosen:
                yield from self._expand(document, (*before, str(place)), parts[at + 1 :], query)
            return
        yield done + parts


def _modifiers(update: Document) -> list[Modifier]:
    found: list[Modifier] = []
    for operator, changes in update.items():
        if operator not in MODIFIERS:
            words = "Expected a valid update modifier or pipeline-style update specified as an array"
            raise parse_failure(f"Unknown modifier: {operator}. {words}")
        if changes.__class__ is not dict:
            shown = f"{operator}: {show(changes)}"
            raise parse_failure(
                f"Modifiers operate on fields but we found type {type_name(changes)} instead. For example: {{$mod: {{<field>: ...}}}} not {{{shown}}}"
            )
        for path, argument in changes.items():
            if not path or path.startswith(".") or path.endswith(".") or ".." in path:
                raise MongoFailure(
                    56, f"The update path '{path}' contains an empty field name, which is not allowed."
                )
            found.append(Modifier(operator, path, argument))
    found.sort(key=lambda modifier: split(modifier.path))
    _check_conflicts(found)
    return found


def _check_conflicts(modifiers: list[Modifier]) -> None:
    taken: dict[str, None] = {}
    paths = [path for each in modifiers for path in _list_paths(each)]
    for path in paths:
        if path in taken:
            raise MongoFailure(40, f"Updating the path '{path}' would create a conflict at '{path}'")
        taken[path] = None
    for path in paths:
        parts = path.split(".")
        for length in range(1, len(parts)):
            above = ".".join(parts[:length])
            if above in taken:
                raise MongoFailure(40, f"Updating the path '{path}' would create a conflict at '{above}'")


def _list_paths(modifier: Modifier) -> list[str]:
    return (
        [modifier.path, modifier.argument]
        if modifier.operator == "$rename" and modifier.argument.__class__ is str
        else [modifier.path]
    )


def _replace(old: Document, replacement: Document) -> Document:
    if "_id" in replacement and "_id" in old and not equal(replacement["_id"], old["_id"]):
        shown = show({"_id": replacement["_id"]})[2:-2]
        raise MongoFailure(
            66,
            f"After applying the update, the (immutable) field '_id' was found to have been altered to {shown}",
        )
    new: Document = {"_id": old["_id"]} if "_id" in old else {}
    for name, value in replacement.items():
        new[name] = copy_value(value)
    return new


def positional(document: Document, query: Document) -> int | None:
    """Return the place of the first array element that made the document match."""
    for path, wanted in query.items():
        if path == "$and":
            for each in wanted:
                place = positional(document, each)
                if place is not None:
                    return place
            continue
        if path.startswith("$"):
            continue
        parts = split(path)
        for length in range(len(parts), 0, -1):
            array = plain_get(document, parts[:length])
            if array.__class__ is list:
                rest = ".".join(("of", *parts[length:]))
                test = compile_query({rest: wanted})
                for at, each in enumerate(array):
                    if test({"of": [each]}):
                        return at
    return None


def upsert_base(query: Document) -> Document:
    """Build the document that an upsert starts from: the equality conditions of the query."""
    base: Document = {}
    for path, wanted in query.items():
        if path == "$and" or (path == "$or" and len(wanted) == 1):
            for each in wanted:
                base.update(upsert_base(each))
        elif not path.startswith("$"):
            if wanted.__class__ is dict and next(iter(wanted), "").startswith("$"):
                if "$eq" not in wanted:
                    continue
                wanted = wanted["$eq"]
            MODIFIERS["$set"](base, split(path), wanted)
    return base
