"""A Consul client for Go programs: service registration, and a gRPC resolver."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

import msgspec

from simcloud.machine.process import Context
from simcloud.services.languages import golang
from simcloud.services.rpc.grpc import OnAddresses
from simcloud.services.rpc.http import HttpClient, HttpError

TRY_CPU_S: Final = 0.001
"""CPU time of a look-up."""

RETRY_S: Final = 0.1
"""The genuine resolver tries again at once, which keeps a core busy; here it pauses this long."""


class ConsulError(Exception):
    """A request failed; the text is that of Consul's Go client."""


class Place(msgspec.Struct):
    """The address of a node or an instance."""

    address: str = msgspec.field(name="Address", default="")
    port: int = msgspec.field(name="Port", default=0)


class Entry(msgspec.Struct):
    """A healthy instance, as far as the client reads it."""

    node: Place = msgspec.field(name="Node", default_factory=Place)
    service: Place = msgspec.field(name="Service", default_factory=Place)


class ConsulClient:
    """Consul's HTTP API at ``server`` (``"consul:8500"``), as its Go client uses it."""

    def __init__(self, ctx: Context, server: str) -> None:
        self._server = server
        self._http = HttpClient(ctx)

    async def register(self, name: str, id: str, address: str, port: int) -> None:
        """Register an instance of a service, without a check."""
        body = msgspec.json.encode(
            {"ID": id, "Name": name, "Port": port, "Address": address, "Check": None, "Checks": None}
        )
        await self._request("PUT", "/v1/agent/service/register", body)

    async def deregister(self, id: str) -> None:
        """Deregister an instance."""
        await self._request("PUT", f"/v1/agent/service/deregister/{quote(id)}")

    async def healthy(self, name: str, after: int = 0) -> tuple[list[str], int]:
        """Return the addresses of a service's passing instances, and the index of the answer.

        With the index of an earlier answer it waits for a change.
        """
        query = f"index={after}&passing=1" if after else "passing=1"
        body, headers = await self._request("GET", f"/v1/health/service/{quote(name)}?{query}")
        try:
            entries = msgspec.json.decode(body, type=list[Entry])
        except (msgspec.DecodeError, RecursionError) as error:  # another program answers there
            raise ConsulError(str(error)) from None
        index = headers.get("X-Consul-Index", "0")
        places = [f"{entry.service.address or entry.node.address}:{entry.service.port}" for entry in entries]
        return places, int(index[:18]) if index.isascii() and index.isdigit() else 0

    async def _request(self, method: str, path: str, body: bytes = b"") -> tuple[bytes, dict[str, str]]:
        try:
            response = await self._http.request(method, f"http://{self._server}{path}", body)
        except HttpError as error:
            raise ConsulError(str(error)) from None
        if response.status != 200:
            text = response.body.decode("utf-8", "replace")
            raise ConsulError(f"Unexpected response code: {response.status} ({text})")
        return response.body, response.headers


class ConsulAddresses:
    """The addresses of a service's passing instances, by blocking queries: gRPC's ``lb/consul`` resolver."""

    def __init__(self, ctx: Context, server: str, service: str) -> None:
        self._ctx = ctx
        self._service = service
        self._client = ConsulClient(ctx, server)

    def watch(self, report: OnAddresses) -> None:
        """Report the addresses now and after every change, as long as the process lives."""
        self._ctx.spawn(self._follow(report), f"consul {self._service}")

    async def _follow(self, report: OnAddresses) -> None:
        ctx = self._ctx
        reported: list[str] | None = None
        index = 0
        while True:
            await ctx.cpu(TRY_CPU_S)
            try:
                addresses, index = await self._client.healthy(self._service, index)
            except ConsulError as error:
                golang.plain_log(ctx, f"grpc/lb/consul: error retrieving instances from Consul: {error}")
                if reported is None:
                    reported = []
                    report(reported)
                await ctx.sleep(RETRY_S)
                continue
            if addresses != reported:
                reported = addresses
                report(addresses)
            if index == 0:  # not Consul's answer: the next query would not block either
                await ctx.sleep(RETRY_S)
