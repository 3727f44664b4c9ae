"""url-shorten-service: shortens links and stores them."""

from __future__ import annotations

from typing import Final

from aiopslab.apps.socialnet.messages import MONGODB
from aiopslab.apps.socialnet.services.startup import Startup, make_program
from simcloud.datastores.mongodb import MongoError
from simcloud.services.rpc import Call
from simcloud.services.rpc.thrift import ServiceError

CPU_S: Final = 0.00012
HOST: Final = "http://short-url/"
LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
LENGTH: Final = 10
DATABASE: Final = "url-shorten"


class UrlShorten:
    """The handler of ComposeUrls."""

    def __init__(self, startup: Startup) -> None:
        self._startup = startup
        self._cache = startup.connect_cache("url-shorten-memcached")  # never used, as in the original
        self.mongo = startup.connect_mongo("url-shorten-mongodb")
        self._choices = startup.ctx.random("short urls").choices

    async def compose(self, call: Call) -> list[dict[str, str]]:
        """Shorten and store links."""
        choices = self._choices
        urls = [
            {"shortened_url": HOST + "".join(choices(LETTERS, k=LENGTH)), "expanded_url": url}
            for url in call.payload
        ]
        if not urls:
            return urls
        startup = self._startup
        span = startup.tracer.begin("url_mongo_insert_client", call.span)
        try:
            await self.mongo.run(DATABASE, {"insert": DATABASE, "documents": urls, "ordered": True})
        except MongoError as error:
            startup.log.error(f"MongoDB error: {error}", startup.locate(136, "operator()"))
            message = "Failed to upload shortened urls from MongoDB"
            startup.log.error(message, startup.locate(159, "ComposeUrls"))
            raise ServiceError(MONGODB, "Failed to insert urls to MongoDB") from None
        finally:
            span.finish()
        return urls


async def main(startup: Startup) -> int:
    """Run the service, once the database has created the index."""
    handler = UrlShorten(startup)
    await startup.ensure_index(handler.mongo, DATABASE, "shortened_url")
    server = startup.create_server()
    server.method("ComposeUrls", handler.compose, "compose_urls_server", CPU_S)
    return await startup.serve(server)


url_shorten_service = make_program("url-shorten-service", main)
