"""text-service: finds mentions and links in a text, and has both processed concurrently."""

from __future__ import annotations

import re
from typing import Final

from aiopslab.apps.socialnet.messages import ComposedText, Usernames
from aiopslab.apps.socialnet.services.service_call import ServiceCall
from aiopslab.apps.socialnet.services.startup import Startup, make_program, unwrap
from simcloud.services.rpc import Call
from simcloud.services.rpc.thrift import ThriftError

CPU_S: Final = 0.0004
MENTION: Final = re.compile(r"@([a-zA-Z0-9-_]+)")
ADDRESS: Final = re.compile(r"https?://[a-zA-Z0-9_!~*'().&=+$%-]+")
COMPOSE: Final = "ComposeText"


class Text:
    """The handler of ComposeText."""

    def __init__(self, startup: Startup) -> None:
        self._startup = startup
        self._urls = ServiceCall(
            startup.open_pool("url-shorten-service", "url-shorten-service"),
            "ComposeUrls",
            "compose_urls_client",
            startup,
            "Failed to upload urls to url-shorten-service",
            startup.locate(93, "operator()"),
        )
        self._mentions = ServiceCall(
            startup.open_pool("user-mention-service", "user-mention-service"),
            "ComposeUserMentions",
            "compose_user_mentions_client",
            startup,
            "Failed to upload user_mentions to user-mention-service",
            startup.locate(125, "operator()"),
        )

    async def compose(self, call: Call) -> ComposedText:
        """Return the text with shortened links, its mentions and its links."""
        text: str = call.payload
        found = ADDRESS.findall(text)
        urls, mentions = await self._startup.run_together(
            self._urls.call(found, call.span),
            self._mentions.call(Usernames(0, MENTION.findall(text)), call.span),
        )
        if isinstance(urls, ThriftError):
            message = "Failed to get shortened urls from url-shorten-service"
            self._startup.log.error(self._startup.rename(message), self._startup.locate(138, COMPOSE))
        elif isinstance(mentions, ThriftError):
            message = "Failed to upload user mentions to user-mention-service"
            self._startup.log.error(self._startup.rename(message), self._startup.locate(146, COMPOSE))
        shortened = unwrap(urls)
        return ComposedText(_replace_urls(text, shortened), unwrap(mentions), shortened)


def _replace_urls(text: str, urls: list[dict[str, str]]) -> str:
    """Replace the links in a text. The text after the last link is lost, as in the original."""
    if not urls:
        return text
    parts, position = [], 0
    for match, url in zip(ADDRESS.finditer(text), urls, strict=False):
        parts += [text[position : match.start()], url["shortened_url"]]
        position = match.end()
    return "".join(parts)


async def main(startup: Startup) -> int:
    """Run the service."""
    server = startup.create_server()
    server.method(COMPOSE, Text(startup).compose, "compose_text_server", CPU_S)
    return await startup.serve(server)


text_service = make_program("text-service", main)
