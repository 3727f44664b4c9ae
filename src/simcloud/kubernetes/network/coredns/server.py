"""The CoreDNS server: its ports, the chain of each zone, and start, reload and stop."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha512
from typing import Any, Final

from msgspec.structs import replace

from simcloud.kubernetes.network.coredns import settings
from simcloud.kubernetes.network.coredns.chain import Chain, Surroundings
from simcloud.kubernetes.network.coredns.corefile import CorefileError, ServerBlock, parse
from simcloud.kubernetes.network.coredns.metrics import DnsMetrics
from simcloud.kubernetes.network.coredns.records import Catalogue
from simcloud.machine import CONTENT_TYPE, format_metrics
from simcloud.machine.files import FileError
from simcloud.machine.network import (
    Connection,
    Datagram,
    DatagramSocket,
    HttpRequest,
    HttpResponse,
    Listener,
    NetworkError,
    dns,
    respond,
    serve_http,
)
from simcloud.machine.process import Context

QUERY_CPU_S: Final = 0.00006
LONGEST_ALIASES: Final = 8
HEALTH_PORT: Final = 8080
READY_PORT: Final = 8181
METRICS_PORT: Final = 9153

Send = Callable[[dns.Reply], None]


class Server:
    """One running CoreDNS."""

    def __init__(self, ctx: Context, catalogue: Catalogue, path: str) -> None:
        self.ctx = ctx
        self.path = path
        self.metrics = DnsMetrics(ctx.metrics)
        self.synced = False
        self.lameduck_s = 0.0
        self.reload_every_s: float | None = None
        self.checksum = ""
        self.chains: list[Chain] = []
        self.on_loop: Callable[[Chain], None] = lambda _chain: None
        self._catalogue = catalogue
        self._random = ctx.random("coredns")
        self._sockets: dict[int, DatagramSocket] = {}
        self._listeners: list[Listener] = []

    # -- configuration -------------------------------------------------------------------------

    def read(self, path: str) -> str | None:
        """The text of a file, None when it cannot be read."""
        try:
            return self.ctx.files.read(path).decode("utf-8", "replace")
        except FileError:
            return None

    def load(self) -> None:
        """Take the configuration from the file. Raises ``CorefileError`` and leaves the old one in force."""
        text = self.read(self.path)
        if text is None:
            raise CorefileError(f"loading Caddyfile via flag: open {self.path}: no such file or directory")
        blocks = parse(text, self.ctx.env)
        around = Surroundings(
            namespace=self.ctx.container.namespace,
            random=self._random,
            catalogue=self._catalogue,
            read=self.read,
            is_synced=lambda: self.synced,
            complain=self.ctx.log,
            loop_found=self.on_loop,
        )
        chains = [Chain(block, around) for block in blocks]
        self.lameduck_s = max((settings.lameduck_s(block.find("health")) for block in blocks), default=0.0)
        self.reload_every_s = _reload_interval_s(blocks)
        self.chains = chains
        self.checksum = sha512(text.encode()).hexdigest()

    def uses_kubernetes(self) -> bool:
        """Whether any block answers for the cluster."""
        return any(chain.kubernetes for chain in self.chains)

    def verifies_pods(self) -> bool:
        """Whether pods are looked at, which takes one more permission."""
        return any(plugin.settings.pods == "verified" for chain in self.chains for plugin in chain.kubernetes)

    # -- ports ---------------------------------------------------------------------------------

    def open_ports(self) -> None:
        """Listen on all ports that the configuration asks for; ``NetworkError`` when one is taken."""
        namespace, process = self.ctx.container.namespace, self.ctx.process
        ports = dict.fromkeys(chain.block.port for chain in self.chains)
        for port in list(self._sockets):
            if port not in ports:
                self._sockets.pop(port).close()
        for listener in self._listeners:
            listener.close()
        self._listeners = []
        for port in ports:
            if port not in self._sockets:
                socket = self._sockets[port] = namespace.bind(port, dns.DNS, owner=process)
                socket.on_datagram = self._taker(socket)
            listener = self.ctx.listen(port, dns.DNS)
            listener.on_accept = self._accept
            self._listeners.append(listener)
        self._open_http()

    def _open_http(self) -> None:
        for name, handler, usual in (
            ("health", self._health, HEALTH_PORT),
            ("ready", self._ready, READY_PORT),
            ("prometheus", self._metrics, METRICS_PORT),
        ):
            ports = {settings.address_port(chain.block.find(name), usual): None for chain in self.chains}
            for port in ports:
                if port is not None:
                    self._listeners.append(serve_http(self.ctx, port, handler))

    async def _health(self, request: HttpRequest) -> HttpResponse:
        return respond(200, "OK") if request.path == "/health" else respond(404, "404 page not found\n")

    async def _ready(self, request: HttpRequest) -> HttpResponse:
        if request.path != "/ready":
            return respond(404, "404 page not found\n")
        if self.uses_kubernetes() and not self.synced:
            self.ctx.log('[INFO] plugin/ready: Plugins not ready: "kubernetes"')
            return respond(503, "kubernetes")
        return respond(200, "OK")

    async def _metrics(self, request: HttpRequest) -> HttpResponse:
        if request.path != "/metrics":
            return respond(404, "404 page not found\n")
        return respond(200, format_metrics(self.ctx.metrics), Content_Type=CONTENT_TYPE)

    # -- questions -----------------------------------------------------------------------------

    def _taker(self, socket: DatagramSocket) -> Callable[[Datagram], None]:
        def take(datagram: Datagram) -> None:
            if isinstance(datagram.message, dns.Question):

                def send(reply: dns.Reply) -> None:
                    if not socket.closed and self.ctx.container.namespace.is_up:
                        socket.send_to(*datagram.source, reply, reply.size_bytes)

                self._handle(datagram.message, socket.port, datagram.source, "udp", send)

        return take

    def _accept(self, connection: Connection) -> None:
        def take(message: Any) -> None:
            if isinstance(message, dns.Question):

                def send(reply: dns.Reply) -> None:
                    if not connection.closed:
                        connection.send(reply, reply.size_bytes)

                self._handle(message, connection.local[1], connection.remote, "tcp", send)

        connection.on_message = take
        connection.on_close = lambda _error: connection.close()

    def _handle(
        self, question: dns.Question, port: int, client: tuple[str, int], transport: str, send: Send
    ) -> None:
        """Answer at once what can be, in the time it takes; ask others in a task of its own for the rest."""
        ctx, began_at = self.ctx, self.ctx.kernel.now
        ctx.process.cpu_s += QUERY_CPU_S
        done_at = ctx.container.cpu.charge(began_at, QUERY_CPU_S)
        chain, zone = self._chain_for(question.name, port)

        def finish(reply: dns.Reply) -> None:
            took_s = ctx.kernel.now - began_at
            reply = self._shuffle(reply)
            self.metrics.count(zone, question.kind, transport, reply.code, took_s)
            caches = [chain.cache for chain in self.chains if chain.cache is not None]
            self.metrics.set_cache(
                sum(len(cache) for cache in caches),
                sum(cache.hits for cache in caches),
                sum(cache.misses for cache in caches),
            )
            if chain is not None and chain.logs:
                ctx.log(self._log_line(reply, client, transport, took_s))
            send(reply)

        reply = chain.answer_at_once(question) if chain is not None else dns.Reply(question, dns.REFUSED)
        if reply is not None:
            ctx.kernel.call_at(done_at, finish, reply)
        elif chain is not None:
            ctx.spawn(self._finish_later(chain, question, port, finish), "forward")

    async def _finish_later(self, chain: Chain, question: dns.Question, port: int, finish: Send) -> None:
        finish(await self._ask_others(chain, question, port, 0))

    async def _ask_others(self, chain: Chain, question: dns.Question, port: int, depth: int) -> dns.Reply:
        async def follow(alias: dns.Question) -> dns.Reply:
            further, _ = self._chain_for(alias.name, port)
            if further is None or depth == LONGEST_ALIASES:
                return dns.Reply(alias, dns.SERVFAIL)
            known = further.answer_at_once(alias)
            return known if known is not None else await self._ask_others(further, alias, port, depth + 1)

        return await chain.answer(question, follow)

    def _chain_for(self, name: str, port: int) -> tuple[Chain | None, str]:
        best: Chain | None = None
        longest = ""
        for chain in self.chains:
            zone = chain.zone_of(name) if chain.block.port == port else None
            if zone is not None and (best is None or len(zone) > len(longest)):
                best, longest = chain, zone
        return best, longest

    def _shuffle(self, reply: dns.Reply) -> dns.Reply:
        """The order of addresses changes from answer to answer (``loadbalance``)."""
        addresses = [record for record in reply.answers if record.kind in ("A", "AAAA")]
        if len(addresses) < 2:
            return reply
        aliases = tuple(record for record in reply.answers if record.kind not in ("A", "AAAA"))
        self._random.shuffle(addresses)
        return replace(reply, answers=(*aliases, *addresses))

    def _log_line(self, reply: dns.Reply, client: tuple[str, int], transport: str, took_s: float) -> str:
        question = reply.question
        identity = self._random.randrange(65_536)
        flags = "qr,aa,rd" if reply.authoritative else "qr,rd,ra"
        asked = f'"{question.kind} IN {question.name}. {transport} {question.size_bytes} false 512"'
        answer = f"{reply.code} {flags} {reply.size_bytes} {took_s:.9f}s"
        return f"[INFO] {client[0]}:{client[1]} - {identity} {asked} {answer}"


def _reload_interval_s(blocks: list[ServerBlock]) -> float | None:
    for block in blocks:
        line = block.find("reload")
        if line is not None:
            return settings.reload_s(line)
    return None


def port_taken(error: NetworkError, port: int) -> str:
    """What is said when a port cannot be had."""
    return f"Listen: listen tcp :{port}: bind: {str(error).lower()}"
