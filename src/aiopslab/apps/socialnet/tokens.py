"""Tokens that say who somebody is: JSON Web Tokens signed with HMAC-SHA256."""

from __future__ import annotations

import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any, Final

HEADER: Final = {"alg": "HS256", "typ": "JWT"}
MAX_LENGTH: Final = 4096


def signed(claims: dict[str, Any], secret: str) -> str:
    """A token that makes these claims."""
    body = f"{_packed(HEADER)}.{_packed(claims)}"
    return f"{body}.{_seal(body, secret)}"


def claims_of(token: str, secret: str) -> dict[str, Any] | None:
    """What a token claims; None when nobody who knows the secret has signed it."""
    body, _, seal = token.rpartition(".")
    if len(token) > MAX_LENGTH or not token.isascii() or not hmac.compare_digest(seal, _seal(body, secret)):
        return None
    try:
        claims = json.loads(urlsafe_b64decode(body.partition(".")[2] + "=="))
    except ValueError:
        return None
    return claims if isinstance(claims, dict) else None


def _packed(value: dict[str, Any]) -> str:
    return _text(json.dumps(value, separators=(",", ":")).encode())


def _seal(body: str, secret: str) -> str:
    return _text(hmac.digest(secret.encode(), body.encode(), "sha256"))


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
