"""A cluster served over HTTPS, from the first request to the last."""

from __future__ import annotations

import asyncio
import secrets
import socket
import ssl
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from aiopslab.cluster.api.access.users import SYSTEM_MASTERS
from aiopslab.cluster.api.api import Api
from aiopslab.server.kubernetes.app import KubernetesApp
from aiopslab.server.kubernetes.certificates import Certificates, make_certificates
from aiopslab.server.kubernetes.inside import open_door
from aiopslab.server.kubernetes.kubeconfig import write_kubeconfig
from aiopslab.server.kubernetes.live import Live
from aiopslab.server.kubernetes.streams.channels import MESSAGE_BYTES

LOOPBACK: Final = "127.0.0.1"
IDLE_CONNECTION_S: Final = 75


class ClusterServer:
    """Serves an ``Api``. ``await run()`` until ``stop()``; the kubeconfig is there once it serves."""

    def __init__(
        self,
        api: Api,
        *,
        host: str = LOOPBACK,
        port: int = 0,
        speed: float = 1.0,
        kubeconfig: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``clock`` is what virtual time follows, ``speed`` times as fast."""
        self._api = api
        open_door(api)
        self._speed = speed
        self._clock = clock
        self._kubeconfig = kubeconfig
        self.token = secrets.token_urlsafe(32)
        self._socket = _bound(host, port)
        self.port: int = self._socket.getsockname()[1]
        self.url = f"https://{f'[{host}]' if ':' in host else host}:{self.port}"
        self._certificates = make_certificates(host)
        self._server: uvicorn.Server | None = None
        self.live: Live | None = None
        """The pace of the world; there once the server runs."""

    async def run(self, on_ready: Callable[[], None] | None = None) -> None:
        """Serve until told to stop. An error inside the world ends the run and is raised."""
        live = self.live = Live(self._api.kernel, self._speed, self._clock)
        self._api.tokens.accept(self.token, SYSTEM_MASTERS)
        app = self.application(live)
        with tempfile.TemporaryDirectory() as folder:
            self._server = uvicorn.Server(self._configure(app, Path(folder)))
            world = asyncio.create_task(live.run())
            serving = asyncio.create_task(self._server.serve([self._socket]))
            try:
                while not self._server.started and not serving.done():
                    await asyncio.sleep(0.005)
                if self._server.started:
                    self._announce(on_ready)
                await asyncio.wait({world, serving}, return_when=asyncio.FIRST_COMPLETED)
                self._server.should_exit = True
                await serving
                if world.done():
                    world.result()
            finally:
                world.cancel()
                with suppress(asyncio.CancelledError):
                    await world

    def application(self, live: Live) -> ASGIApp:
        """What is served."""
        return KubernetesApp(self._api, live, self.url.removeprefix("https://"))

    def stop(self) -> None:
        """End the run; open watches are closed."""
        if self._server is not None:
            self._server.should_exit = True

    def _announce(self, on_ready: Callable[[], None] | None) -> None:
        if self._kubeconfig is not None:
            write_kubeconfig(self._kubeconfig, self.url, self._certificates.authority, self.token)
        if on_ready is not None:
            on_ready()

    def _configure(self, app: ASGIApp, folder: Path) -> uvicorn.Config:
        certificate, key = _files(self._certificates, folder)
        return uvicorn.Config(
            app,
            lifespan="off",
            log_config=None,
            access_log=False,
            ws="websockets",  # the newer protocol refuses port-forward's subprotocol
            ws_max_size=2 * MESSAGE_BYTES,  # so that we are the ones who refuse a message, and say why
            ws_max_queue=4,
            ws_per_message_deflate=False,
            ws_ping_interval=None,  # the official Python client answers pings only while it reads
            timeout_keep_alive=IDLE_CONNECTION_S,
            timeout_graceful_shutdown=1,
            ssl_certfile=certificate,
            ssl_keyfile=key,
            ssl_version=ssl.PROTOCOL_TLS_SERVER,
        )


def _bound(host: str, port: int) -> socket.socket:
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
