"""``aiopslab serve``: serve incidents over HTTP, to agents, programs and browsers."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from aiopslab.cli.clusters import clean_up
from aiopslab.cli.problems import DONE, UsageError, check_folder, load_problems
from aiopslab.orchestrator import LIVE_TIMEOUT_S, shield_harness
from aiopslab.orchestrator.models import open_model
from aiopslab.servers.http_api import LOOPBACK, Guard, HttpApp, ServerLimits, Sessions, serve

if TYPE_CHECKING:
    from aiopslab.cloud.kubernetes import KubernetesOptions

TOKEN: Final = "AIOPSLAB_SERVE_TOKEN"
"""Environment variable with the token; without it, a new one is drawn at each start."""
MIN_TOKEN_CHARS: Final = 16


@dataclass(frozen=True)
class ServeOptions:
    """The options of ``aiopslab serve``."""

    host: str = "127.0.0.1"
    port: int = 8765
    results: Path = Path("results")
    load: Sequence[Path] = ()
    limits: ServerLimits = field(default_factory=ServerLimits)
    models: Sequence[str] = ()
    allowed_hosts: Sequence[str] = ()
    cluster: KubernetesOptions | None = None
    """The real cluster to work on, one session at a time; None for the embedded cloud."""


def serve_incidents(options: ServeOptions) -> int:
    """Serve until stopped; return the exit code."""
    registry = load_problems(options.load)
    for model in options.models:
        open_model(model).check()
    check_folder(options.results, "--results")
    token = _get_token()
    bound = _bind(options.host, options.port)
    port = bound.getsockname()[1]
    limits = options.limits
    if options.cluster is not None:
        limits = replace(limits, max_sessions=1, action_timeout_s=LIVE_TIMEOUT_S, close_s=LIVE_TIMEOUT_S)
    sessions = Sessions(registry, options.results.absolute(), limits, options.models, options.cluster)
    guard = Guard(token, sessions, (options.host, *options.allowed_hosts), port)
    shield_harness(adopt_orphans=False)
    place = f"[{options.host}]" if ":" in options.host else options.host

    def announce() -> None:
        print(f"http://{place}:{port}/?token={token}", flush=True)
        if options.host not in LOOPBACK:
            _report("Others can reach this address, and the token is not encrypted: use a proxy with TLS.")

    async def work() -> None:
        stop = asyncio.Event()

        def handle_signal() -> None:
            if stop.is_set():  # the second time: records without a verdict, but at once
                sessions.kill()
            stop.set()

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, handle_signal)
        await serve(HttpApp(sessions, guard), sessions, bound, stop, announce)

    asyncio.run(work())
    _report(f"Every session is recorded in {options.results}.")
    if options.cluster is not None:
        clean_up(
            options.cluster.kubeconfig, options.cluster.context
        )  # after a session whose process was killed
    return DONE


def _get_token() -> str:
    token = os.environ.pop(TOKEN, "")
    if token and len(token) < MIN_TOKEN_CHARS:
        raise UsageError(
            f"The token in {TOKEN} is shorter than {MIN_TOKEN_CHARS} characters. Choose a longer one."
        )
    return token or secrets.token_urlsafe(24)


def _bind(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=256)
    except OSError as error:
        raise UsageError(
            f"Port {port} of {host} cannot be used ({error.strerror or error}). Choose another --port, or 0 for any."
        ) from None


def _report(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
