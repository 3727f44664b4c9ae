"""``aiopslab mcp``: serve an incident to an agent that speaks the Model Context Protocol."""

from __future__ import annotations

import asyncio
import secrets
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aiopslab.cli.problems import DONE, INTERRUPTED, UsageError
from aiopslab.env import IncidentEnv
from aiopslab.orchestrator import hide_command_line
from aiopslab.orchestrator.problems import ProblemRegistry


def serve_problem(
    registry: ProblemRegistry,
    problem: str,
    seed: int,
    max_steps: int,
    results: Path,
    port: int | None,
    settings: Mapping[str, Any],
) -> int:
    """Serve a problem on standard input and output, or on a port; return the exit code. The verdict goes to standard error.

    ``settings`` are those of ``Orchestrator``.
    """
    from aiopslab.servers import serve_http, serve_stdio  # needs the extra `mcp`

    hide_command_line("aiopslab mcp")
    env = IncidentEnv(
        [problem], seed, max_steps=max_steps, records=results, registry=registry, tell=_report, **settings
    )
    try:
        if port is None:
            asyncio.run(serve_stdio(env, _report_end))
        else:
            token = secrets.token_urlsafe(24)
            with _listen(port) as listener:
                chosen = listener.getsockname()[1]
                _report(f"http://127.0.0.1:{chosen}/mcp serves the incident; its token: {token}")
                asyncio.run(serve_http(env, _report_end, listener, token))
    except KeyboardInterrupt:
        return INTERRUPTED
    return DONE


def _listen(port: int) -> socket.socket:
    """Return a socket on a port of the loopback interface, 0 for any free one; raises ``UsageError`` if it is taken."""
    try:
        return socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise UsageError(
            f"Port {port} cannot be used ({error.strerror}). Choose another with --port, or 0 for any free one."
        ) from None


def _report(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def _report_end(info: dict[str, Any]) -> None:
    verdict = {True: "success", False: "no success"}.get(info["results"].get("success"), "not judged")
    _report(f"The session is over: {verdict}. Record: {info['record']}")
