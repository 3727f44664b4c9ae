"""Prints certificates, of a file (``openssl x509``) or of a server (``openssl s_client``).

Traffic is not encrypted in this world, so there is no more of a handshake to print than the certificate.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA1, SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from simcloud.machine.files import FileError
from simcloud.machine.network import HTTPS, NetworkError, is_address
from simcloud.machine.process import Context, read_all

SHORT: Final = {
    NameOID.COUNTRY_NAME: "C",
    NameOID.STATE_OR_PROVINCE_NAME: "ST",
    NameOID.LOCALITY_NAME: "L",
    NameOID.ORGANIZATION_NAME: "O",
    NameOID.ORGANIZATIONAL_UNIT_NAME: "OU",
    NameOID.COMMON_NAME: "CN",
    NameOID.EMAIL_ADDRESS: "emailAddress",
}
MONTHS: Final = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
VALUED: Final = frozenset(
    {"-in", "-out", "-checkend", "-ext", "-connect", "-servername", "-CAfile", "-inform"}
)


class Failed(Exception):
    """The command failed; the message is openssl's."""


async def look(ctx: Context, name: str, words: list[str]) -> int:
    """Run the command of that name; its exit status."""
    try:
        said = _flags(name, words)
        return await (_x509 if name == "x509" else _s_client)(ctx, said)
    except Failed as error:
        await ctx.err(f"{error}\n")
        return 1


def _flags(name: str, words: list[str]) -> dict[str, str]:
    said: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            raise Failed(f"{name}: Extra option: {word!r}\n{name}: Use -help for summary.")
        said[word] = next(rest, "") if word in VALUED else ""
    return said


async def _x509(ctx: Context, said: dict[str, str]) -> int:
    certificate = _read(*await _source(ctx, said.get("-in", "")))
    for flag in said:
        if flag in SHOWN:
            await ctx.out(SHOWN[flag](certificate))
    if "-ext" in said:
        await ctx.out(_names(certificate))
    if "-fingerprint" in said:
        kind, digest = ("sha256", SHA256()) if "-sha256" in said else ("SHA1", SHA1())
        await ctx.out(f"{kind} Fingerprint={certificate.fingerprint(digest).hex(':').upper()}\n")
    if "-checkend" in said:
        seconds = (
            int(said["-checkend"]) if said["-checkend"].isdecimal() and len(said["-checkend"]) < 12 else 0
        )
        late = certificate.not_valid_after_utc.timestamp() < ctx.now + seconds
        await ctx.out(f"Certificate will {'' if late else 'not '}expire\n")
        return int(late)
    if "-noout" not in said:
        await ctx.out(_pem(certificate))
    return 0


async def _source(ctx: Context, name: str) -> tuple[bytes, str]:
    if not name:
        return await read_all(ctx.stdin), "<stdin>"
    try:
        return await ctx.read_file(name), name
    except FileError:
        message = f"Could not open file or uri for loading certificate from {name}"
        raise Failed(f"{message}\nUnable to load certificate") from None


def _read(data: bytes, name: str) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificate(data[max(0, data.find(b"-----BEGIN CERTIFICATE")) :])
    except ValueError:
        raise Failed(f"Could not read certificate from {name}\nUnable to load certificate") from None


async def _s_client(ctx: Context, said: dict[str, str]) -> int:
    host, _, port = said.get("-connect", "localhost:4433").rpartition(":")
    if not port.isdecimal() or len(port) > 5:
        raise Failed("s_client: -connect argument or target parameter malformed or ambiguous")
    try:
        connection = await ctx.dial(host.strip("[]") or "localhost", int(port), HTTPS)
    except NetworkError as error:
        raise Failed(f"connect: {error}\nconnect:errno=111") from None
    listener = connection.peer.listener
    wanted = said.get("-servername", "" if is_address(host.strip("[]")) else host)
    shown = listener.get_certificate(wanted) if listener is not None and listener.protocol == HTTPS else b""
    connection.close()
    await ctx.out("CONNECTED(00000003)\n---\n")
    if not shown:
        await ctx.out("no peer certificate available\n---\n")
        return 0
    try:
        chain = x509.load_pem_x509_certificates(shown)
    except ValueError:
        await ctx.out("no peer certificate available\n---\n")
        return 0
    await ctx.out("Certificate chain\n")
    for number, certificate in enumerate(chain):
        await ctx.out(f" {number} s:{_name(certificate.subject)}\n   i:{_name(certificate.issuer)}\n")
    first = chain[0]
    names = f"subject={_name(first.subject)}\n\nissuer={_name(first.issuer)}\n"
    await ctx.out(f"---\nServer certificate\n{_pem(first)}{names}\n---\n")
    return 0


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(Encoding.PEM).decode()


def _name(name: x509.Name) -> str:
    parts = []
    for attribute in name:
        value = str(attribute.value)
        quoted = f'"{value}"' if any(mark in value for mark in ',+"<>;') else value
        parts.append(f"{SHORT.get(attribute.oid, attribute.oid.dotted_string)} = {quoted}")
    return ", ".join(parts)


def _moment(moment: datetime) -> str:
    utc = moment.astimezone(UTC)
    return f"{MONTHS[utc.month - 1]} {utc.day:2} {utc:%H:%M:%S} {utc.year} GMT"


def _names(certificate: x509.Certificate) -> str:
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return "No extensions matched in certificate\n"
    names = [f"DNS:{name}" for name in found.get_values_for_type(x509.DNSName)]
    names += [f"IP Address:{address}" for address in found.get_values_for_type(x509.IPAddress)]
    return f"X509v3 Subject Alternative Name: \n    {', '.join(names)}\n"


def _serial(number: int) -> str:
    digits = f"{abs(number):X}"
    return ("-" if number < 0 else "") + digits.zfill(len(digits) + len(digits) % 2)


def _begin(certificate: x509.Certificate) -> str:
    return f"notBefore={_moment(certificate.not_valid_before_utc)}\n"


def _end(certificate: x509.Certificate) -> str:
    return f"notAfter={_moment(certificate.not_valid_after_utc)}\n"


SHOWN: Final[dict[str, Callable[[x509.Certificate], str]]] = {
    "-subject": lambda one: f"subject={_name(one.subject)}\n",
    "-issuer": lambda one: f"issuer={_name(one.issuer)}\n",
    "-serial": lambda one: f"serial={_serial(one.serial_number)}\n",
    "-dates": lambda one: _begin(one) + _end(one),
    "-startdate": _begin,
    "-enddate": _end,
}
