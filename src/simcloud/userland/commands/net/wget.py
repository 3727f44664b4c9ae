"""wget for HTTP, with the messages of GNU Wget 1.21."""

from __future__ import annotations

import base64
from typing import Final

from simcloud.machine.files import FileError
from simcloud.machine.network import HTTP, HTTPS, HttpRequest, HttpResponse, is_address
from simcloud.machine.process import Context
from simcloud.userland.commands.file.names import folder_name, join
from simcloud.userland.commands.net.exchange import (
    REDIRECTS,
    Exchange,
    ExchangeFailed,
    Failure,
    Url,
    fetch,
)
from simcloud.userland.commands.options import Options, UsageError, parse
from simcloud.userland.commands.registry import command
from simcloud.userland.commands.system.dates import Moment, format_moment, zone_of
from simcloud.userland.commands.system.durations import parse_duration
from simcloud.userland.commands.text.counts import parse_number

USAGE: Final = "Usage: wget [OPTION]... [URL]...\n\nTry `wget --help' for more options."
TRIES: Final = 20
TIMEOUT_S: Final = 900.0
MAX_REDIRECTS: Final = 20
WRONG_USE: Final = 2
NETWORK: Final = 4
SERVER: Final = 8
FINAL: Final = frozenset({Failure.NO_HOST, Failure.REFUSED, Failure.UNREACHABLE, Failure.MISUNDERSTOOD})
LONG: Final = (
    "quiet", "verbose", "no-verbose", "output-document=", "output-file=", "tries=", "timeout=", "connect-timeout=",
    "read-timeout=", "dns-timeout=", "spider", "header=", "post-data=", "post-file=", "method=", "body-data=",
    "server-response", "no-check-certificate", "directory-prefix=", "continue", "timestamping", "no-clobber",
    "user=", "password=", "user-agent=", "max-redirect=", "wait=", "waitretry=", "retry-connrefused", "version", "help",
    "content-on-error", "no-proxy", "no-cache", "show-progress", "progress=", "inet4-only", "inet6-only",
)  # fmt: skip


@command("wget")
async def wget(ctx: Context) -> int:
    """Fetch what URLs name into files."""
    try:
        options = parse(_with_pairs_apart(ctx.args), "qvO:o:t:T:SP:cNU:Vhw:46", (*LONG, "nv", "nc"))
    except UsageError as mistake:
        raise UsageError(f"{str(mistake).partition(chr(10))[0]}\n{USAGE}", WRONG_USE) from None
    if options.any("V", "version", "h", "help"):
        await ctx.out(
            "GNU Wget 1.21.3 built on linux-gnu.\n" if options.any("V", "version") else f"{USAGE}\n"
        )
        return 0
    if not options.operands:
        raise UsageError(f"wget: missing URL\n{USAGE}")
    timeout = options.last("T", "timeout")
    if timeout and parse_duration(timeout) is None:
        raise UsageError(f"wget: --timeout: Invalid time period '{timeout}'", WRONG_USE)
    status = 0
    for text in options.operands:
        status = await _Download(ctx, options, text).run() or status
    return status


def _with_pairs_apart(args: list[str]) -> list[str]:
    """``-nv`` and ``-nc`` are options of two letters."""
    return [{"-nv": "--no-verbose", "-nc": "--no-clobber"}.get(word, word) for word in args]


class _Download:
    """The download of one URL."""

    def __init__(self, ctx: Context, options: Options, text: str) -> None:
        self._ctx = ctx
        self._options = options
        self._text = text
        self._quiet = options.any("q", "quiet")
        self._brief = options.any("no-verbose")
        timeout = options.last("T", "timeout")
        self._timeout_s = (parse_duration(timeout) or TIMEOUT_S) if timeout else TIMEOUT_S
        tries = parse_number(options.last("t", "tries")) if options.any("t", "tries") else TRIES
        self._looked_up: list[str] = []
        self._tries = TRIES if tries is None or tries < 1 else min(tries, 1000)

    async def run(self) -> int:
        url = Url.parse(self._text)
        scheme = self._text.partition("://")[0] if "://" in self._text else HTTP
        if scheme not in (HTTP, HTTPS):
            await self._ctx.err(f"{self._text}: Unsupported scheme '{scheme}'.\n")
            return 1
        if url is None:
            await self._ctx.err(f"{self._text}: Invalid host name.\n")
            return 1
        if self._options.any("no-clobber") and self._ctx.files.exists(self._plain_name(url)):
            await self._say(f"File '{self._plain_name(url)}' already there; not retrieving.\n\n")
            return 0
        output = self._options.last("O", "output-document")
        if output and output != "-" and not self._ctx.files.is_dir(folder_name(output)):
            await self._ctx.err(f"{output}: No such file or directory\n")
            return 1
        if self._options.any("spider"):
            await self._say("Spider mode enabled. Check if remote file exists.\n")
        return await self._attempts(url)

    async def _say(self, text: str) -> None:
        if not self._quiet and not self._brief:
            await self._ctx.err(text)

    def _stamp(self) -> str:
        return format_moment(Moment.of(self._ctx.now), "%Y-%m-%d %H:%M:%S", zone_of(self._ctx.env))

    async def _attempts(self, url: Url) -> int:
        for attempt in range(1, self._tries + 1):
            self._ctx.spend_turn()
            note = f"  (try:{attempt:2d})" if attempt > 1 else ""
            await self._say(f"--{self._stamp()}--{note}  {url.text}\n")
            try:
                url, exchange = await self._follow(url)
            except ExchangeFailed as failed:
                await self._tell(url, failed)
                is_final = failed.failure in FINAL and not (
                    failed.failure is Failure.REFUSED and self._options.any("retry-connrefused")
                )
                if is_final:
                    return NETWORK
                await self._say("Giving up.\n\n" if attempt == self._tries else "Retrying.\n\n")
                if attempt < self._tries:
                    await self._ctx.sleep(min(attempt, 10))
                continue
            return await self._finish(url, exchange)
        return NETWORK

    async def _follow(self, url: Url) -> tuple[Url, Exchange]:
        for _ in range(MAX_REDIRECTS + 1):
            exchange = await self._ask(url)
            response = exchange.response
            location = response.header("Location")
            target = url.follow_redirect(location) if location and response.status in REDIRECTS else None
            if target is None:
                return url, exchange
            await self._say(f"Location: {location} [following]\n--{self._stamp()}--  {target.text}\n")
            url = target
        await self._say(f"{MAX_REDIRECTS} redirections exceeded.\n")
        raise ExchangeFailed(Failure.REDIRECTS)

    async def _ask(self, url: Url) -> Exchange:
        named = "" if is_address(url.host) else f" ({url.host})"

        async def watch(step: str, about: str) -> None:
            if step == "trying":
                if named and url.host not in self._looked_up:
                    self._looked_up.append(url.host)
                    await self._say(f"Resolving {url.host}{named}... {about}\n")
                where = f"{url.host}{named}|{about}|" if named else url.host
                await self._say(f"Connecting to {where}:{url.port}... ")
            elif step == "failed":
                await self._say(f"failed: {about.partition(' ')[2]}.\n")
            elif step == "connected":
                await self._say("connected.\n")
            else:
                await self._say("HTTP request sent, awaiting response... ")

        exchange = await fetch(
            self._ctx, url, self._request(url), connect_timeout_s=self._timeout_s, timeout_s=2 * self._timeout_s,
            watcher=watch,
        )  # fmt: skip
        response = exchange.response
        if self._options.any("S", "server-response"):
            head = response.head().decode("utf-8", "surrogateescape").replace("\r\n", "\n").rstrip("\n")
            await self._say("\n" + "".join(f"  {line}\n" for line in head.split("\n")))
        else:
            await self._say(f"{response.status} {response.reason}\n")
        return exchange

    def _request(self, url: Url) -> HttpRequest:
        options = self._options
        body = options.last("post-data", "body-data").encode("utf-8", "surrogateescape")
        default = "HEAD" if options.any("spider") else "POST" if options.any("post-data") else "GET"
        headers = {"Host": url.authority, "User-Agent": options.last("U", "user-agent") or "Wget/1.21.3", "Accept": "*/*",
                   "Accept-Encoding": "identity"}  # fmt: skip
        if options.any("user"):
            token = f"{options.last('user')}:{options.last('password')}".encode("utf-8", "surrogateescape")
            headers["Authorization"] = f"Basic {base64.b64encode(token).decode()}"
        headers["Connection"] = "Keep-Alive"
        if options.any("post-data", "body-data"):
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            headers["Content-Length"] = str(len(body))
        for line in options.all("header"):
            name, _, value = line.partition(":")
            headers[name] = value.strip()
        return HttpRequest(options.last("method") or default, url.path, headers, body)

    async def _tell(self, url: Url, failed: ExchangeFailed) -> None:
        failure = failed.failure
        if failure is Failure.NO_HOST:
            await self._say(f"Resolving {url.host} ({url.host})... failed: {failed}.\n")
            if not self._quiet:
                await self._ctx.err(f"wget: unable to resolve host address '{url.host}'\n")
        elif failure is Failure.CONNECT_TIMED_OUT:
            await self._say("")
        elif failure is Failure.TIMED_OUT:
            await self._say("Read error (Connection timed out) in headers.\n")
        elif failure is Failure.MISUNDERSTOOD and url.scheme == HTTPS:
            await self._say(
                "GnuTLS: An unexpected TLS packet was received.\nUnable to establish SSL connection.\n"
            )
        elif failure in (Failure.EMPTY, Failure.MISUNDERSTOOD):
            await self._say("No data received.\n")
        elif failure is Failure.RESET:
            await self._say(f"Read error ({failed}) in headers.\n")

    # -- the end -------------------------------------------------------------------------------

    async def _finish(self, url: Url, exchange: Exchange) -> int:
        response = exchange.response
        if response.status >= 400:
            return await self._report_refusal(url, response)
        length = response.header("Content-Length") or str(len(response.body))
        kind = (response.header("Content-Type") or "").partition(";")[0]
        await self._say(f"Length: {length}" + (f" [{kind}]\n" if kind else "\n"))
        if self._options.any("spider"):
            await self._say("Remote file exists.\n\n")
            return 0
        return await self._save(url, response, exchange.times.total_s)

    async def _report_refusal(self, url: Url, response: HttpResponse) -> int:
        if self._options.any("spider"):
            await self._say("Remote file does not exist -- broken link!!!\n\n")
        elif not self._quiet:
            start, end = (f"{url.text}:\n", "") if self._brief else ("", "\n")
            await self._ctx.err(f"{start}{self._stamp()} ERROR {response.status}: {response.reason}.\n{end}")
        return SERVER

    def _plain_name(self, url: Url) -> str:
        name = url.path.partition("?")[0].rpartition("/")[2] or "index.html"
        query = url.path.partition("?")[2]
        name += f"?{query}" if query else ""
        folder = self._options.last("P", "directory-prefix")
        return join(folder, name) if folder else name

    def _free_name(self, url: Url) -> str:
        """A name that no file has yet: ``name``, ``name.1``, and so on."""
        plain = self._plain_name(url)
        name, number = plain, 0
        while self._ctx.files.exists(name):
            self._ctx.spend_turn()
            number += 1
            name = f"{plain}.{number}"
        return name

    async def _save(self, url: Url, response: HttpResponse, elapsed_s: float) -> int:
        output = self._options.last("O", "output-document")
        name = output or self._free_name(url)
        size = len(response.body)
        await self._say(f"Saving to: '{'STDOUT' if name == '-' else name}'\n\n")
        try:
            if name == "-":
                await self._ctx.stdout.write(response.body)
            else:
                if self._options.any("P", "directory-prefix") and not output:
                    self._ctx.files.mkdir(folder_name(name), parents=True)
                self._ctx.files.write(name, response.body)
        except FileError as error:
            await self._ctx.err(f"{name}: {error}\n\nCannot write to '{name}' ({error}).\n")
            return 3
        speed = _speed(size, elapsed_s)
        bar = f"{'':55}100% {speed.replace(' ', '').removesuffix('B/s'):>5}={elapsed_s:.1g}s"
        done = "written to stdout" if name == "-" else f"'{name}' saved"
        await self._say(f"     0K {bar}\n\n{self._stamp()} ({speed}) - {done} [{size}/{size}]\n\n")
        if self._brief and not self._quiet:
            await self._ctx.err(f'{self._stamp()} URL:{url.text} [{size}/{size}] -> "{name}" [1]\n')
        return 0


def _speed(size: int, elapsed_s: float) -> str:
    speed, units = size / elapsed_s if elapsed_s > 0 else 0.0, ["GB/s", "MB/s", "KB/s", "B/s"]
    while speed >= 1024 and len(units) > 1:
        speed /= 1024
        units.pop()
    unit = units[-1]
    return (
        f"{speed:.2f} {unit}"
        if speed < 10
        else f"{speed:.1f} {unit}"
        if speed < 100
        else f"{speed:.0f} {unit}"
    )
