"""post-storage-service: stores posts, and caches those that were read.

If one of the requested posts is missing, the whole request fails with ``Return set incomplete``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import msgspec

from aiopslab.apps.socialnet.messages import HANDLER, MEMCACHED, MONGODB, Post, Posts
from aiopslab.apps.socialnet.services.startup import Startup, make_program
from simcloud.datastores.memcached import MemcachedFailure
from simcloud.datastores.mongodb import Int64, MongoError
from simcloud.services import SpanContext
from simcloud.services.rpc import Call
from simcloud.services.rpc.thrift import ServiceError, ThriftError

STORE_CPU_S: Final = 0.00015
READ_CPU_S: Final = 0.0002
READ: Final = "ReadPosts"
DUPLICATED: Final = "Post_ids are duplicated"
INCOMPLETE: Final = "Return set incomplete"


class PostStorage:
    """The handler of posts."""

    def __init__(self, startup: Startup) -> None:
        self._startup = startup
        self._cache = startup.connect_cache("post-storage-memcached")
        self.mongo = startup.connect_mongo("post-storage-mongodb")

    async def store(self, call: Call) -> None:
        """Store a post."""
        startup = self._startup
        span = startup.tracer.begin("post_storage_mongo_insert_client", call.span)
        try:
            await self.mongo.run("post", {"insert": "post", "documents": [call.payload], "ordered": True})
        except MongoError as error:
            message = f"Error: Failed to insert post to MongoDB: {error}"
            startup.log.error(message, startup.locate(147, "StorePost"))
            raise ServiceError(MONGODB, str(error)) from None
        finally:
            span.finish()

    async def read(self, call: Call) -> list[Post]:
        """Return posts in the requested order."""
        wanted: Posts = call.payload
        ids = wanted.ids
        if not ids:
            return []
        if len(set(ids)) != len(ids):
            self._startup.log.error(DUPLICATED, self._startup.locate(373, READ))
            raise ServiceError(HANDLER, DUPLICATED)
        found = await self._find_cached(wanted, call.span)
        if len(found) < len(ids):
            stored = await self._find_stored([id for id in ids if id not in found], call.span)
            found.update(stored)
            if stored:
                await self._fill_cache(stored, call.span)
        if len(found) < len(ids):
            self._startup.log.error(INCOMPLETE, self._startup.locate(613, READ))
            raise ServiceError(HANDLER, INCOMPLETE)
        return [found[id] for id in ids]

    async def _find_cached(self, wanted: Posts, parent: SpanContext) -> dict[int, Post]:
        startup = self._startup
        span = startup.tracer.begin("post_storage_mmc_mget_client", parent)
        try:
            values = await self._cache.mget([str(id) for id in wanted.ids])
        except MemcachedFailure as error:
            message = f"Cannot get post_ids of request {wanted.req_id}: {error}"
            startup.log.error(message, startup.locate(405, READ))
            raise ServiceError(MEMCACHED, str(error)) from None
        finally:
            span.finish()
        return {int(key): _read(value) for key, value in values.items()}

    async def _find_stored(self, ids: list[int], parent: SpanContext) -> dict[int, Post]:
        startup = self._startup
        span = startup.tracer.begin("mongo_find_client", parent)
        body = {"find": "post", "filter": {"post_id": {"$in": sorted(ids)}}}
        try:
            reply = await self.mongo.run("post", body)
        except MongoError as error:
            startup.log.warning(str(error), startup.locate(565, READ))
            raise ServiceError(MONGODB, str(error)) from None
        finally:
            span.finish()
        return {int(post["post_id"]): _check_post(post) for post in reply["cursor"]["firstBatch"]}

    async def _fill_cache(self, posts: dict[int, Post], parent: SpanContext) -> None:
        span = self._startup.tracer.begin("mmc_set_client", parent)
        for id, post in posts.items():
            try:
                await self._cache.set(str(id), ENCODER.encode(post))
            except MemcachedFailure:
                pass  # the original ignores the result, too
        span.finish()


def _encode_plain(value: Any) -> Any:
    return int(value) if isinstance(value, Int64) else {"$oid": str(value)}


ENCODER: Final = msgspec.json.Encoder(enc_hook=_encode_plain)
SHAPE: Final[dict[str, type]] = {
    "post_id": int,
    "timestamp": int,
    "text": str,
    "req_id": int,
    "post_type": int,
}
CREATOR: Final[dict[str, type]] = {"user_id": int, "username": str}
LISTS: Final[dict[str, dict[str, type]]] = {
    "urls": {"shortened_url": str, "expanded_url": str},
    "user_mentions": CREATOR,
    "media": {"media_id": int, "media_type": str},
}
TYPE_NAMES: Final = {int: "number", str: "string"}


@lru_cache(maxsize=4096)
def _read(value: bytes) -> Post:
    """Decode a cached post; raises ``ThriftError``."""
    try:
        return _check_post(msgspec.json.decode(value))
    except (msgspec.DecodeError, RecursionError):
        message = "parse error at line 1, column 1: syntax error while parsing value"
        raise ThriftError(f"[json.exception.parse_error.101] {message}") from None


def _check_post(post: Any) -> Post:
    """Return a post if it has all fields; raises ``ThriftError`` with the JSON library's message."""
    _check_fields(post, SHAPE)
    _check_fields(post.get("creator"), CREATOR)
    for name, shape in LISTS.items():
        parts = post.get(name)
        for part in parts if isinstance(parts, list) else ():
            _check_fields(part, shape)
        post = post if isinstance(parts, list) else {**post, name: []}
    return Post(post)


def _check_fields(document: Any, shape: dict[str, type]) -> None:
    for name, kind in shape.items():
        if not isinstance(document, dict) or not isinstance(document.get(name), kind):
            raise ThriftError(f"[json.exception.type_error.302] type must be {TYPE_NAMES[kind]}, but is null")


async def main(startup: Startup) -> int:
    """Run the service, once the database has created the index."""
    handler = PostStorage(startup)
    await startup.ensure_index(handler.mongo, "post", "post_id")
    server = startup.create_server()
    server.method("StorePost", handler.store, "store_post_server", STORE_CPU_S)
    server.method(READ, handler.read, "post_storage_read_posts_server", READ_CPU_S)
    return await startup.serve(server)


post_storage_service = make_program("post-storage-service", main)
