"""``aiopslab mcp``: serve an incident to an agent that speaks the Model Context Protocol."""

from __future__ import annotations

import asyncio
import secrets
import sys
from pathlib import Path
from typing import Any

from aiopslab.cli.problems import DONE, INTERRUPTED
from aiopslab.env import IncidentEnv
from aiopslab.orchestrator import hide_command_line
from aiopslab.orchestrator.problems import ProblemRegistry


def serve_problem(
    registry: ProblemRegistry, problem: str, seed: int, max_steps: int, results: Path, port: int | None
) -> int:
    """Serve a problem on standard input and output, or on a port; return the exit code. The verdict goes to standard error."""
    from aiopslab.servers import serve_http, serve_stdio  # needs the extra `mcp`

    hide_command_line("aiopslab mcp")
    env = IncidentEnv([problem], seed, max_steps=max_steps, records=results, registry=registry, tell=_report)
    try:
        if port is None:
            asyncio.run(serve_stdio(env, _report_end))
        else:
            token = secrets.token_urlsafe(24)
            _report(f"http://127.0.0.1:{port}/mcp serves the incident; its token: {token}")
            asyncio.run(serve_http(env, _report_end, port, token))
    except KeyboardInterrupt:
        return INTERRUPTED
    return DONE


def _report(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def _report_end(info: dict[str, Any]) -> None:
    verdict = {True: "success", False: "no success"}.get(info["results"].get("success"), "not judged")
    _report(f"The session is over: {verdict}. Record: {info['record']}")
