"""What becomes of a webhook's refusal, and of a call that failed."""

from __future__ import annotations

from typing import Any

from simcloud.kubernetes.api.errors import ApiError, InternalError


class CallFailed(Exception):
    """No answer came, or none that can be used; the text says why, as Go's HTTP client would."""


class Rejected(CallFailed):
    """An answer came that is no review; the text is a Kubernetes client's, which does not name the URL."""


def failed(name: str, why: str) -> ApiError:
    """A call failed, and the webhook does not want to be passed over."""
    return InternalError(f'failed calling webhook "{name}": {why}')


def denied(name: str, status: Any) -> ApiError:
    """A webhook refused; it may say with which code, reason and details."""
    said = status if isinstance(status, dict) else {}
    message, reason = str(said.get("message") or ""), str(said.get("reason") or "")
    text = f'admission webhook "{name}" denied the request'
    text += f": {message or reason}" if message or reason else " without explanation"
    details = said.get("details")
    refusal = ApiError(text, details if isinstance(details, dict) else None)
    code = said.get("code")
    refusal.code = code if isinstance(code, int) and code >= 400 else 400
    refusal.reason = reason
    return refusal
