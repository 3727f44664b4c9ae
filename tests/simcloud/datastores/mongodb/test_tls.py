"""TLS: which clients get in, and certificates mongod does not start with."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.simcloud.datastores.mongodb.world import MongoWorld

PING = {"ping": 1}
ARGS = ("--tlsCertificateKeyFile", "/etc/tls/tls.pem", "--tlsMode")


def pem(days: int) -> bytes:
    """A certificate and its key, valid until so many days after the world begins."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "example.com")])
    begin = datetime(2026, 1, 5, tzinfo=UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(begin - timedelta(days=100))
        .not_valid_after(begin + timedelta(days=days))
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return certificate.public_bytes(serialization.Encoding.PEM) + secret


@pytest.mark.parametrize(
    ("mode", "plain", "tls"),
    [
        ("disabled", True, False),
        ("allowTLS", True, True),
        ("preferTLS", True, True),
        ("requireTLS", False, True),
    ],
)
def test_each_mode_lets_in_whom_it_should(mode: str, plain: bool, tls: bool) -> None:
    world = MongoWorld(*ARGS, mode, start=False)
    world.files["/etc/tls/tls.pem"] = pem(30)
    world.start()
    for wanted, use_tls in ((plain, False), (tls, True)):
        outcome = world.command("admin", PING, tls=use_tls)
        assert (outcome == {"ok": 1.0}) == wanted
        if not wanted:
            assert outcome.message == "no reachable servers"


def test_a_plain_client_on_a_server_that_requires_tls_shows_in_its_log() -> None:
    world = MongoWorld(*ARGS, "requireTLS", start=False)
    world.files["/etc/tls/tls.pem"] = pem(30)
    world.start()
    world.command("admin", PING)
    line = world.logged(22988)[0]
    assert line["attr"]["error"] == {
        "code": 141,
        "codeName": "SSLHandshakeFailed",
        "errmsg": "The server is configured to only allow SSL connections",
    }
    assert world.logged(23016)[0]["attr"] == {"port": 27017, "ssl": "on"}


def test_a_missing_certificate_keeps_mongod_from_starting() -> None:
    world = MongoWorld(*ARGS, "requireTLS")
    assert world.process.status == 1
    assert world.logged(23248)[0]["attr"]["keyFile"] == "/etc/tls/tls.pem"
    assert world.logged(20574)[0]["attr"]["error"]["codeName"] == "InvalidSSLConfiguration"


def test_an_expired_certificate_keeps_mongod_from_starting() -> None:
    world = MongoWorld(*ARGS, "requireTLS", start=False)
    world.files["/etc/tls/tls.pem"] = pem(-1)
    world.start()
    assert world.process.status == 14
    assert world.logged(28652)[0]["msg"] == "The provided SSL certificate is expired or not yet valid"


def test_the_configuration_file_says_the_same_as_the_command_line() -> None:
    world = MongoWorld("--config", "/etc/mongod.conf", start=False)
    world.files["/etc/tls/tls.pem"] = pem(30)
    world.files["/etc/mongod.conf"] = (
        b"net:\n  tls:\n    mode: requireTLS\n    certificateKeyFile: /etc/tls/tls.pem\n"
    )
    world.start()
    assert world.command("admin", PING, tls=True) == {"ok": 1.0}


def test_settings_it_does_not_understand_are_refused() -> None:
    world = MongoWorld("--frobnicate")
    assert world.process.status == 2
    assert world.lines == [
        "Error parsing command line: unrecognised option '--frobnicate'",
        "try 'mongod --help' for more information",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("net:\n  prot: 27018\n", "Unrecognized option: net.prot"),
        ("nett:\n  port: 27018\n", "Unrecognized option: nett"),
        ("net:\n  tls:\n    mode: requireTLS\n", "BadValue: need tlsCertificateKeyFile or certificateSelector when TLS is enabled"),
    ],
)  # fmt: skip
def test_a_configuration_file_with_a_mistake_is_refused(text: str, message: str) -> None:
    world = MongoWorld("--config", "/etc/mongod.conf", start=False)
    world.files["/etc/mongod.conf"] = text.encode()
    world.start()
    assert world.process.status == 2
    assert world.lines[0] == message


def test_a_configuration_file_that_is_not_there_is_refused() -> None:
    world = MongoWorld("--config", "/etc/nowhere.conf")
    assert (world.process.status, world.lines[0]) == (
        2,
        "Error reading config file: No such file or directory",
    )
