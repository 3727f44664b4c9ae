"""How a process ended, as the client of an exec or attach receives it."""

from __future__ import annotations

import msgspec

from simcloud.kubernetes.api.errors import InternalError
from simcloud.kubernetes.api.objects import Object
from simcloud.server.kubernetes.streams.channels import Dialect


def outcome(dialect: Dialect, code: int, why: str) -> bytes:
    """What the error channel says at the end; nothing is also an answer, in the oldest variants."""
    status = _status(code, why)
    if dialect.tells_status:
        return msgspec.json.encode(status)
    return b"" if status["status"] == "Success" else str(status["message"]).encode()


def _status(code: int, why: str) -> Object:
    if why:
        # The node says so first, and the API server says it again.
        failed = InternalError(InternalError(why).message).status()
        return {key: value for key, value in failed.items() if key not in ("kind", "apiVersion")}
    if code == 0:
        return {"metadata": {}, "status": "Success"}
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"command terminated with non-zero exit code: command terminated with exit code {code}",
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]},
    }
