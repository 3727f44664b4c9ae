"""social-graph-service: followers and followees. The database stores them; Redis caches those that were read."""

from __future__ import annotations

from typing import Any, Final

from aiopslab.apps.socialnet.messages import HANDLER, MONGODB, Follow
from aiopslab.apps.socialnet.services.service_call import ServiceCall
from aiopslab.apps.socialnet.services.startup import Startup, make_program, unwrap
from simcloud.datastores.mongodb import Document, Int64, MongoError
from simcloud.services import SpanContext
from simcloud.services.rpc import Call
from simcloud.services.rpc.thrift import ServiceError, ThriftError

CPU_S: Final = 0.00015
DATABASE: Final = "social-graph"
FOLLOWERS: Final = "followers"
FOLLOWEES: Final = "followees"
FOLLOW_LINES: Final = (852, 875)
UNFOLLOW_LINES: Final = (926, 949)
"""Lines of the log of a failed call for the user's id and for the followee's."""

WAKING_S: Final = 0.000_04
"""What a thread needs to wake up for the exception of another one."""


class SocialGraph:
    """The handler of the social graph."""

    def __init__(self, startup: Startup) -> None:
        self._startup = startup
        self._sets = startup.connect_sorted_sets("social-graph-redis")
        self.mongo = startup.connect_mongo("social-graph-mongodb")
        label, blamed = "social-graph", "social-graph-service"  # the original's names
        users = startup.open_pool("user-service", label, blamed)
        message = "Failed to get user_id from user-service"
        self._lookups = {
            line: ServiceCall(users, "GetUserId", "", startup, message, startup.locate(line, "operator()"))
            for lines in (FOLLOW_LINES, UNFOLLOW_LINES)
            for line in lines
        }

    async def get_followers(self, call: Call) -> list[int]:
        """Return the followers of a user."""
        return await self._list_side(call, FOLLOWERS)

    async def get_followees(self, call: Call) -> list[int]:
        """Return the users that a user follows."""
        return await self._list_side(call, FOLLOWEES)

    async def insert_user(self, call: Call) -> None:
        """Add a user without followers and followees."""
        user: int = call.payload
        document = {"user_id": Int64(user), FOLLOWERS: [], FOLLOWEES: []}
        span = self._startup.tracer.begin("social_graph_mongo_insert_client", call.span)
        try:
            await self.mongo.run(DATABASE, {"insert": DATABASE, "documents": [document], "ordered": True})
        except MongoError as error:
            self._refuse("insert", user, error, 808, "InsertUser")
        finally:
            span.finish()

    async def follow(self, call: Call) -> None:
        """Follow a user."""
        await self._follow(call.payload, call.span)

    async def unfollow(self, call: Call) -> None:
        """Unfollow a user."""
        await self._unfollow(call.payload, call.span)

    async def follow_by_name(self, call: Call) -> None:
        """Follow a user given by name."""
        try:
            pair = await self._resolve_names(call.payload, call.span, FOLLOW_LINES)
        except ThriftError as error:
            await self._startup.ctx.sleep(WAKING_S)
            self._startup.log.warning(error.what, self._startup.locate(888, "FollowWithUsername"))
            raise
        await self._follow(pair, call.span)

    async def unfollow_by_name(self, call: Call) -> None:
        """Unfollow a user given by name."""
        await self._unfollow(await self._resolve_names(call.payload, call.span, UNFOLLOW_LINES), call.span)

    async def _resolve_names(self, names: Follow, span: SpanContext, lines: tuple[int, int]) -> Follow:
        first, second = (self._lookups[line] for line in lines)
        user, followee = await self._startup.run_together(
            first.call(names.user, span), second.call(names.followee, span)
        )
        return Follow(unwrap(user), unwrap(followee))

    async def _list_side(self, call: Call, side: str) -> list[int]:
        startup, user = self._startup, call.payload
        key, function = f"{user}:{side}", f"Get{side.capitalize()}"
        span = startup.tracer.begin("social_graph_redis_get_client", call.span)
        try:
            ids = await self._sets.list_all(key, startup.locate(515 if side == FOLLOWERS else 653, function))
        finally:
            span.finish()
        if ids:
            return ids
        entries = await self._find_stored(user, side, call.span)
        if entries:
            span = startup.tracer.begin("social_graph_redis_insert_client", call.span)
            scores = {str(id): when for id, when in entries}
            place = startup.locate(607 if side == FOLLOWERS else 759, function)
            try:
                await self._sets.add(key, scores, place, only_new=False)
            finally:
                span.finish()
        return [id for id, _ in entries]

    async def _find_stored(self, user: int, side: str, parent: SpanContext) -> list[tuple[int, int]]:
        startup = self._startup
        span = startup.tracer.begin("social_graph_mongo_find_client", parent)
        try:
            reply = await self.mongo.run(DATABASE, {"find": DATABASE, "filter": {"user_id": Int64(user)}})
            found = reply["cursor"]["firstBatch"]
        except MongoError:
            found = []  # the original does not check the cursor for errors
        finally:
            span.finish()
        if found:
            others = found[0].get(side)
            entries = [entry for entry in others if _is_whole(entry)] if isinstance(others, list) else []
            return [(int(entry["user_id"]), int(entry["timestamp"])) for entry in entries]
        if side == FOLLOWEES:
            raise ServiceError(HANDLER, "Cannot find user_id in MongoDB.")
        startup.log.warning(f"user_id: {user} not found", startup.locate(612, "GetFollowers"))
        return []

    async def _follow(self, pair: Follow, parent: SpanContext) -> None:
        now_ms = int(self._startup.ctx.now * 1000)
        await self._change(pair, parent, now_ms)

    async def _unfollow(self, pair: Follow, parent: SpanContext) -> None:
        await self._change(pair, parent, None)

    async def _change(self, pair: Follow, parent: SpanContext, now_ms: int | None) -> None:
        """Update both users in the database and both sets in Redis concurrently."""
        user, followee = int(pair.user), int(pair.followee)
        outcomes = await self._startup.run_together(
            self._change_sets(user, followee, now_ms, parent),
            self._change_stored(user, FOLLOWEES, followee, now_ms, parent),
            self._change_stored(followee, FOLLOWERS, user, now_ms, parent),
        )
        for outcome in outcomes:
            if isinstance(outcome, ThriftError):
                if now_ms is not None:
                    self._startup.log.warning(outcome.what, self._startup.locate(294, "Follow"))
                raise outcome

    async def _change_sets(self, user: int, followee: int, now_ms: int | None, parent: SpanContext) -> None:
        span = self._startup.tracer.begin("social_graph_redis_update_client", parent)
        sides = ((f"{user}:{FOLLOWEES}", str(followee)), (f"{followee}:{FOLLOWERS}", str(user)))
        place = self._startup.locate(438 if now_ms is None else 248, "operator()")
        try:
            for key, member in sides:
                if now_ms is None:
                    await self._sets.remove(key, member, place)
                else:
                    await self._sets.add(key, {member: now_ms}, place)
        finally:
            span.finish()

    async def _change_stored(
        self, user: int, side: str, other: int, now_ms: int | None, parent: SpanContext
    ) -> None:
        entry = {"user_id": Int64(other)}
        query: Document = {"user_id": Int64(user)}
        if now_ms is None:
            update: Document = {"$pull": {side: entry}}
            verb, line = "delete", 349 if side == FOLLOWEES else 403
        else:
            query = {"$and": [query, {side: {"$not": {"$elemMatch": entry}}}]}
            update = {"$push": {side: {**entry, "timestamp": Int64(now_ms)}}}
            verb, line = "update", 156 if side == FOLLOWEES else 213
        span = self._startup.tracer.begin(f"social_graph_mongo_{verb}_client", parent)
        try:
            body = {"findAndModify": DATABASE, "query": query, "update": update, "new": True}
            await self.mongo.run(DATABASE, body)
        except MongoError as error:
            self._refuse(verb, user, error, line, "operator()")
        finally:
            span.finish()

    def _refuse(self, verb: str, user: int, error: MongoError, line: int, function: str) -> None:
        message = f"Failed to {verb} social graph for user {user} to MongoDB: {error}"
        self._startup.log.error(message, self._startup.locate(line, function))
        raise ServiceError(MONGODB, str(error)) from None


def _is_whole(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("user_id"), int)
        and isinstance(entry.get("timestamp"), int)
    )


async def main(startup: Startup) -> int:
    """Run the service, once the database has created the index."""
    handler = SocialGraph(startup)
    await startup.ensure_index(handler.mongo, DATABASE, "user_id")
    server = startup.create_server()
    for method, serve, operation in (
        ("GetFollowers", handler.get_followers, "get_followers_server"),
        ("GetFollowees", handler.get_followees, "get_followees_server"),
        ("InsertUser", handler.insert_user, "insert_user_server"),
        ("Follow", handler.follow, "follow_server"),
        ("Unfollow", handler.unfollow, "unfollow_server"),
        ("FollowWithUsername", handler.follow_by_name, "follow_with_username_server"),
        ("UnfollowWithUsername", handler.unfollow_by_name, "unfollow_with_username_server"),
    ):
        server.method(method, serve, operation, CPU_S)
    return await startup.serve(server)


social_graph_service = make_program("social-graph-service", main)
