"""social-graph-service: who follows whom. The database has it; Redis has what was asked for since it started."""

from __future__ import annotations

from typing import Any, Final

from aiopslab.apps.socialnet.messages import HANDLER, MONGODB, Follow
from aiopslab.apps.socialnet.services.asking import Asking
from aiopslab.apps.socialnet.services.startup import Startup, got, program
from simcloud.datastores.mongodb.bson import Document, Int64
from simcloud.datastores.mongodb.driver import MongoError
from simcloud.services.rpc import Call
from simcloud.services.rpc.thrift import ServiceError, ThriftError
from simcloud.services.tracing import SpanContext

CPU_S: Final = 0.00015
DATABASE: Final = "social-graph"
FOLLOWERS: Final = "followers"
FOLLOWEES: Final = "followees"


class SocialGraph:
    """The handler."""

    def __init__(self, startup: Startup) -> None:
        self._startup = startup
        self._sets = startup.sorted_sets("social-graph-redis")
        self.mongo = startup.mongo("social-graph-mongodb")
        self._user = Asking(
            startup.pool("user-service", "user-service-client"),
            "GetUserId",
            "",
            startup.log,
            "Failed to get user_id from user-service",
            startup.place(757, "operator()"),
        )

    async def followers(self, call: Call) -> list[int]:
        """Who follows somebody."""
        return await self._known(call, FOLLOWERS)

    async def followees(self, call: Call) -> list[int]:
        """Whom somebody follows."""
        return await self._known(call, FOLLOWEES)

    async def insert_user(self, call: Call) -> None:
        """Somebody new, who follows nobody yet."""
        user: int = call.payload
        document = {"user_id": Int64(user), FOLLOWERS: [], FOLLOWEES: []}
        span = self._startup.tracer.begin("social_graph_mongo_insert_client", call.span)
        try:
            await self.mongo.run(DATABASE, {"insert": DATABASE, "documents": [document], "ordered": True})
        except MongoError as error:
            self._refused("insert", user, error, 717, "InsertUser")
        finally:
            span.finish()

    async def follow(self, call: Call) -> None:
        """Somebody follows somebody."""
        await self._follow(call.payload, call.span)

    async def unfollow(self, call: Call) -> None:
        """Somebody follows somebody no more."""
        await self._unfollow(call.payload, call.span)

    async def follow_by_name(self, call: Call) -> None:
        """The same, for those whose names are known."""
        await self._follow(await self._by_id(call.payload, call.span), call.span)

    async def unfollow_by_name(self, call: Call) -> None:
        """The same, for those whose names are known."""
        await self._unfollow(await self._by_id(call.payload, call.span), call.span)

    async def _by_id(self, names: Follow, span: SpanContext) -> Follow:
        user, followee = await self._startup.together(
            self._user.ask(names.user, span), self._user.ask(names.followee, span)
        )
        return Follow(got(user), got(followee))

    async def _known(self, call: Call, side: str) -> list[int]:
        startup, user = self._startup, call.payload
        key, function = f"{user}:{side}", f"Get{side.capitalize()}"
        span = startup.tracer.begin("social_graph_redis_get_client", call.span)
        try:
            ids = await self._sets.all(key, startup.place(492, function))
        finally:
            span.finish()
        if ids:
            return ids
        entries = await self._stored(user, side, call.span)
        if entries:
            span = startup.tracer.begin("social_graph_redis_insert_client", call.span)
            scores = {str(id): when for id, when in entries}
            try:
                await self._sets.add(key, scores, startup.place(567, function), only_new=False)
            finally:
                span.finish()
        return [id for id, _ in entries]

    async def _stored(self, user: int, side: str, parent: SpanContext) -> list[tuple[int, int]]:
        startup = self._startup
        span = startup.tracer.begin("social_graph_mongo_find_client", parent)
        try:
            reply = await self.mongo.run(DATABASE, {"find": DATABASE, "filter": {"user_id": Int64(user)}})
            found = reply["cursor"]["firstBatch"]
        except MongoError:
            found = []  # the original does not ask its cursor why
        finally:
            span.finish()
        if found:
            others = found[0].get(side)
            entries = [entry for entry in others if _whole(entry)] if isinstance(others, list) else []
            return [(int(entry["user_id"]), int(entry["timestamp"])) for entry in entries]
        if side == FOLLOWEES:
            raise ServiceError(HANDLER, "Cannot find user_id in MongoDB.")
        startup.log.warning(f"user_id: {user} not found", startup.place(576, "GetFollowers"))
        return []

    async def _follow(self, pair: Follow, parent: SpanContext) -> None:
        now_ms = int(self._startup.ctx.now * 1000)
        await self._change(pair, parent, now_ms)

    async def _unfollow(self, pair: Follow, parent: SpanContext) -> None:
        await self._change(pair, parent, None)

    async def _change(self, pair: Follow, parent: SpanContext, now_ms: int | None) -> None:
        """Both ends in the database, and both sets in Redis, all at once."""
        user, followee = int(pair.user), int(pair.followee)
        outcomes = await self._startup.together(
            self._change_sets(user, followee, now_ms, parent),
            self._change_stored(user, FOLLOWEES, followee, now_ms, parent),
            self._change_stored(followee, FOLLOWERS, user, now_ms, parent),
        )
        for outcome in outcomes:
            if isinstance(outcome, ThriftError):
                told = self._startup.place(309 if now_ms else 471, "Follow" if now_ms else "Unfollow")
                self._startup.log.warning(str(outcome), told)
                raise outcome

    async def _change_sets(self, user: int, followee: int, now_ms: int | None, parent: SpanContext) -> None:
        span = self._startup.tracer.begin("social_graph_redis_update_client", parent)
        sides = ((f"{user}:{FOLLOWEES}", str(followee)), (f"{followee}:{FOLLOWERS}", str(user)))
        place = self._startup.place(257, "operator()")
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
            verb = "delete"
        else:
            query = {"$and": [query, {side: {"$not": {"$elemMatch": entry}}}]}
            update = {"$push": {side: {**entry, "timestamp": Int64(now_ms)}}}
            verb = "update"
        span = self._startup.tracer.begin(f"social_graph_mongo_{verb}_client", parent)
        try:
            body = {"findAndModify": DATABASE, "query": query, "update": update, "new": True}
            await self.mongo.run(DATABASE, body)
        except MongoError as error:
            self._refused(verb, user, error, 142, "operator()")
        finally:
            span.finish()

    def _refused(self, verb: str, user: int, error: MongoError, line: int, function: str) -> None:
        told = f"Failed to {verb} social graph for user {user} to MongoDB: {error}"
        self._startup.log.error(told, self._startup.place(line, function))
        raise ServiceError(MONGODB, str(error)) from None


def _whole(entry: Any) -> bool:
    return isinstance(entry, dict) and all(
        isinstance(entry.get(name), int) for name in ("user_id", "timestamp")
    )


async def main(startup: Startup) -> int:
    """Serve, once the database has taken the index."""
    handler = SocialGraph(startup)
    await startup.index(handler.mongo, DATABASE, "user_id")
    server = startup.server()
    for method, serve, operation in (
        ("GetFollowers", handler.followers, "get_followers_server"),
        ("GetFollowees", handler.followees, "get_followees_server"),
        ("InsertUser", handler.insert_user, "insert_user_server"),
        ("Follow", handler.follow, "follow_server"),
        ("Unfollow", handler.unfollow, "unfollow_server"),
        ("FollowWithUsername", handler.follow_by_name, "follow_with_username_server"),
        ("UnfollowWithUsername", handler.unfollow_by_name, "unfollow_with_username_server"),
    ):
        server.method(method, serve, operation, CPU_S)
    return await startup.serve(server)


social_graph_service = program("social-graph-service", main)
