"""wget, for HTTP, in the words of GNU Wget 1.21."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from aiopslab.machine.network.http import HttpRequest
from aiopslab.machine.process import Context
from aiopslab.machine.shell.commands.net.exchange import REDIRECTS, Exchange, ExchangeFailed, Url, fetch
from aiopslab.machine.shell.commands.options import Options, UsageError, parse
from aiopslab.machine.shell.commands.registry import command

Say = Callable[[str], Awaitable[None]]
EXITS = {"no-host": 4, "refused": 4, "unreachable": 4, "connect-timeout": 4, "timeout": 4, "mismatch": 4}


@command("wget")
async def wget(ctx: Context) -> int:
    """Fetch what URLs name into files."""
    options = parse(
        ctx.args,
        "qO:T:t:SP:cNnv",
        ("quiet", "output-document=", "timeout=", "tries=", "spider", "header=", "post-data=", "no-verbose",
         "server-response", "no-check-certificate", "method=", "body-data=", "connect-timeout="),
    )  # fmt: skip
    if not options.operands:
        raise UsageError(
            "wget: missing URL\nUsage: wget [OPTION]... [URL]...\n\nTry `wget --help' for more options."
        )
    status = 0
    for text in options.operands:
        status = await _get(ctx, options, text) or status
    return status


async def _get(ctx: Context, options: Options, text: str) -> int:
    url = Url.parse(text)
    if url is None:
        await ctx.err(f"{text}: Invalid host name.\n")
        return 1
    quiet = options.any("q", "quiet", "nv", "no-verbose")

    async def say(words: str) -> None:
        if not quiet:
            await ctx.err(words)

    stamp = datetime.fromtimestamp(ctx.now, UTC).strftime("%Y-%m-%d %H:%M:%S")
    await say(f"--{stamp}--  {url.text}\n")
    tries = int(options.last("t", "tries") or 20)
    for attempt in range(1, tries + 1):
        ctx.spend_turn()
        try:
            exchange = await _follow(ctx, url, options)
        except ExchangeFailed as failure:
            await say(_explain(url, failure))
            final = failure.kind in ("no-host", "refused", "mismatch")
            if final or attempt == tries:
                return EXITS.get(failure.kind, 4)
            await say("Retrying.\n\n")
            await ctx.sleep(min(attempt, 10))
            continue
        return await _save(ctx, options, url, exchange, say)
    return 4


async def _follow(ctx: Context, url: Url, options: Options) -> Exchange:
    timeout_s = float(options.last("T", "timeout") or 900.0)
    body = options.last("post-data", "body-data").encode()
    method = options.last("method") or ("POST" if options.any("post-data") else "GET")
    headers = {"Host": url.host, "User-Agent": "Wget/1.21.3", "Accept": "*/*"}
    for line in options.all("header"):
        name, _, value = line.partition(":")
        headers[name] = value.strip()
    for _ in range(20):
        request = HttpRequest("HEAD" if options.any("spider") else method, url.path, headers, body)
        exchange = await fetch(ctx, url, request, connect_timeout_s=timeout_s, timeout_s=timeout_s)
        location = exchange.response.headers.get("Location")
        target = url.redirected(location) if location and exchange.response.status in REDIRECTS else None
        if target is None:
            return exchange
        url = target
    raise ExchangeFailed("redirects", "20 redirections exceeded.", 0.0)


def _explain(url: Url, failure: ExchangeFailed) -> str:
    if failure.kind == "no-host":
        return (
            f"Resolving {url.host} ({url.host})... failed: Name or service not known.\n"
            f"wget: unable to resolve host address '{url.host}'\n"
        )
    reason = {"connect-timeout": "Connection timed out", "timeout": "Read error (Connection timed out)"}
    return f"Connecting to {url.host}:{url.port}... failed: {reason.get(failure.kind, str(failure))}.\n"


async def _save(ctx: Context, options: Options, url: Url, exchange: Exchange, say: Say) -> int:
    response = exchange.response
    await say(
        f"Connecting to {url.host}:{url.port}... connected.\n"
        f"HTTP request sent, awaiting response... {response.status} {response.reason}\n"
    )
    if response.status >= 400:
        stamp = datetime.fromtimestamp(ctx.now, UTC).strftime("%Y-%m-%d %H:%M:%S")
        await say(f"{stamp} ERROR {response.status}: {response.reason}.\n\n")
        return 8
    if options.any("spider"):
        await say("Remote file exists.\n\n")
        return 0
    name = (
        options.last("O", "output-document") or url.path.partition("?")[0].rpartition("/")[2] or "index.html"
    )
    if name == "-":
        await ctx.stdout.write(response.body)
    else:
        folder = options.last("P")
        ctx.files.write(f"{folder}/{name}" if folder else name, response.body)
    await say(f"Length: {len(response.body)}\nSaving to: '{'STDOUT' if name == '-' else name}'\n\n")
    return 0
