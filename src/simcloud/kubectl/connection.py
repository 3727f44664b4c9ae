"""Connections to the API server: the server's address is dialled, then the API is used in process.

Reads and writes happen at one instant of virtual time. Before the first request the server's address is dialled over
the machine's own network, so that a server that is down or unreachable fails as a real one does.
"""

from __future__ import annotations

from simcloud.kubectl.kubeconfig.config import ClientConfig
from simcloud.kubectl.transport import KEPT_S, exchange, reach
from simcloud.kubernetes import ApiClient
from simcloud.kubernetes.api import Api
from simcloud.machine.network import HttpRequest, HttpResponse, respond
from simcloud.machine.process import Context
from simcloud.sim import Kernel


class Door:
    """The way from kubectl in a world to its cluster."""

    def __init__(self, api: Api, *, dialled: bool = True) -> None:
        """``dialled`` says that the API is served by a machine of the world, which must be reached for it."""
        self._api = api
        self._dialled = dialled
        self._known: dict[tuple[str, str], float] = {}
        """When a machine last learned what a server serves."""

    @property
    def kernel(self) -> Kernel:
        """The world's clock and chance."""
        return self._api.kernel

    @property
    def now_s(self) -> float:
        """The time of day."""
        return self._api.now_s

    def is_known(self, ctx: Context, config: ClientConfig) -> bool:
        """Whether the machine still knows what the server serves."""
        return ctx.now - self._known.get((ctx.machine.name, config.server), -KEPT_S) < KEPT_S

    async def open(
        self,
        ctx: Context,
        config: ClientConfig,
        manager: str,
        discoveries: int = 0,
        client_type: type[ApiClient] = ApiClient,
    ) -> ApiClient:
        """Reach the server and authenticate; raises ``KubectlError`` or ``ApiError``."""
        is_known = self.is_known(ctx, config)
        if self._dialled:
            await reach(ctx, config.server, 0 if is_known else discoveries, config.timeout_s)
        if discoveries and not is_known:
            self._known[ctx.machine.name, config.server] = ctx.now
        return client_type.authenticate(self._api, config.token, manager, config.impersonate)

    async def exchange(self, ctx: Context, config: ClientConfig, request: HttpRequest) -> HttpResponse:
        """A request as it is, over the network or, where no machine of the world serves the API, at its door."""
        if not self._dialled:
            answer = self._api.door
            return await answer(request) if answer is not None else respond(503, "service unavailable\n")
        return await exchange(ctx, config.server, request)
