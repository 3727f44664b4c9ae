"""Verification of server certificates, with the messages of Go's crypto/x509.

Certificates are real (PEM); they are verified at the world's time.
"""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

from cryptography import x509

from simcloud.machine.network import is_address, tls

_BEGINS = "tls: failed to verify certificate: "
UNKNOWN = f"{_BEGINS}x509: certificate signed by unknown authority"


def distrust(shown: bytes, authorities: bytes, name: str, now_s: float) -> str:
    """Why a certificate is not believed by somebody who wants this name and trusts these; empty if it is."""
    try:
        chain = x509.load_pem_x509_certificates(shown)
        trusted = x509.load_pem_x509_certificates(authorities)
    except ValueError:
        return UNKNOWN
    if why := _untimely(chain[0], now_s) or find_name_problem(chain[0], name):
        return _BEGINS + why
    return _check_signatures(chain, trusted)


def _untimely(leaf: x509.Certificate, now_s: float) -> str:
    now = datetime.fromtimestamp(int(now_s), UTC)
    begins, ends = leaf.not_valid_before_utc, leaf.not_valid_after_utc
    if begins <= now <= ends:
        return ""
    edge, word = (begins, "before") if now < begins else (ends, "after")
    message = f"current time {_stamp(now)} is {word} {_stamp(edge)}"
    return f"x509: certificate has expired or is not yet valid: {message}"


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def find_name_problem(leaf: x509.Certificate, name: str) -> str:
    """Return why a certificate is not for this name, or an empty text."""
    try:
        said = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return (
            "x509: certificate relies on legacy Common Name field, use SANs instead"
            if leaf.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
            else f"x509: certificate is not valid for any names, but wanted to match {name}"
        )
    names = said.get_values_for_type(x509.DNSName)
    addresses = [str(address) for address in said.get_values_for_type(x509.IPAddress)]
    if is_address(name):
        if name in addresses:
            return ""
        if not addresses:
            return f"x509: cannot validate certificate for {name} because it doesn't contain any IP SANs"
        return f"x509: certificate is valid for {', '.join(addresses)}, not {name}"
    if any(_matches(candidate, name) for candidate in names):
        return ""
    if not names:
        return f"x509: certificate is not valid for any names, but wanted to match {name}"
    return f"x509: certificate is valid for {', '.join(names)}, not {name}"


def _matches(pattern: str, name: str) -> bool:
    first, _, rest = pattern.lower().partition(".")
    return pattern.lower() == name.lower() or (first == "*" and rest == name.lower().partition(".")[2])


def _check_signatures(chain: list[x509.Certificate], trusted: list[x509.Certificate]) -> str:
    """Each certificate must be signed by the next, and the last by one that is trusted, or be trusted itself."""
    if any(not tls.is_signed(below, above) for below, above in pairwise(chain)):
        return UNKNOWN
    last = chain[-1]
    return "" if last in trusted or any(tls.is_signed(last, root) for root in trusted) else UNKNOWN
