"""home-timeline-service: posts of the users that a user follows. They are stored only in Redis."""

from __future__ import annotations

from typing import Final

from aiopslab.apps.socialnet.messages import Page, Post, Posts, TimelineEntry
from aiopslab.apps.socialnet.services.service_call import ServiceCall
from aiopslab.apps.socialnet.services.startup import Startup, make_program
from simcloud.services.rpc import Call

CPU_S: Final = 0.00015
READ: Final = "ReadHomeTimeline"
WRITE: Final = "WriteHomeTimeline"


class HomeTimeline:
    """The handler of home timelines."""

    def __init__(self, startup: Startup) -> None:
        self._startup = startup
        self._sets = startup.connect_sorted_sets("home-timeline-redis")
        self._posts = ServiceCall(
            startup.open_pool("post-storage-service", "post-storage-client"),
            "ReadPosts",
            "",
            startup,
            "Failed to read posts from post-storage-service",
            startup.locate(275, READ),
        )
        self._followers = ServiceCall(
            startup.open_pool("social-graph-service", "social-graph-client"),
            "GetFollowers",
            "get_followers_client",
            startup,
            "Failed to get followers from social-network-service",
            startup.locate(129, WRITE),
        )

    async def write(self, call: Call) -> None:
        """Add a post to the timelines of its author's followers and of mentioned users."""
        entry: TimelineEntry = call.payload
        followers = await self._followers.call(entry.user_id, call.span)
        keys = [str(id) for id in sorted({*followers, *entry.mentions})]
        startup = self._startup
        span = startup.tracer.begin("write_home_timeline_redis_update_client", call.span)
        try:
            place = startup.locate(156, WRITE)
            await self._sets.add_to_all(keys, str(entry.post_id), entry.timestamp, place)
        finally:
            span.finish()

    async def read(self, call: Call) -> list[Post]:
        """Return a page of a timeline."""
        page: Page = call.payload
        if page.stop <= page.start or page.start < 0:
            return []
        startup = self._startup
        span = startup.tracer.begin("read_home_timeline_redis_find_client", call.span)
        try:
            place = startup.locate(253, READ)
            ids = await self._sets.list_newest(str(page.user_id), page.start, page.stop, place)
        finally:
            span.finish()
        posts: list[Post] = await self._posts.call(Posts(page.req_id, ids), call.span)
        return posts


async def main(startup: Startup) -> int:
    """Run the service."""
    handler = HomeTimeline(startup)
    server = startup.create_server()
    server.method(WRITE, handler.write, "write_home_timeline_server", CPU_S)
    server.method(READ, handler.read, "read_home_timeline_server", CPU_S)
    return await startup.serve(server)


home_timeline_service = make_program("home-timeline-service", main)
