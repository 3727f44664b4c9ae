"""Signs certificates. In a world, keys follow from a seed, so that the same world always has the same ones.

To search for primes takes long. So the primes of these keys come from a fixed stock, and the seed chooses two of them: the keys look
and work like genuine ones, but keep nothing secret. Without a seed a key is random and safe to use outside a world.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256, shake_128
from ipaddress import ip_address
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from simcloud.kubernetes.host.leaves import Leaf, Signed
from simcloud.machine.network import is_address

BACKDATE: Final = timedelta(minutes=5)
"""kubeadm lets certificates begin a little earlier, for clocks that are late."""

Key = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey

EXPONENT: Final = 65_537
PRIME_STEPS: Final = (398, 352, 1068, 432, 192, 218, 1404, 578, 1264, 844, 208, 42, 386, 1904, 1066, 72, 1334, 820, 102, 1104, 500,
    708, 902, 2010, 2548, 232, 392, 590, 368, 704, 1944, 18, 936, 746, 606, 456, 1470, 6, 36, 1810, 150, 100, 2178, 296, 294, 404,
    634, 736)  # fmt: skip
"""From the digest of a prime's number to the prime itself."""


def sign(leaf: Leaf, seed: bytes | None, authority: Signed | None, begins_s: float, ends_s: float) -> Signed:
    """A certificate for a client, or for a server where the leaf is one; without an authority it signs itself and others."""
    key = _make_key(seed)
    parts = ((NameOID.ORGANIZATION_NAME, leaf.organization), (NameOID.COMMON_NAME, leaf.common_name))
    subject = x509.Name([x509.NameAttribute(oid, value) for oid, value in parts if value])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject if authority is None else authority.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number() if seed is None else int.from_bytes(seed[16:24]) >> 1)
        .not_valid_before(datetime.fromtimestamp(int(begins_s), UTC) - BACKDATE)
        .not_valid_after(datetime.fromtimestamp(int(ends_s), UTC))
    )
    for extension, critical in _list_extensions(leaf, key, authority):
        builder = builder.add_extension(extension, critical)
    certificate = builder.sign(key if authority is None else authority.signer, hashes.SHA256())
    pem, traditional = serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL
    return Signed(
        certificate.public_bytes(pem),
        key.private_bytes(pem, traditional, serialization.NoEncryption()),
        key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo),
        sha256(certificate.public_bytes(serialization.Encoding.DER)).hexdigest(),
        subject,
        key,
    )


def _list_extensions(
    leaf: Leaf, key: Key, authority: Signed | None
) -> Iterator[tuple[x509.ExtensionType, bool]]:
    signs = authority is None
    # digital signature, key encipherment and, for an authority, the signing of certificates
    yield x509.KeyUsage(True, False, True, False, False, signs, False, False, False), True
    if not signs:
        client, server = [ExtendedKeyUsageOID.CLIENT_AUTH], [ExtendedKeyUsageOID.SERVER_AUTH]
        also = client if leaf.authority != "ca" else []
        yield x509.ExtendedKeyUsage(server + also if leaf.serves else client), False
    yield x509.BasicConstraints(ca=signs, path_length=None), True
    if authority is None:
        yield x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False
    else:
        issuer = x509.SubjectKeyIdentifier.from_public_key(authority.signer.public_key())
        yield x509.AuthorityKeyIdentifier(issuer.digest, None, None), False
    names = leaf.names or ((leaf.common_name,) if signs else ())
    if names:
        yield x509.SubjectAlternativeName(list(map(_make_name, names))), False


def _make_name(name: str) -> x509.GeneralName:
    return x509.IPAddress(ip_address(name)) if is_address(name) else x509.DNSName(name)


def _find_prime(number: int) -> int:
    digest = shake_128(b"prime %d" % number).digest(128)
    return (int.from_bytes(digest) | 3 << 1022 | 1) + PRIME_STEPS[number]


def _make_key(seed: bytes | None) -> Key:
    """Two different primes of the stock, the larger one first; without a seed a random key."""
    if seed is None:
        return ec.generate_private_key(ec.SECP256R1())
    first = int.from_bytes(seed[:8]) % len(PRIME_STEPS)
    other = (first + 1 + int.from_bytes(seed[8:16]) % (len(PRIME_STEPS) - 1)) % len(PRIME_STEPS)
    q, p = sorted((_find_prime(first), _find_prime(other)))
    d = pow(EXPONENT, -1, (p - 1) * (q - 1))
    public = rsa.RSAPublicNumbers(EXPONENT, p * q)
    parts = rsa.rsa_crt_dmp1(d, p), rsa.rsa_crt_dmq1(d, q), rsa.rsa_crt_iqmp(p, q)
    return rsa.RSAPrivateNumbers(p, q, d, *parts, public).private_key(unsafe_skip_rsa_key_validation=True)
