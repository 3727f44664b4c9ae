"""Start nginx with Lua: its configuration, resolver, locations and pages."""

from __future__ import annotations

from collections.abc import Callable
from email.utils import formatdate
from posixpath import normpath
from typing import Final, Protocol

from simcloud.machine import HOUR_S
from simcloud.machine.files import FileError
from simcloud.machine.network import AddressInUse, HttpRequest, HttpResponse, NetworkError, respond
from simcloud.machine.process import Context, Signal
from simcloud.services.languages import print_line
from simcloud.services.nginx import (
    SERVER,
    Answer,
    ConfError,
    Directive,
    Exchange,
    NginxServer,
    error_page,
    listen,
    read_conf,
)
from simcloud.sim import Event

HOME: Final = "/usr/local/openresty/nginx"
CONF: Final = f"{HOME}/conf/nginx.conf"
SCRIPTS: Final = f"{HOME}/lua-scripts"
RESIDENT_BYTES: Final = 24 << 20
START_CPU_S: Final = 0.05
VALID_S: Final = 30.0
STRAYS_S: Final = 2 * HOUR_S
"""Mean time between two stray requests."""
STRAY_PATHS: Final = ("/favicon.ico", "/favicon.ico", "/robots.txt", "/apple-touch-icon.png")
DEFAULT_PORT: Final = 80
MAX_WORKERS: Final = 16
NOBODY: Final = 65534
COMMANDS: Final = ("-v", "-V", "-t", "-T", "-s")
SIGNALS: Final = {"stop": Signal.TERM, "quit": Signal.QUIT, "reload": Signal.HUP, "reopen": Signal.USR1}
TYPES: Final = {"html": "text/html", "css": "text/css", "js": "application/javascript", "png": "image/png"}


class Site(Protocol):
    """The handlers of a site's locations."""

    def __init__(self, setup: Setup) -> None: ...

    async def begin(self) -> bool:
        """Initialize; return False if nginx's workers cannot start."""

    def find_answer(self, directive: Directive) -> Answer | None:
        """Return the handler of a location; None if it only serves files."""


class Setup:
    """The parsed configuration, and its only server."""

    def __init__(self, ctx: Context, conf: Directive) -> None:
        self.ctx = ctx
        self.conf = conf
        self.http = conf.first("http") or Directive("http", (), 0)
        self.block = self.http.first("server") or Directive("server", (), 0)
        self.resolver_valid_s = VALID_S
        self.nameservers: list[str] = []
        self._loaded: set[str] = set()
        self.server: NginxServer

    @property
    def port(self) -> int:
        """The port that the server listens on."""
        word = self.block.text("listen", str(DEFAULT_PORT)).rpartition(":")[2]
        return int(word) if word.isdigit() and 0 < int(word) < 65536 else DEFAULT_PORT

    def open(self, site: Site) -> None:
        """Open the port; raises ``AddressInUse``."""
        answers = {
            location.words[-1]: self._make_answer(site, location)
            for location in self.block.all("location")
            if location.words
        }
        self.server = NginxServer(self.ctx, self.block, answers, self._start_workers())
        listen(self.ctx, self.port, self.server)
        self.ctx.spawn(self._answer_strays(), "strays")

    async def _answer_strays(self) -> None:
        """Answer requests of browsers and crawlers for files that the site does not have; each is an error in the log."""
        server, random = self.server, self.ctx.random("occasional lines")
        while True:
            await self.ctx.sleep(random.expovariate(1 / STRAYS_S))
            if server.latest is not None:
                server.connections += 1
                headers = {"Host": server.latest.request.header("Host") or ""}
                request = HttpRequest("GET", random.choice(STRAY_PATHS), headers)
                await server.answer(Exchange(server.connections, server.latest.client, request))

    def _start_workers(self) -> list[int]:
        """Start the worker processes. They only represent the work, which is done by the master."""
        wanted = self.conf.text("worker_processes", "1")
        count = int(wanted) if wanted.isdigit() else self.ctx.machine.cpu.cores
        pids = []
        for _ in range(min(count, MAX_WORKERS)):
            worker = self.ctx.start(["nginx: worker process"], program=_wait)
            worker.files.uid = worker.files.gid = NOBODY
            pids.append(worker.pid)
        return pids

    def alert(self, text: str) -> None:
        """Write a line to the error log that belongs to no request."""
        NginxServer(self.ctx, self.block, {}).error(text, level="alert")

    def has_script(self, module: str) -> bool:
        """Return whether the file of a script exists, or existed when it was first loaded."""
        if module not in self._loaded and self.ctx.files.exists(f"{SCRIPTS}/{module}.lua"):
            self._loaded.add(module)
        return module in self._loaded

    async def find_resolver(self) -> None:
        """Resolve the configured name server; raises ``ConfError``."""
        found = self.http.first("resolver")
        for word in found.words if found is not None else ():
            if word.startswith("valid="):
                seconds = word.removeprefix("valid=").removesuffix("s")
                self.resolver_valid_s = float(seconds) if seconds.isdigit() else VALID_S
            elif "=" not in word:
                host = word.partition(":")[0]
                try:
                    self.nameservers += await self.ctx.container.namespace.resolve(host)
                except NetworkError:
                    assert found is not None
                    raise ConfError(f'host not found in resolver "{word}" in {CONF}:{found.line}') from None

    def _make_answer(self, site: Site, directive: Directive) -> Answer:
        scripted = site.find_answer(directive)
        if scripted is not None:
            return scripted
        root = directive.text("root", self.block.text("root", "html"))
        folder = root if root.startswith("/") else f"{HOME}/{root}"

        async def page(exchange: Exchange) -> HttpResponse:
            return self._page(folder, exchange)

        return page

    def _page(self, folder: str, exchange: Exchange) -> HttpResponse:
        if exchange.request.method not in ("GET", "HEAD"):
            return error_page(405)
        path = folder + normpath("/" + exchange.request.path.partition("?")[0].lstrip("/"))
        files = self.ctx.files
        try:
            if files.is_dir(path):
                path = f"{path.rstrip('/')}/index.html"
            kind = TYPES.get(path.rpartition(".")[2], "application/octet-stream")
            data, changed_s = files.read(path), int(files.stat(path).mtime)
            response = respond(200, data, Content_Type=kind)
            response.headers["Last-Modified"] = formatdate(changed_s, usegmt=True)
            response.headers["ETag"] = f'"{changed_s:x}-{len(data):x}"'
            response.headers["Accept-Ranges"] = "bytes"
            return response
        except FileError as error:
            refused = error.strerror == "Permission denied"
            number = 13 if refused else 2
            self.server.error(f'open() "{path}" failed ({number}: {error.strerror})', exchange)
            return error_page(403 if refused else 404)


async def run_nginx(ctx: Context, site: Callable[[Setup], Site]) -> int:
    """Run a site until stopped; return the exit status."""
    if ctx.args[1:] and ctx.args[1] in COMMANDS:
        return await _run_command(ctx)
    ctx.memory.grow(int(RESIDENT_BYTES * ctx.random("memory").uniform(0.75, 1.1)))
    await ctx.cpu(START_CPU_S)
    try:
        setup = Setup(ctx, read_conf(_read_conf(ctx), CONF))
        await setup.find_resolver()
        running = site(setup)
        # nginx opens sockets before it starts workers: without workers, clients connect and wait.
        setup.open(running) if await running.begin() else _listen_without_workers(setup)
    except ConfError as error:
        print_line(ctx, f"nginx: [emerg] {error}", 2)
        return 1
    except AddressInUse:
        print_line(
            ctx, f"nginx: [emerg] bind() to 0.0.0.0:{setup.port} failed (98: Address already in use)", 2
        )
        return 1
    stop: Event[None] = Event(ctx.kernel)
    for signal in (Signal.HUP, Signal.USR1):  # the configuration is read again at the next start only
        ctx.signals.on(signal, lambda _signal: None)
    for signal in (Signal.TERM, Signal.INT, Signal.QUIT):
        ctx.signals.on(signal, lambda _signal: stop.set())
    await stop.wait()
    return 0


async def _wait(ctx: Context) -> int:
    while True:
        await ctx.sleep(1e9)


async def _run_command(ctx: Context) -> int:
    """Show the version, or check the configuration, as ``nginx -t`` does."""
    if ctx.args[1] in ("-v", "-V"):
        built = "built by gcc 5.4.0 20160609 (Ubuntu 5.4.0-6ubuntu1~16.04.11)\nTLS SNI support enabled\n"
        await ctx.err(f"nginx version: {SERVER}\n{built if ctx.args[1] == '-V' else ''}")
        return 0
    if ctx.args[1] == "-s":
        return await _signal_master(ctx)
    try:
        text = _read_conf(ctx)
        await Setup(ctx, read_conf(text, CONF)).find_resolver()
    except ConfError as error:
        await ctx.err(f"nginx: [emerg] {error}\nnginx: configuration file {CONF} test failed\n")
        return 1
    await ctx.err(
        f"nginx: the configuration file {CONF} syntax is ok\nnginx: configuration file {CONF} test is successful\n"
    )
    if ctx.args[1] == "-T":
        await ctx.out(f"# configuration file {CONF}:\n{text}\n")
    return 0


async def _signal_master(ctx: Context) -> int:
    wanted = ctx.args[2] if len(ctx.args) > 2 else ""
    if wanted not in SIGNALS:
        await ctx.err(f'nginx: invalid option: "-s {wanted}"\n')
        return 1
    master = ctx.container.processes.get(1)
    if master is not None:
        master.send(SIGNALS[wanted])
    return 0


def _listen_without_workers(setup: Setup) -> None:
    setup.alert("worker process exited with fatal code 2 and cannot be respawned")
    setup.ctx.listen(setup.port, "http")


def _read_conf(ctx: Context) -> str:
    try:
        return ctx.files.read(CONF).decode("utf-8", "replace")
    except FileError as error:
        number = 13 if error.strerror == "Permission denied" else 2
        raise ConfError(f'open() "{CONF}" failed ({number}: {error.strerror})') from None
