"""The transfer of one URL: redirects, retries, output, progress meter and error messages."""

from __future__ import annotations

from typing import Final

from simcloud.machine.files import FileError
from simcloud.machine.network import HTTP, HTTPS, HttpRequest, HttpResponse
from simcloud.machine.process import Context
from simcloud.userland.commands.file.names import folder_name, join
from simcloud.userland.commands.net.curl.cookies import CookieJar
from simcloud.userland.commands.net.curl.requests import CannotRead, RequestBuilder
from simcloud.userland.commands.net.curl.writeout import Summary, write_out
from simcloud.userland.commands.net.exchange import (
    NO_LIMIT_S,
    REDIRECTS,
    TELNET,
    Exchange,
    ExchangeFailed,
    Failure,
    Timeline,
    Url,
    fetch,
)
from simcloud.userland.commands.options import Options

MAX_REDIRECTS: Final = 50
MOST_REDIRECTS: Final = 1000
CONNECT_TIMEOUT_S: Final = 300.0
TRANSIENT: Final = frozenset({408, 429, 500, 502, 503, 504})
RETRIED: Final = frozenset({Failure.CONNECT_TIMED_OUT, Failure.KERNEL_TIMED_OUT, Failure.TIMED_OUT})
LONGEST_PAUSE_S: Final = 600.0
BUNDLE: Final = "/etc/ssl/certs/ca-certificates.crt"
UNTRUSTED: Final = 60
ADVICE: Final = """\
More details here: https://curl.se/docs/sslcerts.html

curl failed to verify the legitimacy of the server and therefore could not
establish a secure connection to it. To learn more about this situation and
how to fix it, please visit the web page mentioned above.
"""
BAD_URL: Final = "URL using bad/illegal format or missing URL"


class Transfer:
    """The transfer of one URL."""

    def __init__(self, ctx: Context, options: Options, jar: CookieJar, text: str, number: int) -> None:
        self._ctx = ctx
        self._options = options
        self._jar = jar
        self._text = text
        self._number = number
        self._quiet = options.any("silent")
        self._verbose = options.any("verbose")
        self._url = Url.parse(text)
        self._builder = RequestBuilder(ctx, options, jar)
        self._method = "GET"
        self._output = self._output_path(number)
        self._redirects = 0
        self._exchange: Exchange | None = None
        self._heads = b""
        self._message = ""
        self._begun_at = ctx.kernel.now
        self._metered = False
        self._authorities = b""

    async def run(self) -> int:
        """Do it; the status."""
        status = await self._attempts()
        await self._write_out(status)
        return status

    async def _attempts(self) -> int:
        if self._url is None:
            await self._err_if_verbose("* Closing connection -1\n")
            return await self._fail(3, BAD_URL)
        if self._url.scheme not in (HTTP, HTTPS, TELNET):
            message = f'Protocol "{self._url.scheme}" not supported or disabled in libcurl'
            await self._err_if_verbose(f"* {message}\n* Closing connection -1\n")
            return await self._fail(1, message)
        if self._options.any("remote-name") and not self._output:
            return await self._fail(23, "Failed to get a sensible file name for the download")
        try:
            await self._builder.prepare()
        except CannotRead as missing:
            return await self._fail(26, f"Failed to open/read local data from file/application: {missing}")
        bundle = self._options.last("cacert") or BUNDLE
        if self._ctx.files.is_file(bundle):
            self._authorities = self._ctx.files.read(bundle)
        elif self._url.scheme == HTTPS and bundle != BUNDLE:
            return await self._fail(77, f"error setting certificate file: {bundle}")
        self._method = self._builder.method
        tries, pause_s = int(self._options.last("retry") or 0), 1.0
        while True:
            self._ctx.spend_turn()
            self._begun_at = self._ctx.kernel.now
            self._exchange, self._heads, self._redirects = None, b"", 0
            start = self._url
            await self._start_meter()
            failure: ExchangeFailed | None = None
            try:
                self._exchange = await self._follow(self._builder.url(start))
            except ExchangeFailed as failed:
                failure = failed
            status = await (self._explain(failure) if failure is not None else self._finish(self._exchange))
            if tries <= 0 or not self._is_transient(failure):
                return status
            tries -= 1
            await self._ctx.sleep(
                min(float(self._options.last("retry-delay") or 0) or pause_s, LONGEST_PAUSE_S)
            )
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
            self._url = start

    def _is_transient(self, failure: ExchangeFailed | None) -> bool:
        options = self._options
        if failure is None:
            return self._exchange is not None and self._exchange.response.status in TRANSIENT
        refused = failure.failure is Failure.REFUSED and options.any("retry-connrefused")
        return failure.failure in RETRIED or refused or options.any("retry-all-errors")

    # -- requests ------------------------------------------------------------------------------

    async def _follow(self, url: Url) -> Exchange:
        """The response at the end of all redirects."""
        options, method, with_body = self._options, self._method, True
        limit = int(options.last("max-redirs", default=str(MAX_REDIRECTS)))
        limit = MOST_REDIRECTS if limit < 0 else min(limit, MOST_REDIRECTS)
        while True:
            self._url = url
            exchange = await self._ask(url, self._builder.build(url, method, with_body))
            location = exchange.response.header("Location")
            target = None
            if (
                location
                and exchange.response.status in REDIRECTS
                and options.any("location", "location-trusted")
            ):
                target = url.follow_redirect(location)
            if target is None:
                return exchange
            if self._redirects >= limit:
                raise ExchangeFailed(Failure.REDIRECTS, f"Maximum ({limit}) redirects followed")
            self._redirects += 1
            self._heads += exchange.response.head()
            await self._err_if_verbose(f"* Issue another request to this URL: '{target.text}'\n")
            if (
                exchange.response.status in (301, 302, 303)
                and method == "POST"
                and not options.any("request")
            ):
                method, with_body = "GET", False
            url = target

    async def _ask(self, url: Url, request: HttpRequest) -> Exchange:
        options = self._options
        elapsed_s = self._ctx.kernel.now - self._begun_at
        total_s = float(options.last("max-time") or 0) or NO_LIMIT_S
        connect_s = float(options.last("connect-timeout") or 0) or CONNECT_TIMEOUT_S

        async def watch(step: str, about: str) -> None:
            await self._trace(url, request, step, about)

        exchange = await fetch(
            self._ctx,
            url,
            request,
            connect_timeout_s=connect_s,
            timeout_s=max(0.0, total_s - elapsed_s),
            address=self._find_address(url),
            watcher=watch if self._verbose else None,
            authorities=None if options.any("insecure") else self._authorities,
        )
        if url.scheme != TELNET:
            await self._take_head(url, exchange.response)
        return exchange

    async def _take_head(self, url: Url, response: HttpResponse) -> None:
        """Keep the cookie of a response and show its headers."""
        lines = response.head().decode("utf-8", "surrogateescape").split("\n")[:-1]
        text = ""
        for line in lines:
            name, _, value = line.partition(":")
            if self._jar.is_used and name.lower() == "set-cookie":
                text += self._jar.take(url, value.strip(), self._ctx.now)
            text += f"< {line}\n"
        size = len(response.body)
        await self._err_if_verbose(text + (f"{{ [{size} bytes data]\n" if size else ""))

    async def _err_if_verbose(self, text: str) -> None:
        if self._verbose:
            await self._ctx.err(text)

    def _find_address(self, url: Url) -> str | None:
        for entry in self._options.all("resolve"):
            host, port, address = [*entry.lstrip("+").split(":", 2), "", ""][:3]
            if host in (url.host, "*") and port == str(url.port):
                return address.partition(",")[0].strip("[]")
        return None

    # -- the end -------------------------------------------------------------------------------

    async def _finish(self, exchange: Exchange | None) -> int:
        assert exchange is not None
        options, response = self._options, exchange.response
        failed = response.status >= 400 and options.any("fail", "fail-with-body")
        shown = not failed or options.any("fail-with-body")
        expected = int(response.header("Content-Length") or len(response.body) or 0) if shown or failed else 0
        await self._end_meter(expected, len(response.body) if shown else 0, len(exchange.request.body))
        host = self._url.host if self._url else ""
        is_kept = self._url is not None and self._url.scheme != TELNET
        ending = f"Connection #0 to host {host} left intact" if is_kept else "Closing connection 0"
        await self._err_if_verbose(f"* {ending}\n")
        output = response.body if shown else b""
        if options.any("include", "head"):
            output = self._heads + response.head() + output
        if options.any("dump-header"):
            await self.write(options.last("dump-header"), self._heads + response.head())
        if not await self.write(self._output, output):
            return await self._fail(23, "Failure writing output to destination")
        if failed:
            return await self._fail(22, f"The requested URL returned error: {response.status}")
        return 0

    def _output_path(self, number: int) -> str:
        options = self._options
        outputs = options.all("output")
        path = outputs[number] if number < len(outputs) else ""
        if not path and options.any("remote-name", "remote-name-all") and self._url is not None:
            path = self._url.path.partition("?")[0].rpartition("/")[2]
        folder = options.last("output-dir")
        return join(folder, path) if path and folder and path != "-" else path

    async def write(self, path: str, data: bytes) -> bool:
        """Write to a file, or to standard output for a dash; return whether that was possible."""
        if not path or path == "-":
            await self._ctx.stdout.write(data)
            return True
        try:
            if self._options.any("create-dirs"):
                self._ctx.files.mkdir(folder_name(path), parents=True)
            stream = await self._ctx.open(path, read=False, write=True, create=True, truncate=True)
            await stream.write(data)
            stream.close()
        except FileError:
            return False
        return True

    async def _explain(self, failed: ExchangeFailed) -> int:
        await self._end_meter(0, 0, 0)
        assert self._url is not None
        # To the microsecond first: a limit of 3 s that has passed is 3000 ms, not 2999 by a float's last bit.
        elapsed_ms = int(round((self._ctx.kernel.now - self._begun_at) * 1000, 3))
        total_s = float(self._options.last("max-time") or 0)
        return await self._fail(*failure_words(self._url, failed, elapsed_ms, total_s), closes=True)

    async def _fail(self, status: int, text: str, closes: bool = False) -> int:
        self._message = text
        if closes:
            await self._err_if_verbose(f"* {text}\n* Closing connection 0\n")
        if not self._quiet or self._options.any("show-error"):
            await self._ctx.err(f"curl: ({status}) {text}\n{ADVICE if status == UNTRUSTED else ''}")
        return status

    async def _write_out(self, status: int) -> None:
        form = self._options.last("write-out")
        if not form:
            return
        location = self._exchange.response.header("Location") if self._exchange is not None else None
        target = self._url.follow_redirect(location) if self._url is not None and location else None
        times = self._exchange.times if self._exchange is not None else Timeline()
        times.total_s = self._ctx.kernel.now - self._begun_at
        summary = Summary(
            url=self._url,
            given_url=self._text,
            number=self._number,
            method=self._method,
            status=status,
            message=self._message,
            path=self._output,
            redirects=self._redirects,
            redirect_url=target.text if target is not None else "",
            exchange=self._exchange,
            times=times,
        )
        out, err = write_out(form, summary)
        await self._ctx.out(out)
        await self._ctx.err(err)

    # -- on the way ----------------------------------------------------------------------------

    async def _start_meter(self) -> None:
        to_screen = self._ctx.stdout.isatty and not self._output
        if self._quiet or to_screen or self._options.any("no-progress-meter", "progress-bar"):
            return
        await self._ctx.err(HEADING + meter_line(0, 0, 0, 0.0))
        self._metered = True

    async def _end_meter(self, expected: int, received: int, sent: int) -> None:
        if self._metered:
            elapsed_s = self._ctx.kernel.now - self._begun_at
            await self._ctx.err(meter_line(expected, received, sent, elapsed_s) + "\n")

    async def _trace(self, url: Url, request: HttpRequest, step: str, about: str) -> None:
        if step == "trying":
            await self._ctx.err(f"*   Trying {about}:{url.port}...\n")
        elif step == "failed":
            address, _, reason = about.partition(" ")
            await self._ctx.err(f"* connect to {address} port {url.port} failed: {reason}\n")
        elif step == "connected":
            await self._ctx.err(f"* Connected to {url.host} ({about}) port {url.port} (#0)\n")
        else:
            head = request.head().decode("utf-8", "surrogateescape")
            await self._ctx.err("".join(f"> {line}\n" for line in head.split("\n")[:-1]))


WRONG_TLS: Final = "OpenSSL/3.0.15: error:0A00010B:SSL routines::wrong version number"


def failure_words(url: Url, failed: ExchangeFailed, elapsed_ms: int, total_s: float) -> tuple[int, str]:
    """The status and the sentence; ``total_s`` is the limit of --max-time, 0 for none."""
    failure = failed.failure
    connect = f"Failed to connect to {url.host} port {url.port} after {elapsed_ms} ms"
    if failure is Failure.CONNECT_TIMED_OUT:
        if total_s and elapsed_ms >= int(total_s * 1000):
            return 28, f"Connection timed out after {elapsed_ms} milliseconds"
        return 28, f"{connect}: Timeout was reached"
    if failure is Failure.TIMED_OUT and url.scheme == TELNET:
        return 28, "Time-out"
    if failure is Failure.MISUNDERSTOOD and url.scheme == HTTPS:
        return 35, WRONG_TLS
    words = {
        Failure.NO_HOST: (6, f"Could not resolve host: {url.host}"),
        Failure.REFUSED: (7, f"{connect}: Couldn't connect to server"),
        Failure.UNREACHABLE: (7, f"{connect}: Couldn't connect to server"),
        Failure.KERNEL_TIMED_OUT: (28, f"{connect}: Couldn't connect to server"),
        Failure.TIMED_OUT: (28, f"Operation timed out after {elapsed_ms} milliseconds with 0 bytes received"),
        Failure.MISUNDERSTOOD: (52, "Empty reply from server"),
        Failure.TALKATIVE: (1, "Received HTTP/0.9 when not allowed"),
        Failure.EMPTY: (52, "Empty reply from server"),
        Failure.REDIRECTS: (47, str(failed)),
        Failure.UNTRUSTED: (UNTRUSTED, str(failed)),
        Failure.RESET: (56, f"Recv failure: {failed}"),
    }
    return words[failure]


HEADING: Final = (
    "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n"
    "                                 Dload  Upload   Total   Spent    Left  Speed\n"
)
NO_TIME: Final = "--:--:--"
HOUR_S: Final = 3600


def meter_line(expected: int, received: int, sent: int, elapsed_s: float) -> str:
    """Format the progress: sizes, speed and time."""
    share = 100 * received // expected if expected else 0
    spent = int(elapsed_s)
    clock = f"{spent // HOUR_S:2d}:{spent // 60 % 60:02d}:{spent % 60:02d}" if spent else NO_TIME
    down = int(received / elapsed_s) if elapsed_s > 0 else 0
    up = int(sent / elapsed_s) if elapsed_s > 0 else 0
    return (
        f"\r{share:3d} {_short(expected)}  {share:3d} {_short(received)}  {100 if sent else 0:3d} {_short(sent)}  "
        f"{_short(down)}  {_short(up)} {NO_TIME} {clock} {NO_TIME} {_short(down)}"
    )


def _short(size: int) -> str:
    """A size in five places."""
    if size < 100_000:
        return f"{size:5d}"
    for unit in "kMGTP":
        if size < 10_000 * 1024:
            return f"{size // 1024:4d}{unit}"
        size //= 1024
    return f"{size:4d}P"
