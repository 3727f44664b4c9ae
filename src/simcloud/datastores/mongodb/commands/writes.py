"""Commands that change documents: insert, update, delete, findAndModify."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from simcloud.datastores.mongodb.bson import Document, copy_value, type_name
from simcloud.datastores.mongodb.commands.registry import MALFORMED, command
from simcloud.datastores.mongodb.engine.collection import Collection
from simcloud.datastores.mongodb.engine.projections import project
from simcloud.datastores.mongodb.engine.sort import sort_documents
from simcloud.datastores.mongodb.engine.updates import Update, upsert_base
from simcloud.datastores.mongodb.failures import MongoFailure, parse_failure
from simcloud.datastores.mongodb.order import equal
from simcloud.datastores.mongodb.server import Request
from simcloud.datastores.mongodb.version import MAX_WRITE_BATCH


@command("insert", scope="collection", actions=("insert",))
def insert(request: Request) -> Document:
    """Add documents."""
    collection = request.need_collection()

    def one(document: Any) -> int:
        collection.insert(prepare(request, document))
        return 1

    return _batch(request, "documents", one, {})


def prepare(request: Request, document: Any) -> Document:
    """Return a document as it will be stored: the server's own copy, with its _id first."""
    if document.__class__ is not dict:
        raise MongoFailure(
            14,
            f"BSON field 'insert.documents.0' is the wrong type '{type_name(document)}', expected type 'object'",
        )
    for name in document:
        if name.startswith("$"):
            raise MongoFailure(52, f"Document can't have $ prefixed field names: {name}")
    stored: Document = {
        "_id": document["_id"] if "_id" in document else request.server.ids.new(request.server.ctx.now)
    }
    check_id(stored["_id"])
    for name, value in document.items():
        stored[name] = copy_value(value)
    return stored


def check_id(value: Any) -> None:
    """Refuse what cannot be an _id."""
    if value.__class__ is list or type_name(value) == "regex":
        raise MongoFailure(53, f"The '_id' value cannot be of type {type_name(value)}")


def _batch(request: Request, field: str, one: Callable[[Any], int], reply: Document) -> Document:
    """Do each part of a batch; an ordered one stops at the first that fails."""
    parts = request.body.get(field)
    if parts.__class__ is not list:
        raise MongoFailure(40414, f"BSON field '{request.name}.{field}' is missing but a required field")
    check_size(parts)
    ordered = request.body.get("ordered", True)
    done = 0
    errors: list[Document] = []
    for number, part in enumerate(parts):
        try:
            done += one(part)
        except MALFORMED:
            failure = MongoFailure(14, f"a field of the command {request.name} has the wrong type")
            errors.append({"index": number, "code": failure.code, "errmsg": failure.message})
            if ordered:
                break
        except MongoFailure as failure:
            errors.append(
                {"index": number, "code": failure.code, **failure.details, "errmsg": failure.message}
            )
            if ordered:
                break
    request.cpu_s += 0.000_01 * len(parts)
    request.durable = wants_journal(request)
    return {"n": done, **reply, **({"writeErrors": errors} if errors else {}), "ok": 1.0}


def check_size(parts: Sequence[Any]) -> None:
    """Refuse batches that are empty or too long."""
    if not 1 <= len(parts) <= MAX_WRITE_BATCH:
        words = f"Write batch sizes must be between 1 and {MAX_WRITE_BATCH}. Got {len(parts)} operations."
        raise MongoFailure(16, words)


def wants_journal(request: Request) -> bool:
    """Return whether the client waits for the journal to be on the disk."""
    concern = request.body.get("writeConcern")
    return concern.__class__ is dict and bool(concern.get("j"))


@command("update", scope="collection", actions=("update",))
def update(request: Request) -> Document:
    """Change documents, or put others in their place."""
    upserted: list[Document] = []
    modified = 0
    at = -1

    def one(part: Any) -> int:
        nonlocal modified, at
        at += 1
        if part.__class__ is not dict or "u" not in part:
            raise MongoFailure(40414, "BSON field 'update.updates.u' is missing but a required field")
        changed, matched, new_id = _update_one(request, part)
        modified += changed
        if new_id is not None:
            upserted.append({"index": at, "_id": new_id[0]})
        return matched

    reply = _batch(request, "updates", one, {})
    ok = reply.pop("ok")
    return {**reply, "nModified": modified, **({"upserted": upserted} if upserted else {}), "ok": ok}


def _update_one(request: Request, part: Document) -> tuple[int, int, list[Any] | None]:
    """One statement: how many it changed, how many it met, and the id of a document it added."""
    query, compiled = part.get("q") or {}, Update(part["u"])
    multi = bool(part.get("multi"))
    if multi and compiled.replaces:
        raise parse_failure("multi update is not supported for replacement-style update")
    collection = request.collection()
    rows = find_rows(request, collection, query, None if multi else 1)
    changed = 0
    for row in rows:
        assert collection is not None
        old = collection.rows[row]
        new = compiled.apply(old, query)
        if not (equal(new, old) and list(new) == list(old)):
            collection.replace(row, new)
            changed += 1
    if rows or not part.get("upsert"):
        return changed, len(rows), None
    return 0, 1, [insert_new(request, query, compiled)["_id"]]


def insert_new(request: Request, query: Document, compiled: Update) -> Document:
    """Add the document that an upsert asks for."""
    base = upsert_base(query)
    new = compiled.apply(
        base if not compiled.replaces else {k: v for k, v in base.items() if k == "_id"},
        query,
        inserting=True,
    )
    stored = prepare(request, new)
    request.need_collection().insert(stored)
    return stored


def find_rows(
    request: Request, collection: Collection | None, query: Document, limit: int | None
) -> list[int]:
    """Return the rows a write concerns."""
    if collection is None:
        return []
    rows: list[int] = []
    plan = collection.plan(query)
    examined = 0
    for row in list(plan.rows):
        examined += 1
        if plan.test is None or plan.test(collection.rows[row]):
            rows.append(row)
            if limit is not None and len(rows) >= limit:
                break
    request.count_examined(examined, examined if plan.index is not None else 0)
    return rows


@command("delete", scope="collection", actions=("remove",))
def delete(request: Request) -> Document:
    """Remove documents."""
    collection = request.collection()

    def one(part: Any) -> int:
        if part.__class__ is not dict or "limit" not in part:
            raise MongoFailure(40414, "BSON field 'delete.deletes.limit' is missing but a required field")
        rows = find_rows(request, collection, part.get("q") or {}, 1 if part["limit"] else None)
        for row in rows:
            assert collection is not None
            collection.delete(row)
        return len(rows)

    return _batch(request, "deletes", one, {})


@command("findAndModify", "findandmodify", scope="collection", actions=("find", "update"))
def find_and_modify(request: Request) -> Document:
    """Change or remove one document and show it, as it was or as it is."""
    body, query = request.body, request.document("query")
    removing = bool(body.get("remove"))
    if removing == ("update" in body):
        words = (
            "Cannot specify both an update and remove=true"
            if removing
            else "Either an update or remove=true must be specified"
        )
        raise parse_failure(words)
    collection = request.collection()
    rows = find_rows(request, collection, query, None if body.get("sort") else 1)
    if len(rows) > 1 and collection is not None:
        best = sort_documents([collection.rows[row] for row in rows], request.document("sort"))[0]
        rows = [row for row in rows if collection.rows[row] is best]
    request.durable = wants_journal(request)
    last: Document = {"n": len(rows)}
    shown: Document | None = None
    if removing:
        if rows and collection is not None:
            shown = collection.rows[rows[0]]
            collection.delete(rows[0])
    else:
        compiled = Update(body["update"])
        last["updatedExisting"] = bool(rows)
        if rows and collection is not None:
            old = collection.rows[rows[0]]
            new = compiled.apply(old, query)
            if not equal(new, old):
                collection.replace(rows[0], new)
            shown = new if body.get("new") else old
        elif body.get("upsert"):
            added = insert_new(request, query, compiled)
            last = {"n": 1, "updatedExisting": False, "upserted": added["_id"]}
            shown = added if body.get("new") else None
    fields = request.document("fields")
    if shown is not None and fields:
        shown = project([shown], fields)[0]
    return {"lastErrorObject": last, "value": shown, "ok": 1.0}
