"""One kubectl command while it runs: its words, its streams, its way to the cluster."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from simcloud.kubectl import transport
from simcloud.kubectl.command import Command
from simcloud.kubectl.connection import Door
from simcloud.kubectl.errors import Exit, KubectlError
from simcloud.kubectl.flags import Flags
from simcloud.kubectl.kubeconfig.config import ClientConfig, load
from simcloud.kubernetes.api.errors import Unauthorized
from simcloud.kubernetes.client import ApiClient
from simcloud.machine.files import FileError
from simcloud.machine.network.http import HttpRequest, HttpResponse
from simcloud.machine.process import Context
from simcloud.machine.process.streams import BadDescriptor

MOST_INPUT_BYTES: Final = 16 << 20
CHARACTERS_A_TURN: Final = 64
"""What is printed takes work, wherever it goes: a loop that prints all objects to ``/dev/null`` runs dry, too."""


class Kubectl:
    """What a verb is given: flags, arguments, output, and the cluster when it asks for it."""

    def __init__(self, ctx: Context, command: Command, flags: Flags, door: Door) -> None:
        self.ctx = ctx
        self.command = command
        self.flags = flags
        self.args = flags.args
        self._door = door
        self._config: ClientConfig | None = None
        self._connection: ApiClient | None = None
        self.failed = False
        """Whether something was complained of on the way: the exit code is 1 then."""
        self.postponed: list[str] = []
        """Complaints that are told at the end."""
        self._among_others: dict[int, str] = {}

    @property
    def config(self) -> ClientConfig:
        """Which cluster, as whom."""
        if self._config is None:
            self._config = load(self.ctx, self.flags)
        return self._config

    @property
    def namespace(self) -> str:
        """Where things are looked for when nothing else is said."""
        return self.config.namespace

    @property
    def manager(self) -> str:
        """The name that fields are written under."""
        return str(self.flags.get("field-manager", "")) or "kubectl"

    async def connect(self, discoveries: int | None = None) -> ApiClient:
        """The way to the cluster; the server is reached for when it is first asked for.

        ``discoveries`` is how often the command asks what the server serves before it gives up.
        """
        if self._connection is None:
            await self._ask_who()
            if discoveries is None:
                discoveries = transport.discoveries(self.command.path, self.args)
            self._connection = await self._door.open(self.ctx, self.config, self.manager, discoveries)
        return self._connection

    async def _ask_who(self) -> None:
        """Where nothing says who is asking, the person is asked, as long as somebody is there to answer."""
        config = self.config
        if config.found or config.token or not config.server.startswith("https://"):
            return
        await self.ctx.out("Please enter Username: ")
        if not await self.input():
            raise KubectlError("EOF")
        raise Unauthorized

    async def exchange(self, request: HttpRequest) -> HttpResponse:
        """A request as it is, and the server's answer; raises ``NetworkError``."""
        return await self._door.exchange(self.ctx, self.config, request)

    async def out(self, text: str) -> None:
        """Print, after what the server warned of."""
        await self.tell_warnings()
        self.ctx.spend_turn(len(text) // CHARACTERS_A_TURN)
        await self.ctx.out(text)

    async def err(self, text: str) -> None:
        """Print on stderr."""
        await self.ctx.err(text)

    async def complain(self, text: str) -> None:
        """Print a complaint and go on; the command will have failed."""
        self.failed = True
        await self.tell_warnings()
        await self.ctx.err(text if text.endswith("\n") else f"{text}\n")

    def postpone(self, text: str, among_others: str = "") -> None:
        """Complain at the end, perhaps in other words if it is not the only complaint; the command will have failed."""
        self.failed = True
        if among_others:
            self._among_others[len(self.postponed)] = among_others
        self.postponed.append(text)

    def complaints(self) -> list[str]:
        """What is complained of at the end."""
        if len(self.postponed) < 2:
            return self.postponed
        return [self._among_others.get(place, text) for place, text in enumerate(self.postponed)]

    async def tell_warnings(self) -> None:
        """Print what the server warned of since the last time."""
        if self._connection is None or not self._connection.warnings:
            return
        warnings, self._connection.warnings = self._connection.warnings, []
        for warning in warnings:
            await self.ctx.err(f"Warning: {warning}\n")

    async def log(self, level: str, place: str, text: str) -> None:
        """A line of the program's own log, as its library writes it: level, time, process, place in the source."""
        connection = await self.connect()
        moment = datetime.fromtimestamp(connection.now_s, UTC)
        stamp = f"{moment:%m%d %H:%M:%S.%f}"
        await self.err(f"{level}{stamp} {self.ctx.process.pid:7d} {place}] {text}\n")

    async def input(self) -> bytes:
        """All of standard input."""
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
