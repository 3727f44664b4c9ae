"""Why a shell does not trust the certificate a server shows."""

from __future__ import annotations

SELF_SIGNED = "self signed certificate"
UNKNOWN_ISSUER = "unable to get local issuer certificate"
EXPIRED = "certificate has expired"
NONE_SHOWN = "no SSL certificate provided by peer"


class Untrusted(Exception):
    """A certificate the shell does not accept; ``reason`` is OpenSSL's, or empty when the name is wrong."""

    def __init__(self, reason: str, names: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.reason = reason
        self.names = names
