"""The bodies of requests: their fields, read with limits, and errors that say what is wrong."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Final, TypeVar

import msgspec
from starlette.requests import Request

from aiopslab.generators import Level
from aiopslab.servers.http_api.errors import HttpError

BODY_BYTES: Final = 1 << 20
DISCARDED_BYTES: Final = 8 << 20
"""Size of what is still read of a body that is too large; then the connection is closed."""
BODY_S: Final = 30.0
"""Time that a client has to send a body."""
JSON: Final = "application/json"

B = TypeVar("B")
Name = Annotated[str, msgspec.Meta(max_length=200)]
Steps = Annotated[int, msgspec.Meta(ge=1, le=10_000)]
Seed = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class SessionOrder(msgspec.Struct, forbid_unknown_fields=True):
    """An order of a session."""

    problem: Name | None = None
    """A problem id; null for one that the server draws and does not name before the end."""
    seed: Seed = 0
    max_steps: Steps = 30
    noise: Level | None = None
    """Innocent changes by other teams, for problems whose seed draws the target."""
    agent: Name | None = None
    """A registered agent that works on the session while others watch; null if the client does."""
    model: Name | None = None
    """A language model of the server, for an agent that takes one; null for the server's first."""
    suite: Name = "core"
    """The suite from which a problem is drawn."""
    task: Name | None = None
    """Only problems of this task are drawn."""
    app: Name | None = None
    """Only problems of this application are drawn."""
    wait: bool = True
    """Whether the answer comes when the session is open, or at once."""


class ActionCall(msgspec.Struct, forbid_unknown_fields=True):
    """An action: the text of an agent's answer, or a name with arguments."""

    action: str | None = None
    """An answer that contains one call, such as ``exec_shell("kubectl get pods")``."""
    name: Name | None = None
    arguments: dict[str, Any] = {}

    @property
    def text(self) -> str:
        """The answer as a text; raises ``HttpError``."""
        if (self.action is None) == (self.name is None):
            raise HttpError(400, 'Send either {"action": "…"} or {"name": "…", "arguments": {…}}.')
        if self.action is not None:
            return self.action
        return msgspec.json.encode({"name": self.name, "arguments": self.arguments}).decode()


class Simulation(msgspec.Struct):
    """An order of ``/simulate``, with the fields of the public AIOpsLab service; settings of its models are not used."""

    problem_id: Name
    agent_name: Name
    max_steps: Steps | None = None
    model: Name | None = None


async def _read_or_discard(request: Request) -> bytes | None:
    """Return the body; None if it is too large. Many clients read an answer only after they have sent everything."""
    body, size_bytes = bytearray(), 0
    async for chunk in request.stream():
        size_bytes += len(chunk)
        if size_bytes <= BODY_BYTES:
            body += chunk
        elif size_bytes > DISCARDED_BYTES:
            break
    return bytes(body) if size_bytes <= BODY_BYTES else None


async def read_body(request: Request, kind: type[B]) -> B:
    """Return the body of a request; raises ``HttpError``."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
        raise HttpError(415, f"Send JSON with the header 'Content-Type: {JSON}'.")
    try:
        async with asyncio.timeout(BODY_S):
            body = await _read_or_discard(request)
    except TimeoutError:
        raise HttpError(408, "The body did not arrive in time. Send it again.") from None
    if body is None:
        raise HttpError(413, f"The body is larger than {BODY_BYTES} bytes. Send less.")
    try:
        return msgspec.json.decode(body or b"{}", type=kind)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise HttpError(
            400, f"The body is not understood: {error}. GET /openapi.json describes it."
        ) from None
