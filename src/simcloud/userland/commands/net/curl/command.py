"""curl: fetch what URLs name."""

from __future__ import annotations

from typing import Final

from simcloud.machine.process import Context
from simcloud.userland.commands.net.curl.arguments import WRONG_USE, read_arguments
from simcloud.userland.commands.net.curl.requests import VERSION
from simcloud.userland.commands.net.curl.transfer import Transfer
from simcloud.userland.commands.registry import command

HINT: Final = "curl: try 'curl --help' or 'curl --manual' for more information\n"


@command("curl")
async def curl(ctx: Context) -> int:
    """Fetch what URLs name."""
    options = read_arguments(ctx.args)
    if options.any("version"):
        await ctx.out(f"curl {VERSION} (x86_64-pc-linux-gnu) libcurl/{VERSION}\nProtocols: http https\n")
        return 0
    if options.any("help"):
        await ctx.out("Usage: curl [options...] <url>\n")
        return 0
    urls = [*options.all("url"), *options.operands]
    if not urls:
        await ctx.err(HINT)
        return WRONG_USE
    status = 0
    for number, text in enumerate(urls):
        status = await Transfer(ctx, options, text, number).run()
    return status
