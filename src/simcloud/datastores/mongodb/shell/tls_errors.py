"""Errors of certificate validation; separate from ``trust.py``, which imports a slow library."""

from __future__ import annotations

SELF_SIGNED = "self signed certificate"
UNKNOWN_ISSUER = "unable to get local issuer certificate"
EXPIRED = "certificate has expired"
NONE_SHOWN = "no SSL certificate provided by peer"


class Untrusted(Exception):
    """A rejected certificate; ``reason`` is OpenSSL's, or empty if the host name does not match."""

    def __init__(self, reason: str, names: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.reason = reason
        self.names = names
