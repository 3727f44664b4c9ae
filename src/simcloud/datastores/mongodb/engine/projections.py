"""Projections of documents."""

from __future__ import annotations

from typing import Any

from simcloud.datastores.mongodb.bson import Document, is_number
from simcloud.datastores.mongodb.engine.filters import compile_query
from simcloud.datastores.mongodb.failures import MongoFailure, bad_value

Tree = dict[str, Any]


def project(documents: list[Document], projection: Document) -> list[Document]:
    """Return the documents as the projection shows them."""
    id_shown, including, tree = _read(projection)
    result = []
    for document in documents:
        shown = _include(document, tree) if including else _exclude(document, tree)
        if id_shown is False:
            shown.pop("_id", None)
        elif including and "_id" in document:
            shown = {"_id": document["_id"], **shown}
        result.append(shown)
    return result


def _read(projection: Document) -> tuple[bool | None, bool, Tree]:
    """Return whether _id is shown (None: not said), whether fields are included, and the fields as a tree."""
    id_shown: bool | None = None
    including: bool | None = None
    tree: Tree = {}
    for path, wanted in projection.items():
        leaf: Any = True
        if wanted.__class__ is dict:
            leaf = _operator(wanted)
            shows = None if "$slice" in wanted else True
        else:
            shows = bool(wanted) if is_number(wanted) or wanted.__class__ is bool else True
        if path == "_id" and leaf is True:
            id_shown = bool(shows)
            continue
        if shows is not None:
            if including is not None and including != shows:
                what, mode = ("inclusion", "exclusion") if shows else ("exclusion", "inclusion")
                code = 31253 if shows else 31254
                raise MongoFailure(code, f"Cannot do {what} on field {path} in {mode} projection")
            including = shows
        _plant(tree, path, leaf)
    if including is None:
        including = bool(id_shown) and not tree
    return id_shown, including, tree


def _plant(tree: Tree, path: str, leaf: Any) -> None:
    *parents, last = path.split(".")
    for parent in parents:
        below = tree.setdefault(parent, {})
        if below.__class__ is not dict:
            raise MongoFailure(31249, f"Path collision at {path} remaining portion {last}")
        tree = below
    if last in tree:
        raise MongoFailure(31250, f"Path collision at {path}")
    tree[last] = leaf


def _operator(wanted: Document) -> tuple[str, Any]:
    ((name, argument), *_rest) = wanted.items()
    if name == "$slice":
        numbers = argument if argument.__class__ is list else [argument]
        if not numbers or len(numbers) > 2 or not all(map(is_number, numbers)):
            raise bad_value("$slice syntax error")
        return name, [int(number) for number in numbers]
    if name == "$elemMatch":
        if argument.__class__ is not dict:
            raise bad_value("elemMatch: Invalid argument, object required.")
        return name, compile_query({"of": {"$elemMatch": argument}})
    raise MongoFailure(31325, f"Unknown expression {name}")


def _include(value: Any, tree: Tree) -> Any:
    if value.__class__ is list:
        return [_include(each, tree) for each in value if each.__class__ in (dict, list)]
    shown: Document = {}
    for name, each in value.items():
        branch = tree.get(name)
        if branch is True:
            shown[name] = each
        elif branch.__class__ is tuple:
            _apply(shown, name, each, branch)
        elif branch.__class__ is dict and each.__class__ in (dict, list):
            shown[name] = _include(each, branch)
    return shown


def _exclude(value: Any, tree: Tree) -> Any:
    if value.__class__ is list:
        return [_exclude(each, tree) if each.__class__ in (dict, list) else each for each in value]
    shown: Document = {}
    for name, each in value.items():
        branch = tree.get(name)
        if branch is None:
            shown[name] = each
        elif branch.__class__ is tuple:
            _apply(shown, name, each, branch)
        elif branch.__class__ is dict:
            shown[name] = _exclude(each, branch) if each.__class__ in (dict, list) else each
    return shown


def _apply(shown: Document, name: str, value: Any, operator: tuple[str, Any]) -> None:
    kind, argument = operator
    if value.__class__ is not list:
        if kind == "$slice":
            shown[name] = value
    elif kind == "$slice":
        shown[name] = _slice(value, argument)
    else:
        hit = [each for each in value if argument({"of": [each]})][:1]
        if hit:
            shown[name] = hit


def _slice(value: list[Any], numbers: list[int]) -> list[Any]:
    if len(numbers) == 1:
        count = numbers[0]
        return value[count:] if count < 0 else value[:count]
    start, count = numbers
    start = max(0, len(value) + start) if start < 0 else start
    return value[start : start + count]
