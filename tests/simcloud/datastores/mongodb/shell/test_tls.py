"""The shells and TLS: who must ask for it, and which certificates they trust."""

from __future__ import annotations

import pytest

from tests.simcloud.datastores.mongodb.shell.shells import ShellWorld
from tests.simcloud.datastores.mongodb.test_tls import ARGS, pem


@pytest.fixture(scope="module")
def world() -> ShellWorld:
    made = ShellWorld(*ARGS, "requireTLS")
    certificate = pem(30)
    made.files["/etc/tls/tls.pem"] = certificate
    made.files["/etc/tls/other.pem"] = pem(30)
    made.start()
    return made


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([], "Error: network error while attempting to run command 'isMaster' on host '127.0.0.1:27017'  :"),
        (["--tls"], "SSLHandshakeFailed: SSL peer certificate validation failed: self signed certificate :"),
        (["--tls", "--tlsCAFile", "/etc/tls/other.pem"], "certificate validation failed: self signed certificate"),
        (["--tls", "--tlsCAFile", "/etc/tls/tls.pem"], "Hostname: 127.0.0.1 does not match CN: example.com"),
    ],
)  # fmt: skip
def test_what_the_old_shell_does_not_take(world: ShellWorld, args: list[str], words: str) -> None:
    ended = world.shell("mongo", *args, "--eval", "1")
    assert ended.status == 1
    assert words in ended.out


@pytest.mark.parametrize("shell", ["mongo", "mongosh"])
@pytest.mark.parametrize(
    "args",
    [
        ["--tls", "--tlsAllowInvalidCertificates"],
        ["--ssl", "--sslAllowInvalidCertificates"],
        ["--tls", "--tlsCAFile", "/etc/tls/tls.pem", "--tlsAllowInvalidHostnames"],
        ["mongodb://127.0.0.1/?tls=true&tlsAllowInvalidCertificates=true"],
    ],
)
def test_what_both_take(world: ShellWorld, shell: str, args: list[str]) -> None:
    assert world.evaluated("db.runCommand({ping: 1}).ok", *args, shell=shell) == "1\n"


def test_what_mongosh_says(world: ShellWorld) -> None:
    plain = world.shell("mongosh", "--eval", "1")
    assert plain.err == "MongoServerSelectionError: connection <monitor> to 127.0.0.1:27017 closed\n"
    untrusted = world.shell("mongosh", "--tls", "--eval", "1")
    assert (untrusted.status, untrusted.err) == (1, "MongoServerSelectionError: self-signed certificate\n")


def test_tls_to_a_server_without() -> None:
    ended = ShellWorld().shell("mongo", "--tls", "--tlsAllowInvalidCertificates", "--eval", "1")
    assert ended.status == 1
    assert "exception: connect failed" in ended.out
