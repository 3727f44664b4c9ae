"""The explain command: the plan of a query."""

from __future__ import annotations

from typing import Any

from simcloud.datastores.mongodb.bson import Document
from simcloud.datastores.mongodb.commands.queries import matching
from simcloud.datastores.mongodb.commands.registry import command, ok
from simcloud.datastores.mongodb.document_text import show
from simcloud.datastores.mongodb.engine.collection import Collection, Plan
from simcloud.datastores.mongodb.failures import MongoFailure
from simcloud.datastores.mongodb.server import Request
from simcloud.datastores.mongodb.version import GIT_VERSION, VERSION

QUERIES = {"find": "filter", "count": "query", "distinct": "query"}


@command("explain", scope="handler")
def explain(request: Request) -> Document:
    """Return the plan of another command, and with execution statistics what it took."""
    inner = request.body["explain"]
    if inner.__class__ is not dict or not inner:
        raise MongoFailure(14, "explain command requires a nested object")
    name = next(iter(inner))
    namespace = f"{request.db}.{inner[name]}"
    query = _query(name, inner)
    request.session.need(request, "find", request.db, str(inner[name]))
    collection = request.server.catalog.find(namespace)
    hint = inner.get("hint")
    if collection is None:
        winning: Document = {"stage": "EOF"}
    else:
        plan = collection.plan(query, collection.index_of(hint) if hint else None)
        winning = _add_stages(_stage(plan, query), inner)
    reply: Document = {
        "queryPlanner": {
            "plannerVersion": 1,
            "namespace": namespace,
            "indexFilterSet": False,
            "parsedQuery": _parse_query(query),
            "winningPlan": winning,
            "rejectedPlans": [],
        }
    }
    if request.body.get("verbosity", "allPlansExecution") != "queryPlanner":
        reply["executionStats"] = _format_execution(request, collection, query, winning)
    server = request.server
    reply["serverInfo"] = {
        "host": server.ctx.container.hostname,
        "port": server.options.port,
        "version": VERSION,
        "gitVersion": GIT_VERSION,
    }
    return ok(**reply)


def _query(name: str, inner: Document) -> Document:
    if name in QUERIES:
        query: Any = inner.get(QUERIES[name]) or {}
    elif name in ("update", "delete"):
        parts = inner.get("updates" if name == "update" else "deletes") or [{}]
        query = parts[0].get("q") or {}
    elif name == "aggregate":
        first = (inner.get("pipeline") or [{}])[0]
        query = first.get("$match") or {}
    elif name in ("findAndModify", "findandmodify"):
        query = inner.get("query") or {}
    else:
        raise MongoFailure(59, f"Explain failed due to unknown command: {name}")
    if query.__class__ is not dict:
        raise MongoFailure(14, "the query must be an object")
    return query


def _parse_query(query: Document) -> Document:
    parts = []
    for name, wanted in query.items():
        if name.startswith("$"):
            parts.append({name: wanted})
        elif wanted.__class__ is dict and next(iter(wanted), "").startswith("$"):
            parts.extend({name: {operator: value}} for operator, value in wanted.items())
        else:
            parts.append({name: {"$eq": wanted}})
    if not parts:
        return {}
    return parts[0] if len(parts) == 1 else {"$and": parts}


def _stage(plan: Plan, query: Document) -> Document:
    if plan.index is None:
        stage: Document = {"stage": "COLLSCAN"}
        if query:
            stage["filter"] = _parse_query(query)
        return {**stage, "direction": "forward"}
    if plan.index.name == "_id_" and plan.test is None:
        return {"stage": "IDHACK"}
    index = plan.index
    bounds = {field: ["[MinKey, MaxKey]"] for field in index.key}
    for field, wanted in (plan.bounds or {}).items():
        bounds[field] = _bounds(wanted)
    scan = {
        "stage": "IXSCAN",
        "keyPattern": index.key,
        "indexName": index.name,
        "isMultiKey": index.multikey,
        "isUnique": index.unique,
        "isSparse": index.sparse,
        "isPartial": "partialFilterExpression" in index.spec,
        "indexVersion": 2,
        "direction": "forward",
        "indexBounds": bounds,
    }
    fetch: Document = {"stage": "FETCH"}
    rest = {name: wanted for name, wanted in query.items() if name not in (plan.bounds or {})}
    if rest:
        fetch["filter"] = _parse_query(rest)
    return {**fetch, "inputStage": scan}


def _bounds(wanted: Any) -> list[str]:
    if wanted.__class__ is list:
        return [f"[{show(each)}, {show(each)}]" for each in wanted]
    if wanted.__class__ is not dict:
        return [f"[{show(wanted)}, {show(wanted)}]"]
    low = (
        f"[{show(wanted['$gte'])}"
        if "$gte" in wanted
        else f"({show(wanted['$gt'])}"
        if "$gt" in wanted
        else "[-inf"
    )
    high = (
        f"{show(wanted['$lte'])}]"
        if "$lte" in wanted
        else f"{show(wanted['$lt'])})"
        if "$lt" in wanted
        else "inf]"
    )
    return [f"{low}, {high}"]


def _add_stages(stage: Document, inner: Document) -> Document:
    """Return the stages above the one that finds: sorting, skipping, limiting, projecting, counting."""
    if inner.get("sort"):
        stage = {
            "stage": "SORT",
            "sortPattern": inner["sort"],
            "memLimit": 104_857_600,
            "type": "simple",
            "inputStage": stage,
        }
    if inner.get("skip"):
        stage = {"stage": "SKIP", "skipAmount": inner["skip"], "inputStage": stage}
    if inner.get("limit"):
        stage = {"stage": "LIMIT", "limitAmount": inner["limit"], "inputStage": stage}
    if inner.get("projection"):
        stage = {"stage": "PROJECTION_SIMPLE", "transformBy": inner["projection"], "inputStage": stage}
    first = next(iter(inner))
    above = {"count": "COUNT", "update": "UPDATE", "delete": "DELETE"}.get(first)
    return {"stage": above, "inputStage": stage} if above else stage


def _format_execution(
    request: Request, collection: Collection | None, query: Document, winning: Document
) -> Document:
    found = matching(request, collection, query) if collection is not None else []
    return {
        "executionSuccess": True,
        "nReturned": len(found),
        "executionTimeMillis": int(request.cpu_s * 1000),
        "totalKeysExamined": request.keys_examined,
        "totalDocsExamined": request.docs_examined,
        "executionStages": {**winning, "nReturned": len(found)},
        "allPlansExecution": [],
    }
