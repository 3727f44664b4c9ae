"""curl: transfer URLs.

Its command line is not getopt's: values of long options never follow an equals sign.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from simcloud.machine.process import Context
from simcloud.userland.commands.net.curl.cookies import CookieJar
from simcloud.userland.commands.net.curl.requests import VERSION
from simcloud.userland.commands.net.curl.transfer import Transfer
from simcloud.userland.commands.options import Options, UsageError
from simcloud.userland.commands.registry import command
from simcloud.userland.commands.system.durations import parse_seconds
from simcloud.userland.commands.text.counts import parse_number

HINT: Final = "curl: try 'curl --help' or 'curl --manual' for more information\n"


@command("curl")
async def curl(ctx: Context) -> int:
    """Fetch what URLs name."""
    options = read_arguments(ctx.args)
    if options.any("version"):
        await ctx.out(
            f"curl {VERSION} (x86_64-pc-linux-gnu) libcurl/{VERSION}\nProtocols: http https telnet\n"
        )
        return 0
    if options.any("help"):
        await ctx.out("Usage: curl [options...] <url>\n")
        return 0
    urls = [*options.all("url"), *options.operands]
    if not urls:
        await ctx.err(HINT)
        return WRONG_USE
    status, jar = 0, _read_cookies(ctx, options)
    for number, text in enumerate(urls):
        transfer = Transfer(ctx, options, jar, text, number)
        status = await transfer.run()
    if options.any("cookie-jar"):
        await transfer.write(options.last("cookie-jar"), jar.format_file().encode())
    return status


def _read_cookies(ctx: Context, options: Options) -> CookieJar:
    """Return the cookies of the files that -b names; a value with an equals sign is a cookie itself."""
    paths = [text for text in options.all("cookie") if "=" not in text]
    jar = CookieJar(is_used=bool(paths) or options.any("cookie-jar"))
    for path in paths:
        if ctx.files.is_file(path) and ctx.files.access(path, "r"):
            text = ctx.files.read(path).decode("utf-8", "replace")
            jar.read(text, ctx.now, without_session=options.any("junk-session-cookies"))
    return jar


WRONG_USE: Final = 2
SHORT: Final = {
    "#": "progress-bar", "0": "http1.0", "4": "ipv4", "6": "ipv6", "A": "user-agent", "b": "cookie",
    "c": "cookie-jar", "d": "data", "D": "dump-header", "e": "referer", "E": "cert", "f": "fail", "F": "form",
    "g": "globoff", "G": "get", "h": "help", "H": "header", "i": "include", "I": "head", "j": "junk-session-cookies",
    "k": "insecure", "K": "config", "L": "location", "m": "max-time", "n": "netrc", "N": "no-buffer", "o": "output",
    "O": "remote-name", "p": "proxytunnel", "q": "disable", "r": "range", "R": "remote-time", "s": "silent",
    "S": "show-error", "T": "upload-file", "u": "user", "U": "proxy-user", "v": "verbose", "V": "version",
    "w": "write-out", "x": "proxy", "X": "request", "z": "time-cond", "Z": "parallel",
}  # fmt: skip
VALUES: Final = frozenset({
    "user-agent", "cookie", "cookie-jar", "data", "data-ascii", "data-binary", "data-raw", "data-urlencode", "json",
    "dump-header", "referer", "cert", "key", "cacert", "capath", "form", "header", "config", "max-time", "connect-timeout",
    "output", "output-dir", "range", "upload-file", "user", "proxy-user", "write-out", "proxy", "request", "time-cond",
    "retry", "retry-delay", "retry-max-time", "resolve", "url", "max-redirs", "noproxy", "interface", "limit-rate",
    "keepalive-time", "ciphers", "unix-socket", "max-filesize", "speed-limit", "speed-time", "oauth2-bearer",
    "connect-to", "dns-servers", "local-port", "stderr",
})  # fmt: skip
FLAGS: Final = frozenset({
    *(name for name in SHORT.values() if name not in VALUES), "anyauth", "basic", "compressed", "create-dirs",
    "fail-early", "fail-with-body", "http1.1", "http2", "http2-prior-knowledge", "location-trusted", "no-keepalive",
    "no-progress-meter", "no-sessionid", "path-as-is", "post301", "post302", "post303", "remote-header-name",
    "remote-name-all", "retry-all-errors", "retry-connrefused", "ssl", "tcp-nodelay", "tlsv1.2", "tlsv1.3",
    "url-query", "no-clobber", "styled-output", "no-styled-output",
})  # fmt: skip
SECONDS: Final = ("max-time", "connect-timeout", "retry-max-time")
COUNTS: Final = ("retry", "retry-delay", "max-redirs")


def read_arguments(args: list[str]) -> Options:
    """Options by their long names, and the URLs as operands."""
    found = Options()
    words = iter(args[1:])
    for word in words:
        if word == "--":
            found.operands.extend(words)
        elif word.startswith("--"):
            _long(found, word, words)
        elif word.startswith("-") and len(word) > 1:
            _short(found, word, words)
        else:
            found.operands.append(word)
    return found


def _long(found: Options, word: str, words: Iterator[str]) -> None:
    name = word[2:]
    known = sorted(VALUES | FLAGS)
    if name not in known:
        matches = [each for each in known if each.startswith(name)]
        if len(matches) != 1:
            raise _wrong(word, "is ambiguous" if matches else "is unknown")
        name = matches[0]
    _take(found, word, name, None, words)


def _short(found: Options, word: str, words: Iterator[str]) -> None:
    for position, letter in enumerate(word[1:], 1):
        name = SHORT.get(letter)
        if name is None:
            raise _wrong(word, "is unknown")
        if name in VALUES:
            _take(found, f"-{letter}", name, word[position + 1 :] or None, words)
            return
        found.given.append((name, ""))


def _take(found: Options, shown: str, name: str, attached: str | None, words: Iterator[str]) -> None:
    value = ""
    if name in VALUES:
        following = attached if attached is not None else next(words, None)
        if following is None:
            raise _wrong(shown, "requires parameter")
        value = following
    seconds = parse_seconds(value) if name in SECONDS else 0.0
    count = parse_number(value) if name in COUNTS else 0
    if seconds is None or count is None:
        raise _wrong(shown, "expected a proper numerical parameter")
    found.given.append((name, value))


def _wrong(option: str, what: str) -> UsageError:
    return UsageError(
        f"curl: option {option}: {what}\ncurl: try 'curl --help' or 'curl --manual' for more information",
        WRONG_USE,
    )
