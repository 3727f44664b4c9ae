"""text-service: finds mentions and addresses in a text, and has both looked after at the same time."""

from __future__ import annotations

import re
from typing import Final

from aiopslab.apps.socialnet.messages import Composed, Usernames
from aiopslab.apps.socialnet.services.asking import Asking
from aiopslab.apps.socialnet.services.startup import Startup, got, program
from simcloud.services.rpc import Call
from simcloud.services.rpc.thrift import ThriftError

CPU_S: Final = 0.0004
MENTION: Final = re.compile(r"@([a-zA-Z0-9-_]+)")
ADDRESS: Final = re.compile(r"https?://[a-zA-Z0-9_!~*'().&=+$%-]+")
COMPOSE: Final = "ComposeText"


class Text:
    """The handler."""

    def __init__(self, startup: Startup) -> None:
        self._startup = startup
        self._urls = Asking(
            startup.pool("url-shorten-service", "url-shorten-service"),
            "ComposeUrls",
            "compose_urls_client",
            startup.log,
            "Failed to upload urls to url-shorten-service",
            startup.place(88, "operator()"),
        )
        self._mentions = Asking(
            startup.pool("user-mention-service", "user-mention-service"),
            "ComposeUserMentions",
            "compose_user_mentions_client",
            startup.log,
            "Failed to upload user_mentions to user-mention-service",
            startup.place(119, "operator()"),
        )

    async def compose(self, call: Call) -> Composed:
        """The text with short addresses."""
        text: str = call.payload
        found = ADDRESS.findall(text)
        urls, mentions = await self._startup.together(
            self._urls.ask(found, call.span),
            self._mentions.ask(Usernames(0, MENTION.findall(text)), call.span),
        )
        if isinstance(urls, ThriftError):
            told = "Failed to get shortened urls from url-shorten-service"
            self._startup.log.error(told, self._startup.place(133, COMPOSE))
        elif isinstance(mentions, ThriftError):
            told = "Failed to upload user mentions to user-mention-service"
            self._startup.log.error(told, self._startup.place(141, COMPOSE))
        shortened = got(urls)
        return Composed(_shorter(text, shortened), got(mentions), shortened)


def _shorter(text: str, urls: list[dict[str, str]]) -> str:
    """The text with its addresses replaced. What follows the last of them is lost, as in the original."""
    if not urls:
        return text
    parts, at = [], 0
    for match, url in zip(ADDRESS.finditer(text), urls, strict=False):
        parts += [text[at : match.start()], url["shortened_url"]]
        at = match.end()
    return "".join(parts)


async def main(startup: Startup) -> int:
    """Serve."""
    server = startup.server()
    server.method(COMPOSE, Text(startup).compose, "compose_text_server", CPU_S)
    return await startup.serve(server)


text_service = program("text-service", main)
