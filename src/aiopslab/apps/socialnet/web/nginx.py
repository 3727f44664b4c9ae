"""Start nginx with Lua: its configuration, resolver, locations and pages."""

from __future__ import annotations

from collections.abc import Callable
from posixpath import normpath
from typing import Final, Protocol

from simcloud.machine.files import FileError
from simcloud.machine.network import AddressInUse, HttpResponse, NetworkError, is_address, respond
from simcloud.machine.process import Context, Signal
from simcloud.services.languages import print_line
from simcloud.services.nginx import (
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
DEFAULT_PORT: Final = 80
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
        self.http = conf.first("http") or Directive("http", (), 0)
        self.block = self.http.first("server") or Directive("server", (), 0)
        self.resolver_valid_s = VALID_S
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
        self.server = NginxServer(self.ctx, self.block, answers)
        listen(self.ctx, self.port, self.server)

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
            elif "=" not in word and not is_address(word):
                try:
                    await self.ctx.container.namespace.resolve(word)
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
            return respond(200, files.read(path), Content_Type=kind)
        except FileError as error:
            refused = error.strerror == "Permission denied"
            number = 13 if refused else 2
            self.server.error(f'open() "{path}" failed ({number}: {error.strerror})', exchange)
            return error_page(403 if refused else 404)


async def run_nginx(ctx: Context, site: Callable[[Setup], Site]) -> int:
    """Run a site until stopped; return the exit status."""
    ctx.memory.grow(RESIDENT_BYTES)
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
    for signal in (Signal.TERM, Signal.INT, Signal.QUIT):
        ctx.signals.on(signal, lambda _signal: stop.set())
    await stop.wait()
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
