"""media-frontend: nginx with Lua, which stores pictures in a database and serves them."""

from __future__ import annotations

from typing import Final

from aiopslab.apps.names import Names
from aiopslab.apps.socialnet.web.front import REQUIRED
from aiopslab.apps.socialnet.web.nginx import Setup, run_nginx
from simcloud.datastores.mongodb import Binary, MongocPool, MongoError
from simcloud.machine.network import HttpResponse, respond
from simcloud.machine.process import Context, Program
from simcloud.services.nginx import Answer, Directive, Exchange, error_page
from simcloud.services.rpc import query_of

CPU_S: Final = 0.0004
DATABASE: Final = "media"
FILES: Final = "fs.files"
PNG: Final = "image/png"


def build_media_frontend(names: Names) -> Program:
    """Return the program, with scripts that use a database of some name."""

    async def media_frontend(ctx: Context) -> int:
        return await run_nginx(ctx, lambda setup: MediaFront(setup, names.rename("media-mongodb")))

    return media_frontend


class MediaFront:
    """The locations of the picture server."""

    def __init__(self, setup: Setup, database: str) -> None:
        self._setup = setup
        self._ctx = setup.ctx
        self._mongo = MongocPool(setup.ctx, database + setup.ctx.env.get("fqdn_suffix", ""))
        self._bits = setup.ctx.random("media ids").getrandbits

    async def begin(self) -> bool:
        """Do nothing; return True."""
        return True

    def find_answer(self, directive: Directive) -> Answer | None:
        """Return the handler of a location; None if it has no script."""
        source = directive.first("content_by_lua") or directive.first("content_by_lua_block")
        found = REQUIRED.search(" ".join(source.words)) if source is not None else None
        scripts: dict[str, Answer] = {"upload-media": self._upload, "get-media": self._get}
        return scripts.get(found.group(1)) if found is not None else None

    async def _upload(self, exchange: Exchange) -> HttpResponse:
        await self._ctx.cpu(CPU_S)
        id = str(self._bits(53))
        document = {"filename": f"{id}.png", "contentType": PNG, "data": Binary(exchange.request.body)}
        try:
            await self._mongo.run(DATABASE, {"insert": FILES, "documents": [document], "ordered": True})
        except MongoError as error:
            return self._fail("upload-media", f"Failed to connect to mongodb: {error}", exchange)
        return respond(200, f'{{"media_id":"{id}","media_type":"png"}}\n')

    async def _get(self, exchange: Exchange) -> HttpResponse:
        await self._ctx.cpu(CPU_S)
        name = query_of(exchange.request)["filename"]
        if not name:
            return respond(400, b"Incomplete arguments\n")
        try:
            reply = await self._mongo.run(DATABASE, {"find": FILES, "filter": {"filename": name}, "limit": 1})
        except MongoError as error:
            return self._fail("get-media", f"Failed to connect to mongodb: {error}", exchange)
        found = reply["cursor"]["firstBatch"]
        data = found[0].get("data") if found else None
        if not isinstance(data, Binary):
            return error_page(404)
        return respond(200, data.data, Content_Type=PNG)

    def _fail(self, module: str, text: str, exchange: Exchange) -> HttpResponse:
        self._setup.server.error(f"[lua] {module}.lua:28: {text}", exchange)
        return respond(500, f"{text}\n")
