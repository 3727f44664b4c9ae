"""A server of a cluster over HTTPS, and of its telemetry.

Telemetry has its own address. On loopback it is plain HTTP, so that promtool, Grafana and browsers need no
configuration; on any other address it uses the cluster's certificate.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
import ssl
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp

from simcloud.kubernetes import find_administrator
from simcloud.kubernetes.api import Api
from simcloud.kubernetes.api.access import User
from simcloud.server.gateway import Gateway
from simcloud.server.kubernetes.app import KubernetesApp
from simcloud.server.kubernetes.certificates import Certificates, make_certificates
from simcloud.server.kubernetes.in_cluster import open_door
from simcloud.server.kubernetes.kubeconfig import SESSION, TELEMETRY, write_kubeconfig
from simcloud.server.kubernetes.live import Live
from simcloud.server.kubernetes.streams.channels import MESSAGE_BYTES
from simcloud.server.telemetry.apis import QueryApi
from simcloud.server.telemetry.app import TelemetryApp

LOOPBACK: Final = "127.0.0.1"
IDLE_CONNECTION_S: Final = 75


class ClusterServer:
    """Serves an ``Api``. ``run()`` ends after ``stop()``; the kubeconfig exists once it serves.

    With ``telemetry`` these APIs are served at ``telemetry_url`` with the same token; with a ``gateway`` an application's
    front door is served at ``gateway_url`` without authentication; with a ``session`` this application is served at
    ``session_url`` and must ask for the token itself.
    """

    def __init__(
        self,
        api: Api,
        *,
        host: str = LOOPBACK,
        port: int = 0,
        speed: float = 1.0,
        kubeconfig: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
        telemetry: Sequence[QueryApi] = (),
        telemetry_port: int = 0,
        gateway: Gateway | None = None,
        gateway_port: int = 0,
        session: ASGIApp | None = None,
        token: str | None = None,
        user: User | None = None,
    ) -> None:
        """``clock`` is what virtual time follows, ``speed`` times as fast. ``user`` is who the token stands for, the administrator by default."""
        self._api = api
        open_door(api)
        self._speed = speed
        self._clock = clock
        self._kubeconfig = kubeconfig
        self.token = token or secrets.token_urlsafe(32)
        self._user = user
        self._sockets = [_bind(host, port)]
        self.port: int = self._sockets[0].getsockname()[1]
        self.url = f"https://{_place(host)}:{self.port}"
        self._certificates = make_certificates(host)
        self._telemetry = telemetry
        self._telemetry_is_plain = host in (LOOPBACK, "::1", "localhost")
        self.telemetry_url = ""
        if telemetry:
            self._sockets.append(_bind(host, telemetry_port))
            scheme = "http" if self._telemetry_is_plain else "https"
            self.telemetry_url = f"{scheme}://{_place(host)}:{self._sockets[-1].getsockname()[1]}"
        self._gateway = gateway
        self.gateway_url = ""
        if gateway is not None:
            self._sockets.append(_bind(host, gateway_port))
            self.gateway_url = f"http://{_place(host)}:{self._sockets[-1].getsockname()[1]}"
        self._session = session
        self.session_url = ""
        if session is not None:
            self._sockets.append(_bind(host, 0))
            scheme = "http" if self._telemetry_is_plain else "https"
            self.session_url = f"{scheme}://{_place(host)}:{self._sockets[-1].getsockname()[1]}"
        self._servers: list[uvicorn.Server] = []
        self.live: Live | None = None
        """The pace of the world; there once the server runs."""

    async def run(self, on_ready: Callable[[], None] | None = None) -> None:
        """Serve until stopped. An error inside the world ends the run and is raised."""
        live = self.live = Live(self._api.kernel, self._speed, self._clock)
        self._api.tokens.accept(self.token, self._user or find_administrator(self._api))
        # It is deprecated, but the newer protocol refuses port-forward's subprotocol.
        warnings.filterwarnings("ignore", message="The `websockets` implementation is deprecated")
        with tempfile.TemporaryDirectory() as folder:
            self._servers = [uvicorn.Server(config) for config in self._configurations(live, Path(folder))]
            world = asyncio.create_task(live.run())
            serving = [
                asyncio.create_task(server.serve([bound]))
                for server, bound in zip(self._servers, self._sockets, strict=True)
            ]
            try:
                while not self._started and not any(task.done() for task in serving):
                    await asyncio.sleep(0.005)
                if self._started:
                    self._announce(on_ready)
                await asyncio.wait({world, *serving}, return_when=asyncio.FIRST_COMPLETED)
                self.stop()
                await asyncio.gather(*serving)
                if world.done():
                    world.result()
            finally:
                world.cancel()
                with suppress(asyncio.CancelledError):
                    await world

    @property
    def _started(self) -> bool:
        return all(server.started for server in self._servers)

    def application(self, live: Live) -> ASGIApp:
        """Return the ASGI application."""
        return KubernetesApp(self._api, live, self.url.removeprefix("https://"))

    def stop(self) -> None:
        """End the run; open watches are closed."""
        for server in self._servers:
            server.should_exit = True

    def _announce(self, on_ready: Callable[[], None] | None) -> None:
        if self._kubeconfig is not None:
            authority, user = self._certificates.authority, self._user or find_administrator(self._api)
            addresses = {TELEMETRY: self.telemetry_url, SESSION: self.session_url}
            write_kubeconfig(self._kubeconfig, self.url, authority, self.token, user.name, addresses)
        if on_ready is not None:
            on_ready()

    def _configurations(self, live: Live, folder: Path) -> list[uvicorn.Config]:
        certificate, key = _files(self._certificates, folder)
        secure = {"ssl_certfile": certificate, "ssl_keyfile": key, "ssl_version": ssl.PROTOCOL_TLS_SERVER}
        configurations = [_configuration(self.application(live), secure)]
        if self._telemetry:
            app = TelemetryApp(self._telemetry, live, self.token)
            configurations.append(_configuration(app, {} if self._telemetry_is_plain else secure))
        if self._gateway is not None:
            self._gateway.pace = live
            configurations.append(_configuration(self._gateway, {}))
        if self._session is not None:
            configurations.append(_configuration(self._session, {} if self._telemetry_is_plain else secure))
        return configurations


def _configuration(app: ASGIApp, secure: dict[str, Any]) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        lifespan="off",
        log_config=None,
        access_log=False,
        ws="websockets",
        ws_max_size=2 * MESSAGE_BYTES,  # so that we are the ones who refuse a message, and say why
        ws_max_queue=4,
        ws_per_message_deflate=False,
        ws_ping_interval=None,  # the official Python client answers pings only while it reads
        timeout_keep_alive=IDLE_CONNECTION_S,
        timeout_graceful_shutdown=1,
        **secure,
    )


def _place(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends small answers at once only on sockets that say they are TCP; else each waits for an ACK, 40 ms.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError:
        bound.close()
        raise
    return bound


def _files(certificates: Certificates, folder: Path) -> tuple[Path, Path]:
    """uvicorn reads its certificate from files; they are gone with the server."""
    certificate, key = folder / "server.crt", folder / "server.key"
    certificate.write_bytes(certificates.certificate)
    key.touch(0o600)
    key.write_bytes(certificates.key)
    return certificate, key
