"""``openssl x509`` against the genuine openssl, on a certificate that both read."""

from __future__ import annotations

import shutil
import subprocess
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from simcloud.machine.network.http import HTTPS
from simcloud.world.world import World


def certificate() -> bytes:
    key = generate_private_key(SECP256R1())
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.COUNTRY_NAME, "DE"),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Shop, Inc"),
            x509.NameAttribute(NameOID.COMMON_NAME, "web.shop.svc"),
        ]
    )
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(0xABC)
        .not_valid_before(datetime(2024, 1, 5, 7, 8, 9, tzinfo=UTC))
        .not_valid_after(datetime(2099, 11, 15, 17, 8, 9, tzinfo=UTC))
        .add_extension(
            x509.SubjectAlternativeName(
                [x509.DNSName("web.shop.svc"), x509.IPAddress(ip_address("10.0.0.1"))]
            ),
            critical=False,
        )
    )
    return built.sign(key, SHA256()).public_bytes(Encoding.PEM)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="the genuine openssl is not here")
@pytest.mark.parametrize(
    "flags",
    [
        "-noout -subject",
        "-noout -subject -issuer -dates",
        "-noout -enddate -serial",
        "-noout -startdate",
        "-noout -ext subjectAltName",
        "-noout -fingerprint -sha256",
        "-noout -checkend 100",
        "-noout -checkend 99999999999",
        "",
    ],
)
def test_a_certificate_is_told_of_as_openssl_does(flags: str, tmp_path: Path) -> None:
    pem = certificate()
    (tmp_path / "c.pem").write_bytes(pem)
    machine = World(1).add_machine("host")
    machine.host.files.put("/c.pem", pem)
    line = f"openssl x509 -in c.pem {flags}"
    genuine = subprocess.run(line.split(), cwd=tmp_path, capture_output=True, check=False)
    ours = machine.host.run(["bash", "-c", f"cd /; {line}"])
    assert (ours.stdout, ours.status) == (genuine.stdout, genuine.returncode)


def test_what_is_no_certificate() -> None:
    machine = World(1).add_machine("host")
    done = machine.host.run(["bash", "-c", "echo x | openssl x509 -noout; openssl x509 -in /nofile -noout"])
    assert done.status == 1
    assert done.stderr.count(b"Unable to load certificate\n") == 2


def test_a_servers_certificate_is_seen_by_s_client() -> None:
    machine = World(1).add_machine("host")
    machine.host.namespace.listen(8443, HTTPS).certificate = certificate()
    machine.host.namespace.listen(9443, HTTPS)
    line = "openssl s_client -connect localhost:8443 </dev/null 2>/dev/null | openssl x509 -noout -subject"
    assert (
        machine.host.run(["bash", "-c", line]).stdout
        == b'subject=C = DE, O = "Shop, Inc", CN = web.shop.svc\n'
    )
    shown = machine.host.run(["bash", "-c", "openssl s_client -connect localhost:9443"])
    assert b"no peer certificate available" in shown.stdout
    refused = machine.host.run(["bash", "-c", "openssl s_client -connect localhost:1"])
    assert (refused.status, refused.stderr) == (1, b"connect: Connection refused\nconnect:errno=111\n")
