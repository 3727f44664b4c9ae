"""The options of ``redis-cli``."""

from __future__ import annotations

from typing import Final
from urllib.parse import unquote

from msgspec import Struct, field

from simcloud.datastores.redis.resp import PORT
from simcloud.datastores.redis.version import VERSION

USAGE: Final = f"""redis-cli {VERSION}

Usage: redis-cli [OPTIONS] [cmd [arg [arg ...]]]
  -h <hostname>      Server hostname (default: 127.0.0.1).
  -p <port>          Server port (default: 6379).
  -a <password>      Password to use when connecting to the server.
                     You can also use the REDISCLI_AUTH environment
                     variable to pass this password more safely
                     (if both are used, this argument takes precedence).
  --user <username>  Used to send ACL style 'AUTH username pass'. Needs -a.
  --pass <password>  Alias of -a for consistency with the new --user option.
  -u <uri>           Server URI.
  -r <repeat>        Execute specified command N times.
  -i <interval>      When -r is used, waits <interval> seconds per command.
                     It is possible to specify sub-second times like -i 0.1.
  -n <db>            Database number.
  -x                 Read last argument from STDIN.
  --raw              Use raw formatting for replies (default when STDOUT is
                     not a tty).
  --no-raw           Force formatted output even when STDOUT is not a tty.
  --latency          Enter a special mode continuously sampling latency.
  --latency-history  Like --latency but tracking latency changes over time.
                     Default time interval is 15 sec. Change it using -i.
  --stat             Print rolling stats about server: mem, clients, ...
  --scan             List all keys using the SCAN command.
  --pattern <pat>    Keys pattern when using the --scan, --bigkeys or --hotkeys
                     options (default: *).
  --no-auth-warning  Don't show warning message when using password on command
                     line interface.
  --help             Output this help and exit.
  --version          Output version and exit.
"""


class BadOption(Exception):
    """An invalid command line; the text says why."""


class Options(Struct):
    """The parsed command line."""

    host: str = "127.0.0.1"
    port: int = PORT
    password: str | None = None
    user: str = ""
    db: int = 0
    repeat: int = 1
    interval_s: float = 0.0
    output: str = ""
    stdin_last: bool = False
    mode: str = ""
    pattern: str = ""
    warn: bool = True
    shown: str | None = None
    words: list[str] = field(default_factory=list)


VALUES: Final = (
    "-h",
    "-p",
    "-a",
    "--pass",
    "--user",
    "-u",
    "-r",
    "-i",
    "-n",
    "--pattern",
    "--intrinsic-latency",
)
MODES: Final = ("--scan", "--latency", "--latency-history", "--stat")
REPEAT_FOREVER: Final = 1_000_000


def parse(words: list[str], password: str | None) -> Options:
    """Read a command line. Raises ``BadOption``."""
    options = Options(password=password)
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        word = words[at]
        if word in VALUES and at + 1 < len(words):
            _value(options, word, words[at + 1])
            at += 1
        elif word == "-x":
            options.stdin_last = True
        elif word in ("--raw", "--no-raw"):
            options.output = word[2:]
        elif word in MODES:
            options.mode = word[2:]
        elif word == "--no-auth-warning":
            options.warn = False
        elif word in ("-v", "--version"):
            options.shown = f"redis-cli {VERSION}\n"
        elif word in ("--help", "-h"):
            options.shown = USAGE
        else:
            raise BadOption(f"Unrecognized option or bad number of args for: '{word}'")
        at += 1
    options.words = words[at:]
    if password is not None and options.password == password:
        options.warn = False
    return options


def _value(options: Options, word: str, value: str) -> None:
    if word == "-h":
        options.host = value
    elif word == "-p":
        options.port = _number(value)
    elif word in ("-a", "--pass"):
        options.password = value
    elif word == "--user":
        options.user = value
    elif word == "-n":
        options.db = _number(value)
    elif word == "-r":
        repeat = _number(value)
        options.repeat = REPEAT_FOREVER if repeat < 0 else repeat
    elif word == "-i":
        options.interval_s = max(0.0, _decimal(value))
    elif word == "--pattern":
        options.pattern = value
    else:
        _address(options, value)


def _address(options: Options, uri: str) -> None:
    scheme, separator, rest = uri.partition("://")
    if not separator or scheme != "redis":
        raise BadOption("Invalid URI scheme")
    login, at, place = rest.rpartition("@")
    if at:
        user, _, password = login.rpartition(":")
        options.user, options.password = unquote(user), unquote(password)
    address, _, db = place.partition("/")
    host, _, port = address.partition(":")
    options.host, options.port = host or options.host, _number(port) if port else options.port
    options.db = _number(db) if db else options.db


def _number(text: str) -> int:
    """As C's atoi reads it: what is no number is 0."""
    digits = text.removeprefix("-")
    return int(text) if digits.isdigit() and len(digits) < 10 else 0


def _decimal(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
