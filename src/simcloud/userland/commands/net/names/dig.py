"""dig: query a name server and print the whole answer."""

from __future__ import annotations

from typing import Final

from msgspec import Struct, field

from simcloud.machine.network import NetworkError, StubResolver, is_address
from simcloud.machine.process import Context
from simcloud.userland.commands.net.names.resolution import (
    NO_ANSWER,
    TIMEOUT_S,
    TRIES,
    Answer,
    Server,
    look_up,
    name_server,
    reverse_name,
)
from simcloud.userland.commands.options import UsageError
from simcloud.userland.commands.registry import command
from simcloud.userland.commands.system.dates import Moment, format_moment, zone_of

VERSION: Final = "9.18.28-1~deb12u2-Debian"
TYPES: Final = ("A", "AAAA", "ANY", "CNAME", "MX", "NS", "PTR", "SOA", "SRV", "TXT", "CAA", "DS", "AXFR")
CLASSES: Final = ("IN", "CH", "HS")
SECTIONS: Final = ("cmd", "comments", "question", "answer", "authority", "additional", "stats")
OTHER_FLAGS: Final = ("recurse", "tcp", "vc", "edns", "dnssec", "trace", "ttlid", "class", "multiline", "adflag",
                      "cdflag", "cookie", "fail", "identify", "nssearch", "qr", "rrcomments", "sigchase", "topdown", "crypto",
                      "idnout", "idnin", "expire", "nsid", "besteffort", "aaonly", "aaflag", "keepopen", "badcookie")  # fmt: skip
USAGE: Final = """\
Usage:  dig [@global-server] [domain] [q-type] [q-class] {q-opt}
            {global-d-opt} host [@local-server] {local-d-opt}
            [ host [@local-server] {local-d-opt} [...]]

Use "dig -h" (or "dig -h | more") for complete list of options"""
NO_SERVER: Final = 9


class _Query(Struct):
    """The parsed command line."""

    names: list[tuple[str, str]] = field(default_factory=list)
    server: str = ""
    port: int = 53
    short: bool = False
    searches: bool = False
    timeout_s: float = TIMEOUT_S
    tries: int = TRIES
    shown: set[str] = field(default_factory=lambda: set(SECTIONS))


@command("dig")
async def dig(ctx: Context) -> int:
    """Ask the name server for names."""
    query = _read(ctx.args[1:])
    server = query.server or name_server(ctx)
    address = server
    if not is_address(server):
        try:
            address = (await ctx.container.namespace.resolve(server))[0]
        except NetworkError:
            raise UsageError(f"dig: couldn't get address for '{server}': not found") from None
    found = "; (1 server found)\n" if query.server else ""
    words = " ".join(ctx.args[1:])
    head = f"\n; <<>> DiG {VERSION} <<>> {words}\n{found};; global options: +cmd\n"
    if "cmd" not in query.shown or query.short:
        head = ""
    status = 0
    for name, kind in query.names:
        ctx.spend_turn()
        start = ctx.kernel.now
        asked = None
        if query.server or isinstance(ctx.container.namespace.resolver, StubResolver):
            asked = Server(address, query.port, query.timeout_s, query.tries)
        answer = await look_up(ctx, name.rstrip(".") or ".", kind, asked, search=query.searches)
        await ctx.out("".join(answer.complaints) + head)
        head = ""
        if answer.verdict == NO_ANSWER:
            await ctx.out(f";; {NO_ANSWER}\n\n")
            status = NO_SERVER
        elif query.short:
            await ctx.out("".join(f"{each.data}\n" for each in answer.records))
        else:
            took_ms = int((ctx.kernel.now - start) * 1e3)
            await ctx.out(
                _report(ctx, query, name, kind, answer, f"{address}#{query.port}({server})", took_ms)
            )
    return status


def _read(words: list[str]) -> _Query:
    query, kind, names = _Query(), "", []
    rest = iter(words)
    for word in rest:
        if word.startswith("@"):
            query.server = word[1:]
        elif word.startswith("+"):
            _flag(query, word[1:])
        elif word in ("-t", "-q", "-p", "-c", "-b", "-k", "-x", "-y", "-f"):
            value = next(rest, "")
            if word == "-t":
                kind = value.upper()
            elif word == "-x":
                names.append((reverse_name(value), "PTR"))
            elif word == "-q":
                names.append((value, ""))
            elif word == "-p":
                query.port = int(value) if value.isdecimal() and value.isascii() and len(value) < 6 else 53
        elif word in ("-4", "-6", "-u", "-r", "-m"):
            continue
        elif word.startswith("-"):
            raise UsageError(f"Invalid option: {word}\n{USAGE}")
        elif word.upper() in TYPES:
            kind = word.upper()
        elif word.upper() not in CLASSES:
            names.append((word, ""))
    query.names = [(name, own or kind or "A") for name, own in names] or [(".", kind or "NS")]
    return query


def _flag(query: _Query, text: str) -> None:
    name, _, value = text.partition("=")
    negative = name.startswith("no") and name not in ("nsid", "nssearch")
    plain = name.removeprefix("no") if negative else name
    if plain == "all":
        query.shown = set() if negative else set(SECTIONS)
    elif plain == "short":
        query.short = not negative
    elif plain == "search":
        query.searches = not negative
    elif plain in ("time", "timeout", "tries", "retry") and value.isdecimal() and value.isascii():
        number = max(1, min(int(value[:4]), 300))
        if plain in ("time", "timeout"):
            query.timeout_s = float(number)
        else:
            query.tries = number if plain == "tries" else number + 1
    elif plain in SECTIONS:
        (query.shown.discard if negative else query.shown.add)(plain)
    elif plain not in (
        *OTHER_FLAGS,
        "time",
        "timeout",
        "tries",
        "retry",
        "bufsize",
        "ndots",
        "domain",
        "subnet",
        "split",
    ):
        raise UsageError(f"Invalid option: +{text}\n{USAGE}")


def _report(
    ctx: Context, query: _Query, name: str, kind: str, answer: Answer, server: str, took_ms: int
) -> str:
    full = name.rstrip(".") + "."
    comments = "comments" in query.shown
    text = ""
    if comments:
        identity = ctx.random("dig").randrange(65_536)
        flags = "qr aa rd" if answer.authoritative else "qr rd ra"
        missing = ";; WARNING: recursion requested but not available\n" if answer.authoritative else ""
        text += (
            f";; Got answer:\n;; ->>HEADER<<- opcode: QUERY, status: {answer.verdict}, id: {identity}\n"
            f";; flags: {flags}; QUERY: 1, ANSWER: {len(answer.records)}, "
            f"AUTHORITY: {len(answer.authority)}, ADDITIONAL: 1\n{missing}\n"
            ";; OPT PSEUDOSECTION:\n; EDNS: version: 0, flags:; udp: 1232\n"
        )
    if "question" in query.shown:
        title = ";; QUESTION SECTION:\n" if comments else ""
        text += f"{title};{_add_tabs(full, 31)}IN\t{kind}\n\n"
    for section, records in (("answer", answer.records), ("authority", answer.authority)):
        if records and section in query.shown:
            title = f";; {section.upper()} SECTION:\n" if comments else ""
            rows = "".join(
                f"{_add_tabs(f'{each.name}.', 24)}{each.ttl_s}\tIN\t{each.kind}\t{each.data}\n"
                for each in records
            )
            text += f"{title}{rows}" + ("\n" if comments else "")
    if "stats" in query.shown:
        when = format_moment(Moment.of(ctx.now), "%a %b %d %H:%M:%S %Z %Y", zone_of(ctx.env))
        size = 12 + len(full) + 1 + 4 + 16 * len(answer.records) + 11
        text += f";; Query time: {took_ms} msec\n;; SERVER: {server} (UDP)\n;; WHEN: {when}\n;; MSG SIZE  rcvd: {size}\n\n"
    return text


def _add_tabs(text: str, column: int) -> str:
    """A text and as many tabs as lead to a column, one at least."""
    tabs = max(1, -(-(column - len(text)) // 8))
    return text + "\t" * tabs
