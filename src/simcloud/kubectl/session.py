"""A running kubectl command: its arguments, streams and connection."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Final, Protocol

from simcloud.kubectl import transport
from simcloud.kubectl.connection import Door
from simcloud.kubectl.errors import Exit, KubectlError, klog
from simcloud.kubectl.flags import Flags
from simcloud.kubectl.kubeconfig.config import ClientConfig, load, paths
from simcloud.kubernetes import ApiClient
from simcloud.kubernetes.api import Unauthorized
from simcloud.machine.files import FileError
from simcloud.machine.network import HttpRequest, HttpResponse
from simcloud.machine.process import BadDescriptor, Context

MOST_INPUT_BYTES: Final = 16 << 20
CHARACTERS_A_TURN: Final = 64
"""Printing costs turns even to ``/dev/null``, so that an endless loop of prints ends at its limit."""


class NamedCommand(Protocol):
    """The names of a command; ``simcloud.kubectl.command.Command`` has them."""

    path: str

    @property
    def name(self) -> str:
        """The last word."""

    @property
    def full(self) -> str:
        """The whole command, as errors name it."""


class Kubectl:
    """The context that a verb runs in: flags, arguments, output, and the connection to the cluster."""

    def __init__(self, ctx: Context, command: NamedCommand, flags: Flags, door: Door) -> None:
        self.ctx = ctx
        self.command = command
        self.flags = flags
        self.args = flags.args
        self._door = door
        self._config: ClientConfig | None = None
        self._connection: ApiClient | None = None
        self.failed = False
        """Whether an error was reported on the way; the exit code is then 1."""
        self.postponed: list[str] = []
        """Errors that are printed at the end."""
        self._among_others: dict[int, str] = {}

    @property
    def config(self) -> ClientConfig:
        """The cluster and the credentials."""
        if self._config is None:
            self._config = load(self.ctx, self.flags)
        return self._config

    @property
    def namespace(self) -> str:
        """The namespace used when the command names none."""
        return self.config.namespace

    @property
    def manager(self) -> str:
        """The field manager."""
        return str(self.flags.get("field-manager", "")) or "kubectl"

    async def connect(self, discoveries: int | None = None) -> ApiClient:
        """Return the client of the cluster; the first call connects.

        ``discoveries`` is the number of discovery attempts before the command gives up.
        """
        if self._connection is None:
            await self._ask_who()
            if discoveries is None:
                discoveries = transport.discoveries(self.command.path, self.args)
            if self.flags.get("v", 0) > 0:
                self._connection = await self._open_traced(discoveries)
            else:
                self._connection = await self._door.open(self.ctx, self.config, self.manager, discoveries)
        return self._connection

    async def _open_traced(self, discoveries: int) -> ApiClient:
        from simcloud.kubectl.tracing import TracedClient, Tracer

        as_tables = self.command.path == "get" and self.flags.get("output", "") in ("", "wide")
        tracer = Tracer(self.ctx, self.flags["v"], self.config.server, as_tables=as_tables)
        used = next((path for path in paths(self.ctx, self.flags) if self.ctx.files.is_file(path)), "")
        discovers = discoveries > 0 and not self._door.is_known(self.ctx, self.config)
        await tracer.begin(used, discovers=discovers)
        connection = await self._door.open(self.ctx, self.config, self.manager, discoveries, TracedClient)
        assert isinstance(connection, TracedClient)
        connection.tracer = tracer
        return connection

    async def _ask_who(self) -> None:
        """Prompt for a user name if there are no credentials; raises ``KubectlError`` if standard input is empty."""
        config = self.config
        if config.found or config.token or not config.server.startswith("https://"):
            return
        await self.ctx.out("Please enter Username: ")
        if not await self.input():
            raise KubectlError("EOF")
        raise Unauthorized

    def limit_request(self) -> AbstractContextManager[object]:
        """Raise ``TimedOut`` when a long request takes longer than ``--request-timeout``."""
        timeout_s = self.config.timeout_s
        return self.ctx.kernel.timeout(timeout_s) if timeout_s else nullcontext()

    async def exchange(self, request: HttpRequest) -> HttpResponse:
        """Send a raw request and return the response; raises ``NetworkError``."""
        return await self._door.exchange(self.ctx, self.config, request)

    async def out(self, text: str) -> None:
        """Print, after the server's warnings."""
        await self.tell_warnings()
        self.ctx.spend_turn(len(text) // CHARACTERS_A_TURN)
        await self.ctx.out(text)

    async def err(self, text: str) -> None:
        """Print on stderr."""
        await self.ctx.err(text)

    async def complain(self, text: str) -> None:
        """Print an error and go on; the exit code will be 1."""
        self.failed = True
        await self.tell_warnings()
        await self.ctx.err(text if text.endswith("\n") else f"{text}\n")

    def postpone(self, text: str, among_others: str = "") -> None:
        """Print an error at the end, worded as ``among_others`` if it is not the only one; the exit code will be 1."""
        self.failed = True
        if among_others:
            self._among_others[len(self.postponed)] = among_others
        self.postponed.append(text)

    def complaints(self) -> list[str]:
        """Return the errors to print at the end."""
        if len(self.postponed) < 2:
            return self.postponed
        return [self._among_others.get(place, text) for place, text in enumerate(self.postponed)]

    async def tell_warnings(self) -> None:
        """Print the server's warnings since the last call."""
        if self._connection is None or not self._connection.warnings:
            return
        warnings, self._connection.warnings = self._connection.warnings, []
        for warning in warnings:
            await self.ctx.err(f"Warning: {warning}\n")

    async def log(self, level: str, place: str, text: str) -> None:
        """Print a line in the format of klog: level, time, process, place in the source."""
        await self.err(klog(self.ctx, level, place, text))

    async def input(self) -> bytes:
        """Read all of standard input."""
        parts: list[bytes] = []
        size = 0
        try:
            while data := await self.ctx.stdin.read():
                size += len(data)
                if size > MOST_INPUT_BYTES:
                    await self.complain("error: standard input is longer than 16 MiB")
                    raise Exit(1)
                parts.append(data)
        except (FileError, BadDescriptor):
            pass
        return b"".join(parts)
