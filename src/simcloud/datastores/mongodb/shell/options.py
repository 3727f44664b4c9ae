"""The command lines and connection strings of both shells."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl, unquote

from msgspec import Struct, field

from simcloud.datastores.mongodb.wire import PORT

_WITH_VALUE: Final = {
    "--host": "host",
    "--port": "port",
    "--username": "user",
    "-u": "user",
    "--password": "password",
    "-p": "password",
    "--authenticationDatabase": "auth_db",
    "--authenticationMechanism": "mechanism",
    "--eval": "eval",
    "--file": "file",
    "-f": "file",
    "--tlsCAFile": "ca_file",
    "--sslCAFile": "ca_file",
    "--tlsCertificateKeyFile": "key_file",
    "--sslPEMKeyFile": "key_file",
    "--readMode": "ignored",
    "--retryWrites": "ignored",
    "--networkMessageCompressors": "ignored",
    "--apiVersion": "ignored",
}
_SWITCHES: Final = {
    "--quiet": "quiet",
    "--nodb": "nodb",
    "--norc": "norc",
    "--shell": "shell",
    "--tls": "tls",
    "--ssl": "tls",
    "--tlsAllowInvalidCertificates": "allow_invalid",
    "--sslAllowInvalidCertificates": "allow_invalid",
    "--tlsAllowInvalidHostnames": "allow_invalid_names",
    "--sslAllowInvalidHostnames": "allow_invalid_names",
    "--version": "version",
    "--help": "help",
    "-h": "help",
    "--verbose": "verbose",
    "--ipv6": "ipv6",
    "--json": "json",
}
_OPTIONAL_VALUE: Final = ("-p", "--password")


class BadCommandLine(Exception):
    """An invalid command line; the text is the error message."""


class Address(Struct):
    """The server and the credentials of a connection."""

    host: str = "127.0.0.1"
    port: int = PORT
    db: str = ""
    user: str = ""
    password: str | None = None
    auth_db: str = ""
    tls: bool = False
    ca_file: str = ""
    any_certificate: bool = False
    any_name: bool = False


class Options(Struct):
    """The parsed command line."""

    address: Address = field(default_factory=Address)
    evals: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    switches: dict[str, bool] = field(default_factory=dict)
    mechanism: str = ""
    ask_password: bool = False

    def has(self, switch: str) -> bool:
        """Return whether a switch was given."""
        return switch in self.switches

    @property
    def interactive(self) -> bool:
        """Whether it reads what to do from its input."""
        return self.has("shell") or not (self.evals or self.files)


def parse_options(args: list[str], unknown: str) -> Options:
    """Parse a command line; ``unknown`` is the shell's error message for an unknown option."""
    options = Options()
    values: dict[str, str] = {}
    plain: list[str] = []
    index = 0
    while index < len(args):
        arg = args[index]
        index += 1
        if not arg.startswith("-") or arg == "-":
            plain.append(arg)
            continue
        name, joined, value = arg.partition("=") if arg.startswith("--") else (arg[:2], arg[2:], arg[2:])
        if name in _SWITCHES:
            options.switches[_SWITCHES[name]] = True
        elif name not in _WITH_VALUE:
            raise BadCommandLine(unknown.format(name=arg.partition("=")[0]))
        else:
            if not joined:
                if index < len(args) and (name not in _OPTIONAL_VALUE or not args[index].startswith("-")):
                    value = args[index]
                    index += 1
                elif name in _OPTIONAL_VALUE:
                    options.ask_password = True
                    continue
                else:
                    raise BadCommandLine(f"the required argument for option '{name}' is missing")
            _take(options, values, _WITH_VALUE[name], value)
    _place(options, values, plain)
    return options


def _take(options: Options, values: dict[str, str], name: str, value: str) -> None:
    if name == "eval":
        options.evals.append(value)
    elif name == "file":
        options.files.append(value)
    else:
        values[name] = value


def _place(options: Options, values: dict[str, str], plain: list[str]) -> None:
    if plain and not plain[0].endswith((".js", ".mongodb")):
        options.address = parse_address(plain.pop(0))
    options.files[:0] = plain
    address = options.address
    if "host" in values:
        given = parse_address(values["host"] if "://" in values["host"] else values["host"] + "/")
        address.host, address.port = given.host, given.port
        address.db = address.db or given.db
    if "port" in values:
        if not values["port"].isdecimal() or not 0 < int(values["port"]) < 65536:
            raise BadCommandLine(f"Bad digit in port number: {values['port']}")
        address.port = int(values["port"])
    address.user = values.get("user", address.user)
    address.password = values.get("password", address.password)
    address.auth_db = values.get("auth_db", address.auth_db)
    address.tls = address.tls or options.has("tls")
    address.ca_file = values.get("ca_file", address.ca_file)
    address.any_certificate = address.any_certificate or options.has("allow_invalid")
    address.any_name = address.any_name or options.has("allow_invalid_names")
    options.mechanism = values.get("mechanism", "")


def parse_address(text: str) -> Address:
    """Read ``db``, ``host/db``, ``host:port/db`` or a ``mongodb://`` address."""
    found = Address()
    if "://" not in text:
        place, slash, db = text.rpartition("/")
        found.db = db
        if slash:
            _set_place(found, place)
        elif ":" in text:
            found.db = ""
            _set_place(found, text)
        return found
    scheme, _, rest = text.partition("://")
    if scheme not in ("mongodb", "mongodb+srv"):
        raise BadCommandLine(f"FailedToParse: Invalid scheme {scheme}")
    rest, _, query = rest.partition("?")
    place, _, found.db = rest.partition("/")
    login, at, place = place.rpartition("@")
    if at:
        user, colon, password = login.partition(":")
        found.user = unquote(user)
        found.password = unquote(password) if colon else None
    _set_place(found, place.split(",")[0])
    for name, value in parse_qsl(query):
        if name.lower() == "authsource":
            found.auth_db = value
        elif name.lower() in ("tls", "ssl"):
            found.tls = value == "true"
        elif name.lower() == "tlscafile":
            found.ca_file = value
        elif name.lower() in ("tlsallowinvalidcertificates", "tlsinsecure"):
            found.any_certificate = value == "true"
        elif name.lower() == "tlsallowinvalidhostnames":
            found.any_name = value == "true"
    return found


def _set_place(address: Address, place: str) -> None:
    place = place.split(",", maxsplit=1)[0].rpartition("/")[2]
    host, _, port = place.partition(":")
    address.host = host or "127.0.0.1"
    if port:
        if not port.isdecimal() or not 0 < int(port) < 65536:
            raise BadCommandLine(f"Bad digit in port number: {port}")
        address.port = int(port)
