"""Validation of a server's certificate: issuer, expiry and host names."""

from __future__ import annotations

from datetime import UTC, datetime
from ipaddress import ip_address

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.x509.oid import NameOID

from simcloud.datastores.mongodb.shell.tls_errors import (
    EXPIRED,
    NONE_SHOWN,
    SELF_SIGNED,
    UNKNOWN_ISSUER,
    Untrusted,
)


def check(shown: bytes, authorities: bytes | None, host: str | None, now: float) -> None:
    """Raise ``Untrusted`` unless the authorities vouch for the certificate, today, for that host.

    Without a host any name will do. Without authorities no certificate is trusted.
    """
    certificate = _first(shown)
    if certificate is None:
        raise Untrusted(NONE_SHOWN)
    if not _is_trusted(certificate, authorities or b""):
        raise Untrusted(SELF_SIGNED if certificate.issuer == certificate.subject else UNKNOWN_ISSUER)
    if (
        not certificate.not_valid_before_utc
        <= datetime.fromtimestamp(now, UTC)
        <= certificate.not_valid_after_utc
    ):
        raise Untrusted(EXPIRED)
    names = _names(certificate)
    if host is not None and not any(_covers(name, host) for name in names):
        raise Untrusted("", names)


def _first(data: bytes) -> x509.Certificate | None:
    try:
        return x509.load_pem_x509_certificate(data[max(0, data.find(b"-----BEGIN CERTIFICATE")) :])
    except ValueError:
        return None


def _is_trusted(certificate: x509.Certificate, authorities: bytes) -> bool:
    try:
        known = x509.load_pem_x509_certificates(authorities)
    except ValueError:
        return False
    for each in known:
        try:
            certificate.verify_directly_issued_by(each)
        except (ValueError, TypeError, InvalidSignature):
            continue
        return True
    return False


def _names(certificate: x509.Certificate) -> tuple[str, ...]:
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        hosts = [str(name) for name in found.get_values_for_type(x509.DNSName)]
        return (*hosts, *[str(address) for address in found.get_values_for_type(x509.IPAddress)])
    except (x509.ExtensionNotFound, ValueError):
        return tuple(
            str(each.value) for each in certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
        )


def _covers(name: str, host: str) -> bool:
    if name.startswith("*."):
        return host.partition(".")[2].lower() == name[2:].lower() and not _is_address(host)
    return name.lower() == host.lower()


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
