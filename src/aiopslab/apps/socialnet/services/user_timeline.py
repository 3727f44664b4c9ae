"""user-timeline-service: what somebody has written, the newest first.

The database has it all; Redis has what was read or written since it started.
"""

from __future__ import annotations

from typing import Any, Final

from aiopslab.apps.socialnet.messages import MONGODB, Page, Post, Posts, Written
from aiopslab.apps.socialnet.services.asking import Asking
from aiopslab.apps.socialnet.services.startup import Startup, got, program
from simcloud.datastores.mongodb.bson import Int64
from simcloud.datastores.mongodb.driver import MongoError
from simcloud.services.rpc import Call
from simcloud.services.rpc.thrift import ServiceError, ThriftError
from simcloud.services.tracing import SpanContext

CPU_S: Final = 0.00015
DATABASE: Final = "user-timeline"
READ: Final = "ReadUserTimeline"
WRITE: Final = "WriteUserTimeline"


class UserTimeline:
    """The handler."""

    def __init__(self, startup: Startup) -> None:
        self._startup = startup
        self._sets = startup.sorted_sets("user-timeline-redis")
        self.mongo = startup.mongo("user-timeline-mongodb")
        self._posts = Asking(
            startup.pool("post-storage-service", "post-storage-client"),
            "ReadPosts",
            "",
            startup.log,
            "Failed to read posts from post-storage-service",
            startup.place(316, "operator()"),
        )

    async def write(self, call: Call) -> None:
        """Enter a post."""
        written: Written = call.payload
        await self._keep(written, call.span)
        span = self._startup.tracer.begin("write_user_timeline_redis_update_client", call.span)
        try:
            place = self._startup.place(178, WRITE)
            await self._sets.add(str(written.user_id), {str(written.post_id): written.timestamp}, place)
        finally:
            span.finish()

    async def read(self, call: Call) -> list[Post]:
        """Some of somebody's posts."""
        page: Page = call.payload
        if page.stop <= page.start or page.start < 0:
            return []
        key, startup = str(page.user_id), self._startup
        span = startup.tracer.begin("read_user_timeline_redis_find_client", call.span)
        try:
            ids = await self._sets.newest(key, page.start, page.stop, startup.place(215, READ))
        finally:
            span.finish()
        known: dict[str, float] = {}
        if page.start + len(ids) < page.stop:
            entries = await self._kept(page, call.span)
            known = {str(id): when for id, when in entries}
            later = [id for id, _ in entries[page.start + len(ids) :]]
            ids += [id for id in later if id not in ids]
        wanted = self._posts.ask(Posts(page.req_id, ids), call.span)
        if not known:
            return await self._read(wanted)
        posts, remembered = await startup.together(self._read(wanted), self._remember(key, known, call.span))
        got(remembered)
        return list(got(posts) or ())

    async def _read(self, wanted: Any) -> list[Post]:
        try:
            posts: list[Post] = await wanted
        except ThriftError:
            told = "Failed to get post from post-storage-service"
            self._startup.log.error(told, self._startup.place(352, READ))
            raise
        return posts

    async def _remember(self, key: str, known: dict[str, float], parent: SpanContext) -> None:
        span = self._startup.tracer.begin("user_timeline_redis_update_client", parent)
        try:
            await self._sets.add(key, known, self._startup.place(344, READ), only_new=False)
        finally:
            span.finish()

    async def _keep(self, written: Written, parent: SpanContext) -> None:
        """Into the database, in front of what is there; told once more when the first time fails."""
        entry = {"post_id": Int64(written.post_id), "timestamp": Int64(written.timestamp)}
        body = {
            "findAndModify": DATABASE,
            "query": {"user_id": Int64(written.user_id)},
            "update": {"$push": {"posts": {"$each": [entry], "$position": 0}}},
            "upsert": True,
            "new": True,
        }
        span = self._startup.tracer.begin("write_user_timeline_mongo_insert_client", parent)
        try:
            await self.mongo.run(DATABASE, body)
        except MongoError:
            await self._keep_again({**body, "upsert": False}, written.user_id)
        finally:
            span.finish()

    async def _keep_again(self, body: dict[str, Any], user_id: int) -> None:
        startup = self._startup
        try:
            await self.mongo.run(DATABASE, body)
        except MongoError as error:
            told = f"Failed to update user-timeline for user {user_id} to MongoDB: {error}"
            startup.log.error(told, startup.place(137, WRITE))
            raise ServiceError(MONGODB, str(error)) from None

    async def _kept(self, page: Page, parent: SpanContext) -> list[tuple[int, int]]:
        """The newest entries in the database. One that fails has none: the original does not ask why."""
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
        whole = [entry for entry in entries if _whole(entry)] if isinstance(entries, list) else []
        return [(int(entry["post_id"]), int(entry["timestamp"])) for entry in whole]


def _whole(entry: Any) -> bool:
    return isinstance(entry, dict) and all(
        isinstance(entry.get(name), int) for name in ("post_id", "timestamp")
    )


async def main(startup: Startup) -> int:
    """Serve, once the database has taken the index."""
    handler = UserTimeline(startup)
    await startup.index(handler.mongo, DATABASE, "user_id")
    server = startup.server()
    server.method(WRITE, handler.write, "write_user_timeline_server", CPU_S)
    server.method(READ, handler.read, "read_user_timeline_server", CPU_S)
    return await startup.serve(server)


user_timeline_service = program("user-timeline-service", main)
