"""Certificates of servers, from Secrets, with the controller's messages about those that cannot be used."""

from __future__ import annotations

from base64 import b64decode
from datetime import UTC, datetime
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.network.trust import find_name_problem

CREATION = "unexpected error creating SSL Cert: "
MISMATCH = f"{CREATION}certificate and private key does not have a matching public key: tls: "


class ServerCertificate(NamedTuple):
    """A certificate with its chain, as PEM, and the end of its validity."""

    pem: bytes
    leaf: x509.Certificate
    ends_s: float

    def find_name_problem(self, host: str) -> str:
        """Return Go's message if the certificate is not for a host, or an empty text."""
        return find_name_problem(self.leaf, host)

    def format_end(self) -> str:
        """Return the end of its validity in Go's format."""
        return f"{datetime.fromtimestamp(self.ends_s, UTC):%Y-%m-%d %H:%M:%S} +0000 UTC"


def parse_secret(key: str, secret: Object) -> ServerCertificate:
    """Return the certificate in a Secret; raises ``ValueError`` with the controller's message."""
    data = secret.get("data") or {}
    if "tls.crt" not in data or "tls.key" not in data:
        raise ValueError(f'secret "{key}" contains no keypair or CA certificate')
    pem, private = b64decode(data["tls.crt"]), b64decode(data["tls.key"])
    if b"-----BEGIN" not in pem:
        raise ValueError(f"{CREATION}no valid PEM formatted block found")
    try:
        leaf = x509.load_pem_x509_certificate(pem)
    except ValueError:
        raise ValueError(f"{CREATION}x509: malformed certificate") from None
    try:
        public = load_pem_private_key(private, None).public_key()
    except (ValueError, TypeError):
        raise ValueError(f"{MISMATCH}failed to find any PEM data in key input") from None
    if public != leaf.public_key():
        raise ValueError(f"{MISMATCH}private key does not match public key")
    return ServerCertificate(pem, leaf, leaf.not_valid_after_utc.timestamp())
