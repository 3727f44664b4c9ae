"""Verification of a server's certificate by a client that uses OpenSSL, with the messages of curl.

Traffic is not encrypted in this world, but certificates are real (PEM), and they are verified at the world's time. Import this
module only where a certificate is looked at: the library that reads them is large.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from cryptography import x509
from cryptography.exceptions import InvalidSignature

from simcloud.machine.network.routing import is_address

PROBLEM: Final = "SSL certificate problem: "
SELF_SIGNED: Final = "self-signed certificate"
UNKNOWN_ISSUER: Final = "unable to get local issuer certificate"
REMEMBERED: Final = 256


class Inspected(NamedTuple):
    """What does not depend on the time and on the name that a client wants."""

    distrust: str
    begins_s: float
    ends_s: float
    names: tuple[str, ...]


def find_problem(shown: bytes, authorities: bytes, host: str, now_s: float) -> str:
    """Return why a client that wants this host and trusts these authorities rejects a certificate; empty if it accepts it."""
    seen = inspect(shown, authorities)
    if seen.distrust:
        return PROBLEM + seen.distrust
    if now_s < seen.begins_s:
        return f"{PROBLEM}certificate is not yet valid"
    if now_s > seen.ends_s:
        return f"{PROBLEM}certificate has expired"
    if any(covers(name, host) for name in seen.names):
        return ""
    return f"SSL: no alternative certificate subject name matches target host name '{host}'"


@lru_cache(REMEMBERED)
def inspect(shown: bytes, authorities: bytes) -> Inspected:
    """Return what a client finds in the certificates shown; one that cannot be read has no names."""
    try:
        chain = x509.load_pem_x509_certificates(shown)
    except ValueError:
        return Inspected(UNKNOWN_ISSUER, 0.0, 0.0, ())
    leaf = chain[0]
    begins_s, ends_s = leaf.not_valid_before_utc.timestamp(), leaf.not_valid_after_utc.timestamp()
    return Inspected(_find_distrust(chain, authorities), begins_s, ends_s, _list_names(leaf))


def _find_distrust(chain: list[x509.Certificate], authorities: bytes) -> str:
    """Follow the chain from its first certificate to one that a trusted authority has signed."""
    try:
        trusted = x509.load_pem_x509_certificates(authorities)
    except ValueError:
        trusted = []
    current, further = chain[0], chain[1:]
    while True:
        if current in trusted or any(is_signed(current, root) for root in trusted):
            return ""
        above = next((other for other in further if is_signed(current, other)), None)
        if above is None:
            return SELF_SIGNED if current is chain[0] and is_signed(current, current) else UNKNOWN_ISSUER
        current, further = above, [other for other in further if other is not above]


def is_signed(below: x509.Certificate, above: x509.Certificate) -> bool:
    """Whether a certificate was signed with the key of another."""
    try:
        below.verify_directly_issued_by(above)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _list_names(leaf: x509.Certificate) -> tuple[str, ...]:
    try:
        found = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        common = leaf.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
        return tuple(str(attribute.value) for attribute in common)
    addresses = [str(address) for address in found.get_values_for_type(x509.IPAddress)]
    return (*found.get_values_for_type(x509.DNSName), *addresses)


def covers(name: str, host: str) -> bool:
    """Whether a name in a certificate, which may be a wildcard, is that of a host."""
    if name.startswith("*."):
        return host.partition(".")[2].lower() == name[2:].lower() and not is_address(host)
    return name.lower() == host.lower()
