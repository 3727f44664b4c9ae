"""The options of memcached's command line."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from simcloud.datastores.memcached.messages import PORT
from simcloud.datastores.memcached.slabs import PAGE_BYTES
from simcloud.userland.commands import Options, UsageError, parse

VERSION: Final = "1.6.18"
OPTIONS: Final = "a:Ap:s:U:m:Mc:khirvdl:u:P:f:n:t:D:LR:CVb:B:I:SFXWY:e:o:N:"
LONG_OPTIONS: Final = (
    "port=", "udp-port=", "unix-socket=", "unix-mask=", "enable-shutdown", "listen=", "daemon", "enable-coredumps",
    "user=", "memory-limit=", "disable-evictions", "conn-limit=", "lock-memory", "verbose", "help", "license",
    "version", "pidfile=", "slab-growth-factor=", "slab-min-size=", "enable-largepages", "threads=",
    "max-reqs-per-event=", "disable-cas", "listen-backlog=", "protocol=", "max-item-size=", "enable-sasl",
    "disable-flush-all", "disable-dumping", "disable-watch", "auth-file=", "memory-file=", "extended=", "napi-ids=",
)  # fmt: skip
BAD_ARGUMENT: Final = 1
USAGE: Final = 64
OS_ERROR: Final = 71
UNITS: Final = {"k": 1024, "m": 1024**2}


class Settings(Struct):
    """The options that have an effect here."""

    port: int = PORT
    limit_bytes: int = 64 * PAGE_BYTES
    item_max_bytes: int = PAGE_BYTES
    max_connections: int = 1024
    threads: int = 4
    verbosity: int = 0
    evicts: bool = True
    listen: str = ""
    user: str = ""
    shown: str = ""
    version: str = VERSION

    @property
    def addresses(self) -> list[str]:
        """Where to listen: everywhere, or at the addresses of ``-l``; with port 0 nowhere."""
        if self.port == 0:
            return []
        words = self.listen.split(",") if self.listen else ["0.0.0.0"]
        return ["127.0.0.1" if word == "localhost" else word for word in words]


class BadOption(Exception):
    """An invalid command line; the text goes to stderr."""

    def __init__(self, text: str, status: int = USAGE) -> None:
        super().__init__(text)
        self.status = status


def read_options(args: list[str], version: str = VERSION) -> Settings:
    """Parse a command line. Raise ``BadOption`` if it is invalid."""
    try:
        options = parse(args, OPTIONS, LONG_OPTIONS)
    except UsageError as mistake:
        complaint = str(mistake).partition("\n")[0]
        raise BadOption(f'{complaint}\nIllegal argument "?"', BAD_ARGUMENT) from None
    settings = Settings(version=version)
    settings.verbosity = sum(option in ("v", "verbose") for option, _ in options.given)
    settings.evicts = not options.any("M", "disable-evictions")
    settings.user = options.last("u", "user")
    settings.listen = options.last("l", "listen")
    if options.any("V", "version", "h", "help"):
        settings.shown = f"memcached {version}\n"
    settings.port = _number(options, ("p", "port"), settings.port)
    settings.threads = _number(options, ("t", "threads"), settings.threads)
    if settings.threads <= 0:
        raise BadOption("Number of threads must be greater than 0", BAD_ARGUMENT)
    settings.max_connections = _number(options, ("c", "conn-limit"), settings.max_connections)
    if settings.max_connections <= 0:
        raise BadOption("Maximum connections must be greater than 0", BAD_ARGUMENT)
    settings.limit_bytes = _number(options, ("m", "memory-limit"), 64) * PAGE_BYTES
    settings.item_max_bytes = _item_size(options.last("I", "max-item-size", default="1m"))
    if settings.item_max_bytes < 1024:
        raise BadOption("Item max size cannot be less than 1024 bytes.")
    if settings.item_max_bytes > settings.limit_bytes // 2:
        raise BadOption("Cannot set item size limit higher than 1/2 of memory max.")
    if settings.item_max_bytes > 1024**3:
        raise BadOption("Cannot set item size limit higher than a gigabyte.")
    return settings


def _number(options: Options, names: tuple[str, str], default: int) -> int:
    """Return a number as ``atoi`` reads it: what is none is 0."""
    if not options.any(*names):
        return default
    digits = options.last(*names).strip()
    length = next((at for at, letter in enumerate(digits) if letter not in "0123456789"), len(digits))
    return int(digits[: min(length, 9)] or "0")


def _item_size(text: str) -> int:
    unit = UNITS.get(text[-1:].lower(), 1)
    digits = text if unit == 1 else text[:-1]
    return int(digits[:9]) * unit if digits.isascii() and digits.isdigit() else 0
