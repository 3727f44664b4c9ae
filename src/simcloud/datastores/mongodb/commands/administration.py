"""Commands on collections, indexes and databases, and on the server as a whole."""

from __future__ import annotations

from typing import Any

from simcloud.datastores.mongodb.auth.roles import CLUSTER
from simcloud.datastores.mongodb.bson import Binary, Document, is_number, type_name
from simcloud.datastores.mongodb.commands.registry import command, ok
from simcloud.datastores.mongodb.document_text import show
from simcloud.datastores.mongodb.engine.collection import Collection
from simcloud.datastores.mongodb.engine.filters import compile_query
from simcloud.datastores.mongodb.failures import MongoFailure, bad_value
from simcloud.datastores.mongodb.server import Request

MAX_INDEXES = 64
FILE_BYTES = 20_480
OPTIONS = (
    "sparse",
    "expireAfterSeconds",
    "partialFilterExpression",
    "background",
    "collation",
    "hidden",
)


@command("create", scope="collection", actions=("createCollection",))
def create(request: Request) -> Document:
    """Make a collection."""
    options: Document = {
        name: request.body[name] for name in ("capped", "size", "max", "validator") if name in request.body
    }
    try:
        made = request.server.catalog.create(request.namespace, options)
    except MongoFailure as failure:
        if failure.code == 48:
            raise MongoFailure(48, f"a collection '{request.namespace}' already exists") from None
        raise
    request.server.log_created(request.session.name, made)
    return ok()


@command("drop", scope="collection", actions=("dropCollection",))
def drop(request: Request) -> Document:
    """Forget a collection."""
    dropped = request.server.catalog.drop(request.namespace)
    request.server.log.say("COMMAND", 518070, request.session.name, "CMD: drop", namespace=request.namespace)
    return ok(nIndexesWas=len(dropped.indexes), ns=request.namespace)


@command("renameCollection", scope="handler", admin_only=True)
def rename_collection(request: Request) -> Document:
    """Give a collection another name, in place of another collection if asked to."""
    source, target = request.namespace.partition(".")[2], str(request.body.get("to", ""))
    database, _, name = source.partition(".")
    request.session.need(request, "renameCollectionSameDB", database, name)
    catalog = request.server.catalog
    if (
        request.body.get("dropTarget")
        and catalog.find(source) is not None
        and catalog.find(target) is not None
    ):
        catalog.drop(target)
    catalog.rename(source, target)
    request.server.log.say(
        "COMMAND", 20400, request.session.name, "renameCollectionForCommand",
        sourceNamespace=source, targetNamespace=target, dropTarget="yes" if request.body.get("dropTarget") else "no",
    )  # fmt: skip
    return ok()


@command("dropDatabase", scope="database", actions=("dropDatabase",))
def drop_database(request: Request) -> Document:
    """Forget a database."""
    catalog, name = request.server.catalog, request.session.name
    request.server.log.say("COMMAND", 20337, name, "dropDatabase - starting", db=request.db)
    collections = catalog.of(request.db)
    for collection in collections:
        catalog.drop(collection.namespace)
    request.server.log.say(
        "COMMAND", 20336, name, "dropDatabase", db=request.db, numCollectionsDropped=len(collections)
    )
    return ok(dropped=request.db) if collections else ok()


@command("listDatabases", scope="handler", admin_only=True)
def list_databases(request: Request) -> Document:
    """Return all databases, or those the client may see."""
    session, catalog = request.session, request.server.catalog
    everything = session.may("listDatabases", CLUSTER)
    databases: list[Document] = []
    for name in catalog.databases():
        collections = catalog.of(name)
        if not everything and not any(session.may("find", name, each.name) for each in collections):
            continue
        size = sum(map(storage_bytes, collections))
        databases.append({"name": name, "sizeOnDisk": float(size), "empty": not size})
    query = request.document("filter")
    if query:
        databases = list(filter(compile_query(query), databases))
    if request.body.get("nameOnly"):
        return ok(databases=[{"name": each["name"]} for each in databases])
    return ok(databases=databases, totalSize=sum(each["sizeOnDisk"] for each in databases))


def storage_bytes(collection: Collection) -> int:
    """Return the size of a collection and its indexes on disk: whole blocks, with a minimum."""
    return round_to_blocks(FILE_BYTES + collection.size_bytes) + index_bytes(collection) * len(
        collection.indexes
    )


def index_bytes(collection: Collection) -> int:
    """Return the size of one index of a collection on disk."""
    return round_to_blocks(FILE_BYTES + 16 * len(collection))


def round_to_blocks(size_bytes: int) -> int:
    """Round up to whole blocks of a file."""
    return -(-size_bytes // 4096) * 4096


@command("listCollections", scope="database", actions=("listCollections",))
def list_collections(request: Request) -> Document:
    """Return the collections of a database."""
    listed: list[Document] = []
    for each in request.server.catalog.of(request.db):
        listed.append(
            {
                "name": each.name,
                "type": "collection",
                "options": each.options,
                "info": {"readOnly": False, "uuid": Binary(each.uuid, 4)},
                "idIndex": each.indexes["_id_"].spec,
            }
        )
    query = request.document("filter")
    if query:
        listed = list(filter(compile_query(query), listed))
    if request.body.get("nameOnly"):
        listed = [{"name": each["name"], "type": each["type"]} for each in listed]
    return _cursor(request, f"{request.db}.$cmd.listCollections", listed)


def _cursor(request: Request, namespace: str, documents: list[Document]) -> Document:
    wanted: Any = request.document("cursor").get("batchSize")
    batch = int(wanted) if is_number(wanted) else None
    return ok(cursor=request.server.cursors.first(namespace, documents, batch, False, request.server.ctx.now))


@command("listIndexes", scope="collection", actions=("listIndexes",))
def list_indexes(request: Request) -> Document:
    """Return the indexes of a collection."""
    collection = request.collection()
    if collection is None:
        raise MongoFailure(26, f"ns does not exist: {request.namespace}")
    listed = [index.spec for index in collection.indexes.values()]
    return _cursor(request, f"{request.db}.$cmd.listIndexes.{collection.name}", listed)


@command("createIndexes", scope="collection", actions=("createIndex",))
def create_indexes(request: Request) -> Document:
    """Make indexes unless they are there."""
    specs = request.body.get("indexes")
    if specs.__class__ is not list or not specs:
        raise bad_value("Must specify at least one index to create")
    checked = [_index(spec) for spec in specs]
    existed = request.collection() is not None
    collection = request.need_collection()
    before = len(collection.indexes)
    for spec in checked:
        if _is_new(collection, spec):
            if len(collection.indexes) >= MAX_INDEXES:
                raise MongoFailure(
                    67,
                    f"add index fails, too many indexes for {collection.namespace} key:{show(spec['key'])}",
                )
            request.server.build_index(request.session.name, collection, spec)
            request.count_examined(len(collection))
    after = len(collection.indexes)
    note = {"note": "all indexes already exist"} if after == before else {}
    return ok(
        createdCollectionAutomatically=not existed, numIndexesBefore=before, numIndexesAfter=after, **note
    )


def _index(given: Any) -> Document:
    if given.__class__ is not dict:
        raise MongoFailure(
            14, f"The elements of the 'indexes' array must be objects, but got {type_name(given)}"
        )
    key = given.get("key")
    if key.__class__ is not dict:
        raise MongoFailure(
            9, f"The 'key' field is a required property of an index specification. Full spec: {show(given)}"
        )
    if not key:
        raise MongoFailure(67, "Index keys cannot be an empty field.")
    for field, way in key.items():
        if way in ("text", "2d", "2dsphere", "hashed") or not (is_number(way) and way):
            raise MongoFailure(
                67,
                f"Values in the index key pattern cannot be {show(way)}: index key '{field}' is not supported",
            )
    name = given.get("name")
    if name.__class__ is not str:
        raise MongoFailure(
            9, f"The 'name' field is a required property of an index specification. Full spec: {show(given)}"
        )
    return {
        "v": 2,
        **({"unique": True} if given.get("unique") else {}),
        "key": key,
        "name": name,
        **{option: value for option, value in given.items() if option in OPTIONS},
    }


def _is_new(collection: Collection, spec: Document) -> bool:
    """Return whether an index must be built. Raise ``IndexOptionsConflict`` if another has its name or key."""
    for index in collection.indexes.values():
        same_key = list(index.key.items()) == list(spec["key"].items())
        same_options = bool(index.spec.get("unique")) == bool(spec.get("unique")) or index.name == "_id_"
        if same_key and same_options and (index.name == spec["name"] or index.name == "_id_"):
            return False
        if index.name == spec["name"]:
            raise MongoFailure(
                86,
                "An existing index has the same name as the requested index. When index names are not specified, "
                "they are auto generated and can cause conflicts. Please refer to our documentation. Requested "
                f"index: {show(spec)}, existing index: {show(index.spec)}",
            )
        if same_key:
            raise MongoFailure(85, f"Index already exists with a different name: {index.name}")
    return True


@command("dropIndexes", "deleteIndexes", scope="collection", actions=("dropIndex",))
def drop_indexes(request: Request) -> Document:
    """Forget indexes; ``*`` means all but the one on _id."""
    collection = request.collection()
    if collection is None:
        raise MongoFailure(26, f"ns not found {request.namespace}")
    before, wanted = len(collection.indexes), request.body.get("index")
    names = (
        [name for name in collection.indexes if name != "_id_"]
        if wanted == "*"
        else wanted
        if wanted.__class__ is list
        else [wanted]
    )
    for each in names:
        found = [index.name for index in collection.indexes.values() if each in (index.name, index.key)]
        if not found:
            what = f"with name [{each}]" if each.__class__ is str else f"with key: {show(each)}"
            raise MongoFailure(
                27, f"index not found {what}" if each.__class__ is str else f"can't find index {what}"
            )
        if found[0] == "_id_":
            raise MongoFailure(72, "cannot drop _id index")
        collection.drop_index(found[0])
    request.server.catalog.indexes_changed(collection)
    return ok(nIndexesWas=before)


@command("validate", scope="collection", actions=("validate",))
def validate(request: Request) -> Document:
    """Look at every document and index entry."""
    collection = request.collection()
    if collection is None:
        raise MongoFailure(26, f"Collection '{request.namespace}' does not exist to validate.")
    request.count_examined(len(collection))
    keys = {index.name: len(index) for index in collection.indexes.values()}
    details = {name: {"valid": True} for name in keys}
    return ok(
        ns=request.namespace,
        nInvalidDocuments=0,
        nrecords=len(collection),
        nIndexes=len(keys),
        keysPerIndex=keys,
        indexDetails=details,
        valid=True,
        warnings=[],
        errors=[],
        extraIndexEntries=[],
        missingIndexEntries=[],
    )


@command("shutdown", scope="cluster", actions=("shutdown",), admin_only=True)
def shutdown(request: Request) -> Document:
    """Stop the server."""
    request.server.stopping.set(request.session.name)
    return ok()


@command("killOp", scope="cluster", actions=("killop",), admin_only=True)
def kill_op(request: Request) -> Document:
    """Operations here end by themselves before they could be killed."""
    if "op" not in request.body:
        raise MongoFailure(4, 'Did not provide "op" field')
    return ok(info="attempting to kill op")
