"""Validation of a server's certificate: issuer, expiry and host names."""

from __future__ import annotations

from simcloud.datastores.mongodb.shell.tls_errors import (
    EXPIRED,
    NONE_SHOWN,
    SELF_SIGNED,
    UNKNOWN_ISSUER,
    Untrusted,
)
from simcloud.machine.network import tls


def check(shown: bytes, authorities: bytes | None, host: str | None, now: float) -> None:
    """Raise ``Untrusted`` unless the authorities vouch for the certificate, today, for that host.

    Without a host any name will do. Without authorities no certificate is trusted.
    """
    seen = tls.inspect(shown, authorities or b"")
    if not seen.ends_s:
        raise Untrusted(NONE_SHOWN)
    if seen.distrust:
        raise Untrusted(SELF_SIGNED if seen.distrust == tls.SELF_SIGNED else UNKNOWN_ISSUER)
    if not seen.begins_s <= now <= seen.ends_s:
        raise Untrusted(EXPIRED)
    if host is not None and not any(tls.covers(name, host) for name in seen.names):
        raise Untrusted("", seen.names)
