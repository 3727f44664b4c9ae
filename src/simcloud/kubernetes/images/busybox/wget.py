"""wget of busybox: one attempt, one error message, exit status 1 for every error."""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.images.busybox.messages import WrongCall
from simcloud.machine.network import HttpRequest, HttpResponse
from simcloud.machine.process import Context
from simcloud.userland.commands import Options, UsageError, parse
from simcloud.userland.commands.net import REDIRECTS, ExchangeFailed, Failure, Url, fetch

TIMEOUT_S: Final = 900.0
MOST_REDIRECTS: Final = 5
BAR: Final = "*" * 32
LONG: Final = (
    "spider", "header=", "post-data=", "post-file=", "no-check-certificate", "quiet", "continue", "tries=", "timeout=",
    "output-document=", "output-file=", "user-agent=", "directory-prefix=", "server-response", "proxy=",
)  # fmt: skip
USAGE: Final = """\
Usage: wget [-cqS] [--spider] [-O FILE] [-o LOGFILE] [--header STR]
\t[--post-data STR | --post-file FILE] [-Y on/off]
\t[--no-check-certificate] [-P DIR] [-U AGENT] [-T SEC] URL...

Retrieve files via HTTP or FTP

\t--spider\tOnly check URL existence: $? is 0 if exists
\t--header STR\tAdd STR (of form 'header: value') to headers
\t--post-data STR\tSend STR using POST method
\t--post-file FILE\tSend FILE using POST method
\t--no-check-certificate\tDon't validate the server's certificate
\t-c\t\tContinue retrieval of aborted transfer
\t-q\t\tQuiet
\t-P DIR\t\tSave to DIR (default .)
\t-S    \t\tShow server response
\t-T SEC\t\tNetwork read timeout is SEC seconds
\t-O FILE\t\tSave to FILE ('-' for stdout)
\t-o LOGFILE\tLog messages to FILE
\t-U STR\t\tUse STR for User-Agent header
\t-Y on/off\tUse proxy
"""


class _Gave(Exception):
    """The download ends here; the text says why."""


async def wget(ctx: Context) -> int:
    """Fetch what URLs name into files."""
    try:
        options = parse(ctx.args, "cqSO:o:P:U:T:t:Y:", LONG)
    except UsageError as mistake:
        raise WrongCall(USAGE, mistake) from None
    if not options.operands:
        raise WrongCall(USAGE)
    for text in options.operands:
        try:
            await _download(ctx, options, text)
        except _Gave as end:
            await ctx.err(f"wget: {end}\n")
            return 1
    return 0


async def _download(ctx: Context, options: Options, text: str) -> None:
    url = Url.parse(text)
    if url is None:
        raise _Gave(f"bad address '{text}'")
    if "://" in text and url.scheme not in ("http", "https"):
        raise _Gave(f"not an http or ftp url: {text}")
    for _ in range(MOST_REDIRECTS + 1):
        response = await _ask(ctx, options, url)
        location = response.header("Location")
        target = url.follow_redirect(location) if location and response.status in REDIRECTS else None
        if target is None:
            break
        url = target
    else:
        raise _Gave("too many redirections")
    if response.status >= 300:
        raise _Gave(f"server returned error: HTTP/1.1 {response.status} {response.reason}")
    if options.any("spider"):
        await _say(ctx, options, "remote file exists\n")
        return
    await _save(ctx, options, url, response)


async def _say(ctx: Context, options: Options, text: str) -> None:
    if not options.any("q", "quiet"):
        await ctx.err(text)


async def _ask(ctx: Context, options: Options, url: Url) -> HttpResponse:
    tried = url.host

    async def watch(step: str, about: str) -> None:
        nonlocal tried
        if step == "trying":
            tried = about
            await _say(ctx, options, f"Connecting to {url.host}:{url.port} ({about}:{url.port})\n")

    word = options.last("T", "timeout")
    limit_s = float(word) if word.isdecimal() and int(word) else TIMEOUT_S
    try:
        exchange = await fetch(
            ctx,
            url,
            _request(ctx, options, url),
            connect_timeout_s=limit_s,
            timeout_s=limit_s,
            watcher=watch,
        )
    except ExchangeFailed as failed:
        raise _Gave(_why(url, tried, failed)) from None
    if options.any("S", "server-response"):
        head = exchange.response.head().decode("utf-8", "surrogateescape").replace("\r\n", "\n").rstrip("\n")
        await _say(ctx, options, "".join(f"  {line}\n" for line in head.split("\n")))
    return exchange.response


def _why(url: Url, address: str, failed: ExchangeFailed) -> str:
    if failed.failure is Failure.NO_HOST:
        return f"bad address '{url.host}'"
    if failed.failure in (Failure.CONNECT_TIMED_OUT, Failure.TIMED_OUT):
        return "download timed out"
    if failed.failure in (Failure.REFUSED, Failure.UNREACHABLE, Failure.KERNEL_TIMED_OUT):
        return f"can't connect to remote host ({address}): {failed}"
    if failed.failure is Failure.RESET:
        return f"error getting response: {failed}"
    return "error getting response"


def _request(ctx: Context, options: Options, url: Url) -> HttpRequest:
    body = options.last("post-data").encode("utf-8", "surrogateescape")
    if options.any("post-file"):
        body = ctx.files.read(options.last("post-file"))
    posts = options.any("post-data", "post-file")
    headers = {"Host": url.authority, "User-Agent": options.last("U", "user-agent") or "Wget"}
    if posts:
        headers |= {
            "Content-Type": "application/x-www-form-urlencoded",
            "Content-Length": str(len(body)),
        }
    headers["Connection"] = "close"
    for line in options.all("header"):
        name, _, value = line.partition(":")
        headers[name] = value.strip()
    method = "POST" if posts else "HEAD" if options.any("spider") else "GET"
    return HttpRequest(method, url.path, headers, body)


async def _save(ctx: Context, options: Options, url: Url, response: HttpResponse) -> None:
    name = options.last("O", "output-document")
    if not name:
        name = url.path.partition("?")[0].rpartition("/")[2] or "index.html"
        folder = options.last("P", "directory-prefix")
        name = f"{folder.rstrip('/')}/{name}" if folder else name
        if ctx.files.exists(name):
            raise _Gave(f"can't open '{name}': File exists")
    await _say(ctx, options, "writing to stdout\n" if name == "-" else f"saving to '{name}'\n")
    if name == "-":
        await ctx.stdout.write(response.body)
    else:
        ctx.files.write(name, response.body)
    shown = name.rpartition("/")[2][:20]
    await _say(ctx, options, f"{shown:20} 100% |{BAR}| {len(response.body):5d}  0:00:00 ETA\n")
    await _say(ctx, options, "written to stdout\n" if name == "-" else f"'{name}' saved\n")
