"""user-timeline-service: the posts of a user, newest first.

The database stores all of them; Redis caches those that were read or written.
"""

from __future__ import annotations

from typing import Any, Final

from aiopslab.apps.socialnet.messages import MONGODB, Page, Post, Posts, TimelineEntry
from aiopslab.apps.socialnet.services.service_call import ServiceCall
from aiopslab.apps.socialnet.services.startup import Startup, make_program, unwrap
from simcloud.datastores.mongodb import Int64, MongoError
from simcloud.services import SpanContext
from simcloud.services.rpc import Call
from simcloud.services.rpc.thrift import ServiceError, ThriftError

CPU_S: Final = 0.00015
DATABASE: Final = "user-timeline"
READ: Final = "ReadUserTimeline"
WRITE: Final = "WriteUserTimeline"


class UserTimeline:
    """The handler of user timelines."""

    def __init__(self, startup: Startup) -> None:
        self._startup = startup
        self._sets = startup.connect_sorted_sets("user-timeline-redis")
        self.mongo = startup.connect_mongo("user-timeline-mongodb")
        self._posts = ServiceCall(
            startup.open_pool("post-storage-service", "post-storage-client"),
            "ReadPosts",
            "",
            startup,
            "Failed to read posts from post-storage-service",
            startup.locate(319, "operator()"),
        )

    async def write(self, call: Call) -> None:
        """Add a post."""
        entry: TimelineEntry = call.payload
        await self._store(entry, call.span)
        span = self._startup.tracer.begin("write_user_timeline_redis_update_client", call.span)
        try:
            place = self._startup.locate(179, WRITE)
            await self._sets.add(str(entry.user_id), {str(entry.post_id): entry.timestamp}, place)
        finally:
            span.finish()

    async def read(self, call: Call) -> list[Post]:
        """Return a page of a user's posts."""
        page: Page = call.payload
        if page.stop <= page.start or page.start < 0:
            return []
        key, startup = str(page.user_id), self._startup
        span = startup.tracer.begin("read_user_timeline_redis_find_client", call.span)
        try:
            ids = await self._sets.list_newest(key, page.start, page.stop, startup.locate(219, READ))
        finally:
            span.finish()
        known: dict[str, float] = {}
        if page.start + len(ids) < page.stop:
            entries = await self._find_kept(page, call.span)
            known = {str(id): when for id, when in entries}
            later = [id for id, _ in entries[page.start + len(ids) :]]
            ids += [id for id in later if id not in ids]
        wanted = self._posts.call(Posts(page.req_id, ids), call.span)
        if not known:
            return await self._read(wanted)
        posts, remembered = await startup.run_together(
            self._read(wanted), self._fill_cache(key, known, call.span)
        )
        unwrap(remembered)
        return list(unwrap(posts) or ())

    async def _read(self, wanted: Any) -> list[Post]:
        try:
            posts: list[Post] = await wanted
        except ThriftError:
            message = self._startup.rename("Failed to get post from post-storage-service")
            self._startup.log.error(message, self._startup.locate(355, READ))
            raise
        return posts

    async def _fill_cache(self, key: str, known: dict[str, float], parent: SpanContext) -> None:
        span = self._startup.tracer.begin("user_timeline_redis_update_client", parent)
        try:
            await self._sets.add(key, known, self._startup.locate(346, READ), only_new=False)
        finally:
            span.finish()

    async def _store(self, entry: TimelineEntry, parent: SpanContext) -> None:
        """Insert an entry at the front of the stored timeline; retry once without upsert."""
        document = {"post_id": Int64(entry.post_id), "timestamp": Int64(entry.timestamp)}
        body = {
            "findAndModify": DATABASE,
            "query": {"user_id": Int64(entry.user_id)},
            "update": {"$push": {"posts": {"$each": [document], "$position": 0}}},
            "upsert": True,
            "new": True,
        }
        span = self._startup.tracer.begin("write_user_timeline_mongo_insert_client", parent)
        try:
            await self.mongo.run(DATABASE, body)
        except MongoError:
            await self._store_again({**body, "upsert": False}, entry.user_id)
        finally:
            span.finish()

    async def _store_again(self, body: dict[str, Any], user_id: int) -> None:
        startup = self._startup
        try:
            await self.mongo.run(DATABASE, body)
        except MongoError as error:
            message = f"Failed to update user-timeline for user {user_id} to MongoDB: {error}"
            startup.log.error(message, startup.locate(142, WRITE))
            raise ServiceError(MONGODB, str(error)) from None

    async def _find_kept(self, page: Page, parent: SpanContext) -> list[tuple[int, int]]:
        """Return the newest stored entries; empty if the database fails, because the original does not check for errors."""
        span = self._startup.tracer.begin("user_timeline_mongo_find_client", parent)
        body = {
            "find": DATABASE,
            "filter": {"user_id": Int64(page.user_id)},
            "projection": {"posts": {"$slice": [0, page.stop]}},
        }
        try:
            reply = await self.mongo.run(DATABASE, body)
        except MongoError:
            return []
        finally:
            span.finish()
        found = reply["cursor"]["firstBatch"]
        entries: Any = found[0].get("posts") if found else None
        whole = [entry for entry in entries if _is_whole(entry)] if isinstance(entries, list) else []
        return [(int(entry["post_id"]), int(entry["timestamp"])) for entry in whole]


def _is_whole(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("post_id"), int)
        and isinstance(entry.get("timestamp"), int)
    )


async def main(startup: Startup) -> int:
    """Run the service, once the database has created the index."""
    handler = UserTimeline(startup)
    await startup.ensure_index(handler.mongo, DATABASE, "user_id")
    server = startup.create_server()
    server.method(WRITE, handler.write, "write_user_timeline_server", CPU_S)
    server.method(READ, handler.read, "read_user_timeline_server", CPU_S)
    return await startup.serve(server)


user_timeline_service = make_program("user-timeline-service", main)
