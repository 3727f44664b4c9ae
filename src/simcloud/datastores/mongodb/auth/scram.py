"""SCRAM (RFC 5802), both sides, with SHA-1 and SHA-256 as MongoDB uses them.

The hashes are real. Deriving a key from a password takes ten thousand rounds, so keys are cached per password and
salt; the simulated process still spends the CPU time on the virtual clock.
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64decode, b64encode
from binascii import Error as BadBase64
from functools import lru_cache
from random import Random
from typing import Final, NamedTuple

from simcloud.datastores.mongodb.bson import Document

SHA1: Final = "SCRAM-SHA-1"
SHA256: Final = "SCRAM-SHA-256"
KEY_CPU_S: Final = {SHA1: 0.008, SHA256: 0.012}


class Mechanism(NamedTuple):
    """The parameters of one variant."""

    hash: str
    iterations: int
    salt_bytes: int


MECHANISMS: Final = {SHA1: Mechanism("sha1", 10_000, 16), SHA256: Mechanism("sha256", 15_000, 28)}


class ScramError(Exception):
    """The exchange failed; the text is for the log."""


@lru_cache(maxsize=1024)
def _salt_password(hash: str, password: str, salt: bytes, iterations: int) -> bytes:
    return hashlib.pbkdf2_hmac(hash, password.encode("utf-8", "surrogatepass"), salt, iterations)


def _mac(hash: str, key: bytes, text: bytes) -> bytes:
    return hmac.new(key, text, hash).digest()


def _xor(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=True))


def password_for(mechanism: str, user: str, password: str) -> str:
    """Return the text to hash: for SHA-1 MongoDB's old digest of name and password."""
    if mechanism == SHA1:
        return hashlib.md5(f"{user}:mongo:{password}".encode("utf-8", "surrogatepass")).hexdigest()
    return password


def credentials(mechanism: str, user: str, password: str, random: Random) -> Document:
    """Return what the server stores of a password."""
    kind = MECHANISMS[mechanism]
    salt = random.randbytes(kind.salt_bytes)
    salted = _salt_password(kind.hash, password_for(mechanism, user, password), salt, kind.iterations)
    stored = hashlib.new(kind.hash, _mac(kind.hash, salted, b"Client Key")).digest()
    return {
        "iterationCount": kind.iterations,
        "salt": b64encode(salt).decode(),
        "storedKey": b64encode(stored).decode(),
        "serverKey": b64encode(_mac(kind.hash, salted, b"Server Key")).decode(),
    }


def parse(message: bytes) -> dict[str, str]:
    """Return the fields of a SCRAM message."""
    try:
        fields = dict(part.split("=", 1) for part in message.decode().split(","))
    except (ValueError, UnicodeDecodeError):
        raise ScramError("Incorrect number of arguments for SCRAM client message") from None
    return fields


def nonce(random: Random) -> str:
    """Twenty-four random bytes as text."""
    return b64encode(random.randbytes(24)).decode()


class ServerSide:
    """The server side of a login."""

    def __init__(self, mechanism: str, stored: Document, client_first: bytes, random: Random) -> None:
        self._kind = MECHANISMS[mechanism]
        self._stored = stored
        bare = client_first.partition(b",,")[2]
        self._nonce = parse(bare).get("r", "") + nonce(random)
        self.first = f"r={self._nonce},s={stored['salt']},i={stored['iterationCount']}".encode()
        self._spoken = bare + b"," + self.first

    def final(self, message: bytes) -> bytes:
        """Check the client's proof and give the server's; ``ScramError`` when it is wrong."""
        fields = parse(message)
        if fields.get("r") != self._nonce:
            raise ScramError("Incorrect SCRAM nonce")
        hash = self._kind.hash
        spoken = self._spoken + b"," + message.rpartition(b",p=")[0]
        stored = b64decode(self._stored["storedKey"])
        try:
            proof = b64decode(fields.get("p", ""), validate=True)
            client_key = _xor(proof, _mac(hash, stored, spoken))
        except (BadBase64, ValueError):
            raise ScramError("Incorrect SCRAM client proof") from None
        if hashlib.new(hash, client_key).digest() != stored:
            raise ScramError("SCRAM authentication failed, storedKey mismatch")
        return b"v=" + b64encode(_mac(hash, b64decode(self._stored["serverKey"]), spoken))


class LogIn:
    """A login in progress on a connection."""

    __slots__ = ("db", "mechanism", "proven", "scram", "skip_empty", "user")

    def __init__(self, mechanism: str, user: str, db: str, scram: ServerSide, skip_empty: bool) -> None:
        self.mechanism = mechanism
        self.user = user
        self.db = db
        self.scram = scram
        self.skip_empty = skip_empty
        self.proven = False


def user_of(client_first: bytes) -> str:
    """Return the name in the client's first message."""
    header, found, bare = client_first.partition(b",,")
    if not found or header not in (b"n", b"y"):
        raise ScramError("Incorrect SCRAM client message prefix")
    name = parse(bare).get("n", "")
    return name.replace("=2C", ",").replace("=3D", "=")


class ClientSide:
    """The client side of a login."""

    def __init__(self, mechanism: str, user: str, password: str, random: Random) -> None:
        self._kind = MECHANISMS[mechanism]
        self._password = password_for(mechanism, user, password)
        self._nonce = nonce(random)
        escaped = user.replace("=", "=3D").replace(",", "=2C")
        self._bare = f"n={escaped},r={self._nonce}".encode()
        self._signature = b""
        self.first = b"n,," + self._bare

    def final(self, server_first: bytes) -> bytes:
        """Return the proof that answers the server's challenge."""
        fields = parse(server_first)
        try:
            salt, iterations, both = b64decode(fields["s"]), int(fields["i"]), fields["r"]
        except (KeyError, ValueError, BadBase64):
            raise ScramError("server challenge is not well formed") from None
        if not both.startswith(self._nonce) or not 1 <= iterations <= 100_000:
            raise ScramError("server challenge is not an answer to ours")
        hash = self._kind.hash
        salted = _salt_password(hash, self._password, salt, iterations)
        client_key = _mac(hash, salted, b"Client Key")
        without_proof = f"c=biws,r={both}".encode()
        spoken = self._bare + b"," + server_first + b"," + without_proof
        signature = _mac(hash, hashlib.new(hash, client_key).digest(), spoken)
        self._signature = b"v=" + b64encode(_mac(hash, _mac(hash, salted, b"Server Key"), spoken))
        return without_proof + b",p=" + b64encode(_xor(client_key, signature))

    def check(self, server_final: bytes) -> None:
        """Make sure that the server knows the password too."""
        if server_final != self._signature:
            raise ScramError("server signature is wrong")
