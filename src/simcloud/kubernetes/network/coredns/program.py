"""The main program of CoreDNS: start, watch the cluster, reload, stop."""

from __future__ import annotations

from hashlib import sha512
from itertools import pairwise
from random import Random

from simcloud.golang import format_duration
from simcloud.kubernetes.api.access.attributes import Attributes
from simcloud.kubernetes.api.access.rbac import forbidden
from simcloud.kubernetes.api.access.users import User
from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.network.coredns.chain import Chain
from simcloud.kubernetes.network.coredns.corefile import PATH, CorefileError
from simcloud.kubernetes.network.coredns.metrics import BUILD
from simcloud.kubernetes.network.coredns.records import WATCHED, Catalogue
from simcloud.kubernetes.network.coredns.server import Server, port_taken
from simcloud.machine import HOUR_S, log_occasionally
from simcloud.machine.network import NetworkError, dns
from simcloud.machine.process import Context, Signal
from simcloud.sim import Event, TimedOut

SYNC_S = 0.1
"""How often the plugin looks whether it has read the cluster."""

SYNC_WAIT_S = 5.0
JITTER_S = 15.0
MEMORY_BYTES = 16 * 1024**2
OBJECT_BYTES = 4096
"""What it holds for each Service and EndpointSlice that it read at its start."""


class CoreDns:
    """One run of the program."""

    def __init__(self, ctx: Context, api: Api, user: User) -> None:
        self._ctx = ctx
        self._api = api
        self._user = user
        self._catalogue = Catalogue(ComponentClient(api, user.name, "coredns"))
        self._server = Server(ctx, self._catalogue, _configuration_path(ctx.args))
        self._server.on_loop = self._loop_found
        self._stop: Event[int] = Event(ctx.kernel)
        self._looped = False
        self._follows_cluster = False

    async def run(self) -> int:
        """Serve until a signal ends the program; return 1 when the configuration is invalid."""
        try:
            return await self._run()
        finally:
            self._catalogue.close()

    async def _run(self) -> int:
        ctx, server = self._ctx, self._server
        if "-version" in ctx.args:
            await ctx.out(f"{BUILD}\n")
            return 0
        ctx.log(_describe_cores(ctx))
        ctx.memory.use(MEMORY_BYTES)
        ctx.process.start_runtime()
        try:
            server.load()
        except CorefileError as error:
            await ctx.err(f"{error}\n")
            return 1
        ctx.signals.on(Signal.TERM, lambda _signal: self._stop.set(0))
        ctx.signals.on(Signal.INT, lambda _signal: self._stop.set(0))
        await self._join_cluster()
        try:
            server.open_ports()
        except NetworkError as error:
            await ctx.err(f"{port_taken(error, server.chains[0].block.port)}\n")
            return 1
        self._announce()
        for chain in server.chains:
            if chain.loop_name:
                ctx.spawn(self._look_for_loop(chain), "loop")
        if server.reload_every_s is not None:
            ctx.spawn(self._reload_when_changed(), "reload")
        log_occasionally(ctx, 20 * HOUR_S, self._describe_slow_health)
        status = await self._stop.wait()
        if status == 0:
            ctx.log("[INFO] SIGTERM: Shutting down servers then terminating")
            await self._lameduck()
        return status

    def _announce(self) -> None:
        for chain in self._server.chains:
            for zone in chain.block.zones:
                self._ctx.log(f"{zone}.:{chain.block.port}")
        if self._server.reload_every_s is not None:
            self._ctx.log(f"[INFO] plugin/reload: Running configuration SHA512 = {self._server.checksum}")
        for line in BUILD.splitlines():
            self._ctx.log(line)

    async def _lameduck(self) -> None:
        if self._server.lameduck_s:
            self._ctx.log(f"[INFO] plugin/health: Going into lameduck mode for {self._server.lameduck_s:g}s")
            await self._ctx.sleep(self._server.lameduck_s)

    # -- the cluster ---------------------------------------------------------------------------

    async def _join_cluster(self) -> None:
        """Follow the cluster from now on, if the configuration asks for it and that has not begun."""
        if self._server.uses_kubernetes() and not self._follows_cluster:
            self._follows_cluster = True
            self._ctx.spawn(self._follow_cluster(), "kubernetes")
            await self._wait_for_cluster()

    async def _follow_cluster(self) -> None:
        """List all that is needed, again and again until it is allowed; then keep up with it."""
        pause_s = 1.0
        await self._ctx.sleep(SYNC_S / 2)
        while True:
            refusals = list(self._refusals())
            if not refusals:
                break
            for refusal in refusals:
                self._ctx.log(refusal)
            await self._ctx.sleep(pause_s)
            pause_s = min(2 * pause_s, 30.0)
        self._catalogue.follow()
        self._ctx.memory.grow(OBJECT_BYTES * len(self._catalogue))
        self._server.synced = True

    def _refusals(self) -> list[str]:
        wanted = [*WATCHED, *([("pods", "", "*v1.Pod")] if self._server.verifies_pods() else [])]
        lines = []
        for plural, group, kind in wanted:
            wish = Attributes(self._user, "list", group, "v1", plural)
            decision = self._api.authorizer.authorize(wish)
            if not decision.allowed:
                words = forbidden(wish, decision.reason).message
                lines.append(f"[ERROR] plugin/kubernetes: Failed to watch: failed to list {kind}: {words}")
        return lines

    async def _wait_for_cluster(self) -> None:
        for tick in range(round(SYNC_WAIT_S / SYNC_S)):
            if self._server.synced:
                return
            if tick == 5:
                self._ctx.log("[INFO] plugin/kubernetes: waiting for Kubernetes API before starting server")
            await self._ctx.sleep(SYNC_S)
        self._ctx.log("[WARNING] plugin/kubernetes: starting server with unsynced Kubernetes API")

    # -- what happens beside -------------------------------------------------------------------

    async def _look_for_loop(self, chain: Chain) -> None:
        """Ask oneself for a name nobody has: when it comes back again, the upstream is this very server."""
        question = dns.Question(chain.loop_name, "HINFO")
        try:
            await dns.ask(self._ctx.container.namespace, "127.0.0.1", question, 2.0, chain.block.port)
        except (TimedOut, NetworkError):
            pass

    def _loop_found(self, chain: Chain) -> None:
        if not self._looped:
            self._looped = True
            self._ctx.log(
                f"[FATAL] plugin/loop: Loop (127.0.0.1 -> :{chain.block.port}) detected for zone "
                f'"{chain.block.zones[0]}.", see https://coredns.io/plugins/loop#troubleshooting. '
                f'Query: "HINFO {chain.loop_name}."'
            )
            self._stop.set(1)

    def _describe_slow_health(self, _time_s: float, random: Random) -> str:
        """The health plugin asks itself every second, and an answer was late."""
        if not any(chain.block.find("health") for chain in self._server.chains):
            return ""
        took = format_duration(round(1.0 + min(random.expovariate(8), 0.9), 9))
        return f'[WARNING] plugin/health: Local health request to "http://:8080/health" took more than 1s: {took}'

    async def _reload_when_changed(self) -> None:
        ctx, server = self._ctx, self._server
        tried = server.checksum
        while server.reload_every_s is not None:
            jitter_s = min(JITTER_S, server.reload_every_s / 2)
            await ctx.sleep(server.reload_every_s + ctx.random("reload").uniform(-jitter_s, jitter_s))
            present = _checksum(server)
            if present in ("", tried):
                continue
            tried = present
            ctx.log("[INFO] Reloading")
            try:
                server.load()
            except CorefileError as error:
                server.metrics.reload_failed()
                ctx.log(f"[ERROR] Restart failed: {error}")
                ctx.log(f"[ERROR] plugin/reload: Corefile changed but reload failed: {error}")
                continue
            await self._join_cluster()
            await self._lameduck()
            try:
                server.open_ports()
            except NetworkError as error:
                ctx.log(f"[ERROR] Restart failed: {error}")
                continue
            ctx.log(f"[INFO] plugin/reload: Running configuration SHA512 = {server.checksum}")
            ctx.log("[INFO] Reloading complete")


def _checksum(server: Server) -> str:
    text = server.read(server.path)
    return "" if text is None else sha512(text.encode()).hexdigest()


def _configuration_path(args: list[str]) -> str:
    for flag, value in pairwise(args):
        if flag in ("-conf", "--conf"):
            return value
    return PATH


def _describe_cores(ctx: Context) -> str:
    """Return the line about the number of cores that the program uses: its first."""
    limit = ctx.container.cpu.limit
    if limit is None:
        return f"maxprocs: Leaving GOMAXPROCS={ctx.machine.cpu.cores}: CPU quota undefined"
    reason = "determined from CPU quota" if limit >= 1 else "using minimum allowed GOMAXPROCS"
    return f"maxprocs: Updating GOMAXPROCS={max(int(limit), 1)}: {reason}"
