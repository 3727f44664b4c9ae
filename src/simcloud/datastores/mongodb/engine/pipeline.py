"""Aggregation pipelines and their stages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from simcloud.datastores.mongodb.bson import Document, copy_value, is_number
from simcloud.datastores.mongodb.engine.accumulators import group
from simcloud.datastores.mongodb.engine.expressions import compile_expression, walk
from simcloud.datastores.mongodb.engine.filters import compile_query
from simcloud.datastores.mongodb.engine.fuel import burn
from simcloud.datastores.mongodb.engine.modifiers import put, remove
from simcloud.datastores.mongodb.engine.paths import MISSING, plain_get, split
from simcloud.datastores.mongodb.engine.projections import project
from simcloud.datastores.mongodb.engine.sort import sort_documents
from simcloud.datastores.mongodb.failures import MongoFailure
from simcloud.datastores.mongodb.order import identity

Others = Callable[[str], list[Document]]
"""Gives the documents of another collection of the database."""

Documents = list[Document]
MAX_STAGES: Final = 1_000
MAX_DOCUMENTS: Final = 1_000_000


def stage_name(stage: Any) -> str:
    """Return the name of a stage."""
    if stage.__class__ is not dict:
        raise MongoFailure(14, "Each element of the 'pipeline' array must be an object")
    if len(stage) != 1:
        raise MongoFailure(40323, "A pipeline stage specification object must contain exactly one field.")
    return str(next(iter(stage)))


def run_stages(documents: Documents, pipeline: Documents, others: Others) -> Documents:
    """Send documents through a pipeline."""
    if len(pipeline) > MAX_STAGES:
        raise MongoFailure(5, f"Pipeline length must be no longer than {MAX_STAGES} stages.")
    for stage in pipeline:
        name = stage_name(stage)
        run = STAGES.get(name)
        if run is None:
            raise MongoFailure(40324, f"Unrecognized pipeline stage name: '{name}'")
        burn(len(documents))
        documents = run(documents, stage[name], others)
        if len(documents) > MAX_DOCUMENTS:
            raise MongoFailure(292, "Exceeded memory limit for the pipeline, but didn't allow external sort.")
    return documents


def _match(documents: Documents, argument: Any, others: Others) -> Documents:
    if argument.__class__ is not dict:
        raise MongoFailure(15959, "the match filter must be an expression in an object")
    return list(filter(compile_query(argument), documents))


def _sort(documents: Documents, argument: Any, others: Others) -> Documents:
    if argument.__class__ is not dict:
        raise MongoFailure(15973, "the $sort key specification must be an object")
    if not argument:
        raise MongoFailure(15976, "$sort stage must have at least one sort key")
    return sort_documents(documents, argument)


def _count_of(name: str, code: int, argument: Any, least: int) -> int:
    if not is_number(argument) or argument < least:
        raise MongoFailure(
            code,
            f"invalid argument to {name} stage: {'the limit must be positive' if least else 'Expected a non-negative number'}",
        )
    return int(argument)


def _limit(documents: Documents, argument: Any, others: Others) -> Documents:
    return documents[: _count_of("$limit", 15958, argument, 1)]


def _skip(documents: Documents, argument: Any, others: Others) -> Documents:
    return documents[_count_of("$skip", 15972, argument, 0) :]


def _count(documents: Documents, argument: Any, others: Others) -> Documents:
    if argument.__class__ is not str or not argument or argument.startswith("$") or "." in argument:
        raise MongoFailure(40156, "the count field must be a non-empty string")
    return [{argument: len(documents)}] if documents else []


def _project(documents: Documents, argument: Any, others: Others) -> Documents:
    if argument.__class__ is not dict or not argument:
        raise MongoFailure(
            51272, "Invalid $project :: caused by :: projection specification must have at least one field"
        )
    computed = {name: each for name, each in argument.items() if _is_computed(each)}
    plain = {name: each for name, each in argument.items() if name not in computed}
    if not computed:
        return project(documents, plain)
    for path in computed:
        plain.setdefault(path, 1)
    shown = project(documents, plain)
    return [_with(new, old, computed) for new, old in zip(shown, documents, strict=True)]


def _is_computed(value: Any) -> bool:
    return not (is_number(value) or value.__class__ is bool)


def _with(new: Document, old: Document, computed: Document) -> Document:
    result: Document = copy_value(new)
    for path, source in computed.items():
        value = compile_expression(source)(old)
        if value is MISSING:
            remove(result, split(path))
        else:
            put(result, split(path), value)
    return result


def _add_fields(documents: Documents, argument: Any, others: Others) -> Documents:
    if argument.__class__ is not dict:
        raise MongoFailure(40272, "$addFields specification stage must be an object")
    compiled = {split(path): compile_expression(source) for path, source in argument.items()}
    result = []
    for document in documents:
        new = copy_value(document)
        for parts, evaluate in compiled.items():
            value = evaluate(document)
            if value is not MISSING:
                put(new, parts, value)
        result.append(new)
    return result


def _unwind(documents: Documents, argument: Any, others: Others) -> Documents:
    options = {"path": argument} if argument.__class__ is str else argument
    path = options.get("path") if options.__class__ is dict else None
    if path.__class__ is not str or not path.startswith("$"):
        raise MongoFailure(28818, f"path option to $unwind stage should be prefixed with a '$': {path}")
    parts, keep, index = (
        split(path[1:]),
        options.get("preserveNullAndEmptyArrays"),
        options.get("includeArrayIndex"),
    )
    result: Documents = []
    for document in documents:
        value = plain_get(document, parts)
        if value.__class__ is list and value:
            pairs: list[tuple[Any, Any]] = list(enumerate(value))
        elif value.__class__ is list or value is MISSING or value is None:
            if not keep:
                continue
            pairs = [(None, MISSING if value.__class__ is list else value)]
        else:
            pairs = [(None, value)]
        for at, each in pairs:
            new = copy_value(document)
            if each is MISSING:
                remove(new, parts)
            else:
                put(new, parts, each)
            if index:
                new[index] = at
            result.append(new)
        burn(10 * len(pairs))
    return result


def _lookup(documents: Documents, argument: Any, others: Others) -> Documents:
    needed = ("from", "as", "localField", "foreignField")
    if argument.__class__ is not dict or any(argument.get(name).__class__ is not str for name in needed):
        raise MongoFailure(
            9, "$lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified"
        )
    foreign = others(argument["from"])
    by_value: dict[Any, list[int]] = {}
    for at, each in enumerate(foreign):
        for key in _keys(each, argument["foreignField"]):
            by_value.setdefault(key, []).append(at)
    result = []
    for document in documents:
        found = {at: None for key in _keys(document, argument["localField"]) for at in by_value.get(key, ())}
        new = copy_value(document)
        put(new, split(argument["as"]), [foreign[at] for at in sorted(found)])
        result.append(new)
    return result


def _keys(document: Document, path: str) -> list[Any]:
    value = walk(document, split(path), 0)
    if value.__class__ is list:
        return list(dict.fromkeys([identity(each) for each in value]))
    return [identity(None if value is MISSING else value)]


STAGES: Final[dict[str, Callable[[Documents, Any, Others], Documents]]] = {
    "$match": _match,
    "$group": lambda documents, argument, others: group(documents, argument),
    "$sort": _sort,
    "$limit": _limit,
    "$skip": _skip,
    "$count": _count,
    "$project": _project,
    "$addFields": _add_fields,
    "$set": _add_fields,
    "$unwind": _unwind,
    "$lookup": _lookup,
}
