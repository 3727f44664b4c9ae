"""curl, for HTTP, in the words of curl 7.88."""

from __future__ import annotations

import base64
from typing import Final
from urllib.parse import quote

from aiopslab.machine.files import FileError
from aiopslab.machine.network.http import HTTP, HTTPS, HttpRequest, HttpResponse
from aiopslab.machine.process import Context
from aiopslab.machine.shell.commands.net.exchange import REDIRECTS, Exchange, ExchangeFailed, Url, fetch
from aiopslab.machine.shell.commands.options import Options, UsageError, parse
from aiopslab.machine.shell.commands.registry import command

VERSION: Final = "7.88.1"
MAX_REDIRECTS: Final = 50
SHORT: Final = "sSfo:OiIvX:d:H:u:Lkw:m:GA:e:b:c:NF:x:r:T:#gjqRZ046"
LONG: Final = (
    "silent", "show-error", "fail", "output=", "remote-name", "include", "head", "verbose", "request=", "data=",
    "data-raw=", "data-binary=", "data-urlencode=", "data-ascii=", "json=", "header=", "user=", "location",
    "insecure", "write-out=", "max-time=", "connect-timeout=", "get", "user-agent=", "referer=", "cookie=",
    "cookie-jar=", "no-buffer", "compressed", "retry=", "retry-delay=", "resolve=", "http1.1", "http2", "url=",
    "fail-with-body", "no-progress-meter", "max-redirs=", "cacert=", "cert=", "key=", "ipv4", "ipv6", "http1.0",
    "retry-connrefused", "globoff", "version", "help=?", "noproxy=",
)  # fmt: skip
METER: Final = (
    "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n"
    "                                 Dload  Upload   Total   Spent    Left  Speed\n"
)
MISMATCHES: Final = {"grpc": (1, "Received HTTP/0.9 when not allowed")}
"""What talking HTTP to something else ends in; most servers just hang up."""


@command("curl")
async def curl(ctx: Context) -> int:
    """Fetch what URLs name."""
    try:
        options = parse(ctx.args, SHORT, LONG)
    except UsageError as mistake:
        what = str(mistake).partition("\n")[0].removeprefix("curl: ")
        word = what.rpartition(" ")[2].strip("'")
        word = word if word.startswith("-") else f"-{word}"
        raise UsageError(
            f"curl: option {word}: is unknown\ncurl: try 'curl --help' or 'curl --manual' for more information",
            2,
        ) from None
    if options.any("version"):
        await ctx.out(f"curl {VERSION} (x86_64-pc-linux-gnu)\nProtocols: http https\n")
        return 0
    urls = [*options.all("url"), *options.operands]
    if not urls:
        await ctx.err("curl: try 'curl --help' or 'curl --manual' for more information\n")
        return 2
    status = 0
    for text in urls:
        status = await _Transfer(ctx, options, text).run()
    return status


class _Transfer:
    """One URL from the asking to the writing."""

    def __init__(self, ctx: Context, options: Options, text: str) -> None:
        self._ctx = ctx
        self._options = options
        self._text = text
        self._quiet = options.any("s", "silent")
        self._url = Url.parse(text)
        self._exchange: Exchange | None = None
        self._elapsed_s = 0.0

    async def run(self) -> int:
        if self._url is None:
            return await self._fail(3, "URL using bad/illegal format or missing URL")
        if self._url.scheme not in (HTTP, HTTPS):
            return await self._fail(1, f'Protocol "{self._url.scheme}" not supported or disabled in libcurl')
        try:
            request = self._request()
        except FileError as error:
            return await self._fail(26, f"Failed to open {error.path}")
        await self._trace_request(request)
        tries = int(self._options.last("retry") or 0)
        while True:
            try:
                self._exchange = await self._follow(request)
            except ExchangeFailed as failure:
                self._elapsed_s += failure.elapsed_s
                if tries > 0:
                    tries -= 1
                    await self._ctx.sleep(float(self._options.last("retry-delay") or 1))
                    continue
                status = await self._explain(failure)
                await self._write_out(status)
                return status
            break
        return await self._finish(self._exchange)

    def _request(self) -> HttpRequest:
        assert self._url is not None
        options = self._options
        data = self._data()
        url, path = self._url, self._url.path
        if options.any("G", "get") and data is not None:
            query = data.decode("utf-8", "surrogateescape")
            path, data = f"{path}{'&' if '?' in path else '?'}{query}", None
        default = "HEAD" if options.any("I", "head") else "POST" if data is not None else "GET"
        port = "" if url.port in (80, 443) else f":{url.port}"
        headers = {"Host": f"{url.host}{port}", "User-Agent": f"curl/{VERSION}", "Accept": "*/*"}
        if options.any("user", "u"):
            token = base64.b64encode(options.last("u", "user").encode()).decode()
            headers["Authorization"] = f"Basic {token}"
        for option, header in (
            ("A", "User-Agent"),
            ("user-agent", "User-Agent"),
            ("e", "Referer"),
            ("b", "Cookie"),
        ):
            if options.any(option):
                headers[header] = options.last(option)
        if data is not None:
            json = options.any("json")
            headers["Content-Type"] = "application/json" if json else "application/x-www-form-urlencoded"
            headers["Content-Length"] = str(len(data))
        for line in options.all("H", "header"):
            name, colon, value = line.partition(":")
            if colon and value.strip():
                headers[name] = value.strip()
            elif colon:
                headers.pop(name, None)
        return HttpRequest(options.last("X", "request") or default, path, headers, data or b"")

    def _data(self) -> bytes | None:
        parts: list[bytes] = []
        for option, value in self._options.given:
            if option in ("d", "data", "data-ascii", "data-binary", "json"):
                if value.startswith("@"):
                    content = self._ctx.files.read(value[1:])
                    strips = option in ("d", "data", "data-ascii")
                    parts.append(content.replace(b"\n", b"") if strips else content)
                    continue
                parts.append(value.encode("utf-8", "surrogateescape"))
            elif option == "data-raw":
                parts.append(value.encode("utf-8", "surrogateescape"))
            elif option == "data-urlencode":
                name, equals, text = value.partition("=")
                encoded = (
                    f"{name}={quote(content, safe='')}"
                    if equals and name
                    else quote(content or name, safe="")
                )
                parts.append(encoded.encode())
        return b"&".join(parts) if parts else None

    async def _follow(self, request: HttpRequest) -> Exchange:
        assert self._url is not None
        options = self._options
        overall = float(options.last("m", "max-time") or 0) or None
        connect_s = float(options.last("connect-timeout") or 300.0)
        for _ in range(MAX_REDIRECTS + 1):
            exchange = await fetch(
                self._ctx,
                self._url,
                request,
                connect_timeout_s=connect_s,
                timeout_s=overall,
                address=self._resolved(self._url),
            )
            self._elapsed_s += exchange.total_s
            location = exchange.response.headers.get("Location")
            follows = options.any("L", "location") and exchange.response.status in REDIRECTS
            target = self._url.redirected(location) if location and follows else None
            if target is None:
                return exchange
            self._url = target
            request = HttpRequest(
                "GET" if request.method == "POST" else request.method,
                target.path,
                {**request.headers, "Host": target.host},
            )
        raise ExchangeFailed("redirects", f"Maximum ({MAX_REDIRECTS}) redirects followed", self._elapsed_s)

    def _resolved(self, url: Url) -> str | None:
        for entry in self._options.all("resolve"):
            host, port, address = [*entry.split(":", 2), "", ""][:3]
            if host == url.host and port == str(url.port):
                return address
        return None

    # -- what is shown -------------------------------------------------------------------------

    async def _finish(self, exchange: Exchange) -> int:
        options, response = self._options, exchange.response
        await self._trace_response(exchange)
        failed = response.status >= 400 and options.any("f", "fail")
        output = response.body if not failed else b""
        if options.any("i", "include", "I", "head"):
            output = response.head() + output
        path = options.last("o", "output")
        if options.any("O", "remote-name") and self._url is not None:
            path = self._url.path.partition("?")[0].rpartition("/")[2]
        if not self._quiet and not options.any("no-progress-meter"):
            await self._ctx.err(METER + _meter_line(len(response.body), self._elapsed_s))
        if path and path != "-":
            try:
                self._ctx.files.write(path, output)
            except FileError as error:
                await self._ctx.err(f"curl: (23) Failure writing output to destination: {error}\n")
                return 23
        else:
            await self._ctx.stdout.write(output)
        status = 0
        if failed:
            status = await self._fail(22, f"The requested URL returned error: {response.status}")
        await self._write_out(status)
        return status

    async def _explain(self, failure: ExchangeFailed) -> int:
        url = self._url
        assert url is not None
        elapsed_ms = int(failure.elapsed_s * 1000)
        if failure.kind == "no-host":
            return await self._fail(6, f"Could not resolve host: {url.host}")
        if failure.kind in ("refused", "unreachable"):
            why = "Couldn't connect to server"
            return await self._fail(
                7, f"Failed to connect to {url.host} port {url.port} after {elapsed_ms} ms: {why}"
            )
        if failure.kind == "connect-timeout":
            return await self._fail(28, f"Connection timed out after {elapsed_ms} milliseconds")
        if failure.kind == "timeout":
            return await self._fail(
                28, f"Operation timed out after {elapsed_ms} milliseconds with 0 bytes received"
            )
        if failure.kind == "mismatch":
            if url.scheme == HTTPS:
                return await self._fail(
                    35, "OpenSSL/3.0.15: error:0A00010B:SSL routines::wrong version number"
                )
            expected = str(failure).rpartition(" ")[2]
            return await self._fail(*MISMATCHES.get(expected, (52, "Empty reply from server")))
        if failure.kind == "empty":
            return await self._fail(52, "Empty reply from server")
        if failure.kind == "redirects":
            return await self._fail(47, str(failure))
        return await self._fail(56, f"Recv failure: {failure}")

    async def _fail(self, status: int, text: str) -> int:
        if not self._quiet or self._options.any("S", "show-error"):
            await self._ctx.err(f"curl: ({status}) {text}\n")
        return status

    async def _write_out(self, status: int) -> None:
        form = self._options.last("w", "write-out")
        if form:
            await self._ctx.out(_expand(form, self._exchange, self._url, self._elapsed_s, status))

    async def _trace_request(self, request: HttpRequest) -> None:
        if self._options.any("v", "verbose"):
            lines = [f"> {request.method} {request.path} HTTP/1.1"]
            lines += [f"> {name}: {value}" for name, value in request.headers.items()]
            await self._ctx.err("\n".join(lines) + "\n> \n")

    async def _trace_response(self, exchange: Exchange) -> None:
        if self._options.any("v", "verbose"):
            head = exchange.response.head().decode("utf-8", "surrogateescape").replace("\r\n", "\n")
            await self._ctx.err("".join(f"< {line}\n" for line in head.split("\n")[:-1]))


def _meter_line(size: int, elapsed_s: float) -> str:
    speed = int(size / elapsed_s) if elapsed_s > 0 else 0
    return (
        f"\r100 {size:5d}  100 {size:5d}    0     0 {speed:6d}      0 --:--:-- --:--:-- --:--:-- {speed:5d}\n"
    )


def _expand(form: str, exchange: Exchange | None, url: Url | None, elapsed_s: float, status: int) -> str:
    response = exchange.response if exchange is not None else HttpResponse(0)
    values = {
        "http_code": f"{response.status:03d}",
        "response_code": f"{response.status:03d}",
        "time_total": f"{elapsed_s:.6f}",
        "time_connect": f"{exchange.connected_s if exchange is not None else 0.0:.6f}",
        "time_namelookup": f"{0.0:.6f}",
        "time_starttransfer": f"{elapsed_s:.6f}",
        "size_download": str(len(response.body)),
        "content_type": response.headers.get("Content-Type", ""),
        "url_effective": url.text if url is not None else "",
        "remote_ip": exchange.remote[0] if exchange is not None else "",
        "remote_port": str(exchange.remote[1]) if exchange is not None else "0",
        "exitcode": str(status),
        "num_redirects": "0",
    }
    for name, value in values.items():
        form = form.replace(f"%{{{name}}}", value)
    return form.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r").replace("%%", "%")
