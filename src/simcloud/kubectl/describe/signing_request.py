"""What a request for a certificate says, read from its PEM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cryptography import x509
from cryptography.x509.oid import NameOID

from simcloud.kubectl.describe.page import Page

_SUBJECT: Final = (
    ("Organization", NameOID.ORGANIZATION_NAME),
    ("Organizational Unit", NameOID.ORGANIZATIONAL_UNIT_NAME),
    ("Country", NameOID.COUNTRY_NAME),
    ("Locality", NameOID.LOCALITY_NAME),
    ("Province", NameOID.STATE_OR_PROVINCE_NAME),
    ("StreetAddress", NameOID.STREET_ADDRESS),
    ("PostalCode", NameOID.POSTAL_CODE),
)
_ALTERNATIVES: Final[tuple[tuple[str, type[x509.GeneralName]], ...]] = (
    ("DNS Names", x509.DNSName),
    ("Email Addresses", x509.RFC822Name),
    ("URIs", x509.UniformResourceIdentifier),
    ("IP Addresses", x509.IPAddress),
)


def write_request(page: Page, pem: bytes) -> None:
    """Who and what the certificate shall be for."""
    request = x509.load_pem_x509_csr(pem)
    page.line("Subject:")
    for title, oid in (("Common Name", NameOID.COMMON_NAME), ("Serial Number", NameOID.SERIAL_NUMBER)):
        page.line("", f"{title}:", next(iter(_named(request, oid)), ""))
    for title, oid in _SUBJECT:
        _write_values(page, title, _named(request, oid))
    found = {title: _alternatives(request, kind) for title, kind in _ALTERNATIVES}
    if any(found.values()):
        page.line("Subject Alternative Names:")
    for title, values in found.items():
        _write_values(page, title, values)


def _named(request: x509.CertificateSigningRequest, oid: x509.ObjectIdentifier) -> list[str]:
    return [str(one.value) for one in request.subject.get_attributes_for_oid(oid)]


def _alternatives(request: x509.CertificateSigningRequest, kind: type[x509.GeneralName]) -> list[str]:
    try:
        names = request.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    return [str(one.value) for one in names if isinstance(one, kind)]


def _write_values(page: Page, title: str, values: Sequence[str]) -> None:
    heading = f"{title}:"
    for value in values:
        page.line("", heading, value)
        heading = ""
