"""user-mention-service: finds the ids of mentioned users. Unknown names are skipped."""

from __future__ import annotations

from typing import Any, Final

from aiopslab.apps.socialnet.messages import MEMCACHED, MONGODB, Usernames
from aiopslab.apps.socialnet.services.startup import Startup, make_program
from simcloud.datastores.memcached import MemcachedFailure
from simcloud.datastores.mongodb import Int64, MongoError
from simcloud.services import SpanContext
from simcloud.services.rpc import Call
from simcloud.services.rpc.thrift import ServiceError

CPU_S: Final = 0.00012
SUFFIX: Final = ":user_id"
COMPOSE: Final = "ComposeUserMentions"


class UserMention:
    """The handler of ComposeUserMentions."""

    def __init__(self, startup: Startup) -> None:
        self._startup = startup
        self._cache = startup.connect_cache("user-memcached")
        self._mongo = startup.connect_mongo("user-mongodb")

    async def compose(self, call: Call) -> list[dict[str, Any]]:
        """Return the mentioned users."""
        wanted: Usernames = call.payload
        if not wanted.names:
            return []
        names = sorted(dict.fromkeys(wanted.names))
        cached = await self._find_cached(wanted.req_id, names, call.span)
        mentions = [{"user_id": id, "username": name} for name, id in cached.items()]
        missing = [name for name in names if name not in cached]
        if missing:
            mentions += await self._find_stored(missing, call.span)
        return mentions

    async def _find_cached(self, req_id: int, names: list[str], parent: SpanContext) -> dict[str, int]:
        startup = self._startup
        span = startup.tracer.begin("compose_user_mentions_memcached_get_client", parent)
        try:
            found = await self._cache.mget([name + SUFFIX for name in names])
        except MemcachedFailure as error:
            message = f"Cannot get usernames of request {req_id}: {error}"
            startup.log.error(message, startup.locate(89, COMPOSE))
            raise ServiceError(MEMCACHED, str(error)) from None
        finally:
            span.finish()
        return {
            key.removesuffix(SUFFIX): Int64(id) for key, id in found.items() if id.isdigit() and len(id) < 20
        }

    async def _find_stored(self, names: list[str], parent: SpanContext) -> list[dict[str, Any]]:
        span = self._startup.tracer.begin("compose_user_mentions_mongo_find_client", parent)
        try:
            reply = await self._mongo.run("user", {"find": "user", "filter": {"username": {"$in": names}}})
        except MongoError:
            return []  # the original does not check the cursor for errors
        finally:
            span.finish()
        found = reply["cursor"]["firstBatch"]
        if not all(isinstance(user.get("user_id"), int) for user in found):
            raise ServiceError(MONGODB, "Attribute of MongoDB item is not complete")
        return [{"user_id": user["user_id"], "username": user["username"]} for user in found]


async def main(startup: Startup) -> int:
    """Run the service."""
    server = startup.create_server()
    server.method(COMPOSE, UserMention(startup).compose, "compose_user_mentions_server", CPU_S)
    return await startup.serve(server)


user_mention_service = make_program("user-mention-service", main)
