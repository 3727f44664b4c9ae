"""Certificates before and after they are signed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Leaf:
    """A certificate that an authority signs. ``names`` are alternative names beside the common name's own."""

    authority: str
    common_name: str
    organization: str = ""
    serves: bool = False
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Signed:
    """A certificate and its private key, as PEM."""

    certificate: bytes
    key: bytes
    public_key: bytes
    fingerprint: str
    """The SHA-256 digest of the certificate, in hexadecimal."""
    subject: Any
    """The name in it, for what it signs."""
    signer: Any
    """Its key, ready to sign."""
