"""dig: ask the name server, and show all of the answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from aiopslab.machine.network import NetworkError, is_address
from aiopslab.machine.process import Context
from aiopslab.machine.shell.commands.net.names.resolving import Answer, look_up, name_server, reverse_name
from aiopslab.machine.shell.commands.options import UsageError
from aiopslab.machine.shell.commands.registry import command
from aiopslab.machine.shell.commands.system.dates import Moment, format_moment, zone_of

VERSION: Final = "9.18.28-1~deb12u2-Debian"
TYPES: Final = ("A", "AAAA", "ANY", "CNAME", "MX", "NS", "PTR", "SOA", "SRV", "TXT", "CAA", "DS", "AXFR")
CLASSES: Final = ("IN", "CH", "HS")
SECTIONS: Final = ("cmd", "comments", "question", "answer", "authority", "additional", "stats")
OTHER_FLAGS: Final = ("recurse", "search", "tcp", "vc", "edns", "dnssec", "trace", "ttlid", "class", "multiline", "adflag",
                      "cdflag", "cookie", "fail", "identify", "nssearch", "qr", "rrcomments", "sigchase", "topdown", "crypto",
                      "idnout", "idnin", "expire", "nsid", "besteffort", "aaonly", "aaflag", "keepopen", "badcookie")  # fmt: skip
USAGE: Final = """\
Usage:  dig [@global-server] [domain] [q-type] [q-class] {q-opt}
            {global-d-opt} host [@local-server] {local-d-opt}
            [ host [@local-server] {local-d-opt} [...]]

Use "dig -h" (or "dig -h | more") for complete list of options"""
TTL_S: Final = 30


@dataclass
class _Query:
    """What a command line asks."""

    names: list[tuple[str, str]] = field(default_factory=list)
    server: str = ""
    port: int = 53
    short: bool = False
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
    if "cmd" in query.shown and not query.short:
        found = "; (1 server found)\n" if query.server else ""
        words = " ".join(ctx.args[1:])
        await ctx.out(f"\n; <<>> DiG {VERSION} <<>> {words}\n{found};; global options: +cmd\n")
    for name, kind in query.names:
        ctx.spend_turn()
        start = ctx.kernel.now
        answer = await look_up(ctx, name.rstrip(".") or ".", kind)
        if query.short:
            await ctx.out("".join(f"{each}\n" for each in answer.addresses))
        else:
            took_ms = int((ctx.kernel.now - start) * 1e3)
            await ctx.out(
                _report(ctx, query, name, kind, answer, f"{address}#{query.port}({server})", took_ms)
            )
    return 0


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
    name, _, _ = text.partition("=")
    negative = name.startswith("no") and name not in ("nsid", "nssearch")
    plain = name.removeprefix("no") if negative else name
    if plain == "all":
        query.shown = set() if negative else set(SECTIONS)
    elif plain == "short":
        query.short = not negative
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
    text = ""
    if "comments" in query.shown:
        identity = ctx.random("dig").randrange(65_536)
        text += (
            f";; Got answer:\n;; ->>HEADER<<- opcode: QUERY, status: {answer.verdict}, id: {identity}\n"
            f";; flags: qr rd ra; QUERY: 1, ANSWER: {len(answer.addresses)}, AUTHORITY: 0, ADDITIONAL: 1\n\n"
            ";; OPT PSEUDOSECTION:\n; EDNS: version: 0, flags:; udp: 1232\n"
        )
    if "question" in query.shown:
        title = ";; QUESTION SECTION:\n" if "comments" in query.shown else ""
        text += f"{title};{_tabbed(full, 31)}IN\t{kind}\n\n"
    if answer.addresses and "answer" in query.shown:
        title = ";; ANSWER SECTION:\n" if "comments" in query.shown else ""
        rows = "".join(f"{_tabbed(full, 24)}{TTL_S}\tIN\tA\t{each}\n" for each in answer.addresses)
        text += f"{title}{rows}" + ("\n" if "comments" in query.shown else "")
    if "stats" in query.shown:
        when = format_moment(Moment.of(ctx.now), "%a %b %d %H:%M:%S %Z %Y", zone_of(ctx.env))
        size = 12 + len(full) + 1 + 4 + 16 * len(answer.addresses) + 11
        text += f";; Query time: {took_ms} msec\n;; SERVER: {server} (UDP)\n;; WHEN: {when}\n;; MSG SIZE  rcvd: {size}\n\n"
    return text


def _tabbed(text: str, column: int) -> str:
    """A text and as many tabs as lead to a column, one at least."""
    tabs = max(1, -(-(column - len(text)) // 8))
    return text + "\t" * tabs
