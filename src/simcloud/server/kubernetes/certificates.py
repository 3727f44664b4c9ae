"""A certificate authority and a server certificate, created for every server start.

They belong to the host, not to the simulated world, so they may be random and use the wall clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import time
from typing import Final

from simcloud.kubernetes.host import Leaf, sign

VALID_S: Final = 365 * 86_400
EARLIER_S: Final = 3_600
"""Clients whose clocks are late accept the certificates too."""
NAMES: Final = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "127.0.0.1", "::1",
    "10.96.0.1")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Certificates:
    """PEM texts: the authority's certificate, and the server's certificate and key."""

    authority: bytes
    certificate: bytes
    key: bytes


def make_certificates(host: str) -> Certificates:
    """Certificates for a server at a host name or address."""
    begins_s, ends_s = time() - EARLIER_S, time() + VALID_S
    authority = sign(Leaf("", "kubernetes"), None, None, begins_s, ends_s)
    leaf = Leaf("ca", "kube-apiserver", serves=True, names=tuple(dict.fromkeys((*NAMES, host))))
    server = sign(leaf, None, authority, begins_s, ends_s)
    return Certificates(authority.certificate, server.certificate, server.key)
