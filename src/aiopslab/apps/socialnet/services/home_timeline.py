"""home-timeline-service: what those have written whom somebody follows. It is in Redis only."""

from __future__ import annotations

from typing import Final

from aiopslab.apps.socialnet.messages import Page, Post, Posts, Written
from aiopslab.apps.socialnet.services.asking import Asking
from aiopslab.apps.socialnet.services.startup import Startup, program
from simcloud.services.rpc import Call

CPU_S: Final = 0.00015
READ: Final = "ReadHomeTimeline"
WRITE: Final = "WriteHomeTimeline"


class HomeTimeline:
    """The handler."""

    def __init__(self, startup: Startup) -> None:
        self._startup = startup
        self._sets = startup.sorted_sets("home-timeline-redis")
        self._posts = Asking(
            startup.pool("post-storage-service", "post-storage-client"),
            "ReadPosts",
            "",
            startup.log,
            "Failed to read posts from post-storage-service",
            startup.place(268, READ),
        )
        self._followers = Asking(
            startup.pool("social-graph-service", "social-graph-client"),
            "GetFollowers",
            "get_followers_client",
            startup.log,
            "Failed to get followers from social-network-service",
            startup.place(123, WRITE),
        )

    async def write(self, call: Call) -> None:
        """Enter a post in the timelines of its writer's followers, and of those it mentions."""
        written: Written = call.payload
        followers = await self._followers.ask(written.user_id, call.span)
        keys = [str(id) for id in sorted({*followers, *written.mentions})]
        startup = self._startup
        span = startup.tracer.begin("write_home_timeline_redis_update_client", call.span)
        try:
            place = startup.place(153, WRITE)
            await self._sets.add_to_all(keys, str(written.post_id), written.timestamp, place)
        finally:
            span.finish()

    async def read(self, call: Call) -> list[Post]:
        """Some of a timeline."""
        page: Page = call.payload
        if page.stop <= page.start or page.start < 0:
            return []
        startup = self._startup
        span = startup.tracer.begin("read_home_timeline_redis_find_client", call.span)
        try:
            place = startup.place(244, READ)
            ids = await self._sets.newest(str(page.user_id), page.start, page.stop, place)
        finally:
            span.finish()
        posts: list[Post] = await self._posts.ask(Posts(page.req_id, ids), call.span)
        return posts


async def main(startup: Startup) -> int:
    """Serve."""
    handler = HomeTimeline(startup)
    server = startup.server()
    server.method(WRITE, handler.write, "write_home_timeline_server", CPU_S)
    server.method(READ, handler.read, "read_home_timeline_server", CPU_S)
    return await startup.serve(server)


home_timeline_service = program("home-timeline-service", main)
