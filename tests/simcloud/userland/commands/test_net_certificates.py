"""``openssl x509`` against the genuine openssl, on a certificate that both read."""

from __future__ import annotations

from pathlib import Path

import pytest

from simcloud.machine.network.http import HTTPS
from simcloud.world.world import World
from tests.genuine import run

PEM = Path(__file__).with_name("certificate.pem").read_bytes()
"""Self-signed for C=DE, O="Shop, Inc", CN=web.shop.svc, serial number abc, 2024-01-05 to 2099-11-15, with two other names."""


@pytest.mark.differential("openssl")
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
def test_a_certificate_is_told_of_as_openssl_does(flags: str) -> None:
    machine = World(1).add_machine("host")
    machine.host.files.put("/c.pem", PEM)
    line = f"openssl x509 -in c.pem {flags}"
    genuine = run(line.split(), files={"c.pem": PEM})
    ours = machine.host.run(["bash", "-c", f"cd /; {line}"])
    assert (ours.stdout, ours.status) == (genuine.stdout, genuine.status)


def test_what_is_no_certificate() -> None:
    machine = World(1).add_machine("host")
    done = machine.host.run(["bash", "-c", "echo x | openssl x509 -noout; openssl x509 -in /nofile -noout"])
    assert done.status == 1
    assert done.stderr.count(b"Unable to load certificate\n") == 2


def test_a_servers_certificate_is_seen_by_s_client() -> None:
    machine = World(1).add_machine("host")
    machine.host.namespace.listen(8443, HTTPS).certificate = PEM
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
