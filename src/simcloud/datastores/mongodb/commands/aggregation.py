"""The aggregate command."""

from __future__ import annotations

from typing import Any

from simcloud.datastores.mongodb.bson import Document, is_number
from simcloud.datastores.mongodb.commands.queries import matching
from simcloud.datastores.mongodb.commands.registry import command, ok
from simcloud.datastores.mongodb.engine.pipeline import run_stages, stage_name
from simcloud.datastores.mongodb.failures import MongoFailure
from simcloud.datastores.mongodb.server import Request


@command("aggregate", scope="handler")
def aggregate(request: Request) -> Document:
    """Run a pipeline over a collection."""
    pipeline = request.body.get("pipeline")
    if pipeline.__class__ is not list:
        raise MongoFailure(14, "'pipeline' option must be specified as an array")
    for stage in pipeline:
        _check_allowed(request, stage)
    cursor = request.body.get("cursor")
    if cursor.__class__ is not dict and not request.body.get("explain"):
        raise MongoFailure(
            9, "The 'cursor' option is required, except for aggregate with the explain argument"
        )
    documents, rest = _source(request, pipeline)
    result = run_stages(documents, rest, lambda name: _other(request, name))
    request.cpu_s += 0.000_002 * len(documents) * max(1, len(rest))
    batch: Any = (cursor or {}).get("batchSize")
    namespace = request.namespace if request.body["aggregate"] != 1 else f"{request.db}.$cmd.aggregate"
    size = int(batch) if is_number(batch) else None
    return ok(cursor=request.server.cursors.first(namespace, result, size, False, request.server.ctx.now))


def _check_allowed(request: Request, stage: Document) -> None:
    name = stage_name(stage)
    target = request.body["aggregate"]
    if target.__class__ is str:
        request.session.need(request, "find", request.db, target)
    argument = stage[name]
    if name == "$lookup" and argument.__class__ is dict:
        request.session.need(request, "find", request.db, str(argument.get("from")))


def _source(request: Request, pipeline: list[Document]) -> tuple[list[Document], list[Document]]:
    """The documents a pipeline begins with, found by index where it begins with a match."""
    if request.body["aggregate"] == 1:
        return [], pipeline
    request.session.need(request, "find", request.db, str(request.body["aggregate"]))
    collection = request.collection()
    if collection is None:
        return [], pipeline
    if pipeline and "$match" in pipeline[0] and pipeline[0]["$match"].__class__ is dict:
        return matching(request, collection, pipeline[0]["$match"]), pipeline[1:]
    if pipeline and "$indexStats" in pipeline[0]:
        stats = [
            {
                "name": each.name,
                "key": each.key,
                "host": request.server.ctx.container.hostname,
                "accesses": {"ops": each.accesses},
            }
            for each in collection.indexes.values()
        ]
        return stats, pipeline[1:]
    return matching(request, collection, {}), pipeline


def _other(request: Request, name: str) -> list[Document]:
    found = request.server.catalog.find(f"{request.db}.{name}")
    documents = list(found.rows.values()) if found is not None else []
    request.count_examined(len(documents))
    return documents
