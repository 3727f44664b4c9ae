"""Commands that read documents: find, getMore, count, distinct."""

from __future__ import annotations

from typing import Any

from simcloud.datastores.mongodb.bson import Document, Int64
from simcloud.datastores.mongodb.commands.registry import command, ok
from simcloud.datastores.mongodb.engine.collection import Collection
from simcloud.datastores.mongodb.engine.paths import MISSING, leaves, split
from simcloud.datastores.mongodb.engine.projections import project
from simcloud.datastores.mongodb.engine.sort import sort_documents
from simcloud.datastores.mongodb.failures import MongoFailure, bad_value
from simcloud.datastores.mongodb.order import identity
from simcloud.datastores.mongodb.server import Request


@command("find", scope="collection", actions=("find",))
def find(request: Request) -> Document:
    """Documents that match a filter, in batches."""
    body = request.body
    collection = request.collection()
    found = matching(request, collection, request.document("filter")) if collection is not None else []
    if "sort" in body and (sort := request.document("sort")):
        found = sort_documents(found, sort)
    if "skip" in body:
        found = found[_not_negative(request, "skip") :]
    if "limit" in body and (limit := _not_negative(request, "limit")):
        found = found[:limit]
    if "projection" in body and (projection := request.document("projection")):
        found = project(found, projection)
    batch = request.number("batchSize") if body.get("batchSize") is not None else None
    single = bool(body.get("singleBatch"))
    server = request.server
    return {
        "cursor": server.cursors.first(request.namespace, found, batch, single, server.ctx.now),
        "ok": 1.0,
    }


def _not_negative(request: Request, field: str) -> int:
    value = request.number(field)
    if value < 0:
        raise MongoFailure(51024, f"BSON field '{field}' value must be >= 0, actual value '{value}'")
    return value


def matching(request: Request, collection: Collection, query: Document) -> list[Document]:
    """Return all documents that match, with what it took counted on the request."""
    hint = request.body.get("hint")
    plan = collection.plan(query, collection.index_of(hint) if hint else None)
    rows, test = collection.rows, plan.test
    if plan.index is None and test is None:
        found = list(rows.values())
        request.count_examined(len(found))
    else:
        candidates = [rows[row] for row in plan.rows]
        request.count_examined(len(candidates), len(candidates) if plan.index is not None else 0)
        found = candidates if test is None else [document for document in candidates if test(document)]
    request.plan = plan
    return found


@command("getMore", scope="handler")
def get_more(request: Request) -> Document:
    """Return the next batch of a result."""
    number = request.body["getMore"]
    if not isinstance(number, int) or number.__class__ is bool:
        raise MongoFailure(14, "Field 'getMore' must be of type long")
    namespace = f"{request.db}.{request.body.get('collection', '')}"
    batch = request.number("batchSize") or None
    return ok(cursor=request.server.cursors.more(number, namespace, batch, request.server.ctx.now))


@command("killCursors", scope="handler")
def kill_cursors(request: Request) -> Document:
    """Forget cursors."""
    killed: list[Any] = []
    unknown: list[Any] = []
    for number in request.body.get("cursors") or []:
        (killed if request.server.cursors.kill(number) else unknown).append(Int64(number))
    return ok(cursorsKilled=killed, cursorsNotFound=unknown, cursorsAlive=[], cursorsUnknown=[])


@command("count", scope="collection", actions=("find",))
def count(request: Request) -> Document:
    """Count matching documents."""
    collection = request.collection()
    query = request.document("query")
    skip, limit = request.number("skip"), abs(request.number("limit"))
    if skip < 0:
        raise bad_value("skip value is negative in count query")
    if collection is None:
        total = 0
    elif query:
        total = len(matching(request, collection, query))
    else:
        total = len(collection)
    total = max(0, total - skip)
    return {"n": min(total, limit) if limit else total, "ok": 1.0}


@command("distinct", scope="collection", actions=("find",))
def distinct(request: Request) -> Document:
    """Return the different values of a field."""
    key = request.body.get("key")
    if key.__class__ is not str:
        raise MongoFailure(
            14, '"key" had the wrong type. Expected string, found ' + ("null" if key is None else "object")
        )
    collection = request.collection()
    values: dict[Any, Any] = {}
    for document in (
        matching(request, collection, request.document("query")) if collection is not None else ()
    ):
        for leaf in leaves(document, split(key)):
            for value in leaf if leaf.__class__ is list else (leaf,):
                if value is not MISSING:
                    values.setdefault(identity(value), value)
    return ok(values=list(values.values()))
