"""nslookup, host and getent: look up names and print short answers."""

from __future__ import annotations

from typing import Final

from simcloud.machine.files import FileError
from simcloud.machine.network import NetworkError, StubResolver, dns, is_address
from simcloud.machine.process import Context
from simcloud.userland.commands.net.names.resolution import (
    CODES,
    NO_ANSWER,
    Answer,
    Server,
    look_up,
    look_up_host,
    name_server,
    reverse_name,
)
from simcloud.userland.commands.options import UsageError, parse
from simcloud.userland.commands.registry import command
from simcloud.userland.commands.system.accounts import Accounts

HOST_USAGE: Final = (
    "Usage: host [-aCdilrTvVw] [-c class] [-N ndots] [-t type] [-W time]\n"
    "            [-R number] [-m flag] [-p port] hostname [server]"
)
GETENT_HINT: Final = "Try `getent --help' or `getent --usage' for more information.\n"
NOT_FOUND: Final = 2


@command("nslookup")
async def nslookup(ctx: Context) -> int:
    """Ask the name server for a name."""
    kind, port, words = "A", "53", []
    for word in ctx.args[1:]:
        if not word.startswith("-"):
            words.append(word)
            continue
        name, _, value = word[1:].partition("=")
        if name in ("type", "querytype", "q", "query", "ty"):
            kind = value.upper()
        elif name == "port":
            port = value
    if not words:
        raise UsageError("nslookup: there is no terminal to ask questions on; give a name")
    server = words[1] if len(words) > 1 else name_server(ctx)
    number = int(port) if port.isdecimal() and port.isascii() and len(port) < 6 else 53
    name = reverse_name(words[0])
    if is_address(words[0]):
        kind = "PTR"
    given = len(words) > 1 or isinstance(ctx.container.namespace.resolver, StubResolver)
    answer = await look_up(ctx, name, kind, Server(server, number) if given else None, search=True)
    await ctx.out("".join(answer.complaints))
    if answer.verdict == NO_ANSWER:
        await ctx.out(f";; {NO_ANSWER}\n\n")
        return 1
    if answer.verdict == "SERVFAIL":
        await ctx.out(f";; Got SERVFAIL reply from {server}\n")
    if kind != "PTR" or answer.verdict != "NOERROR":
        await ctx.out(f"Server:\t\t{server}\nAddress:\t{server}#{port}\n\n")
    if answer.verdict != "NOERROR":
        await ctx.out(f"** server can't find {name}: {answer.verdict}\n\n")
        return 1
    title = "" if answer.authoritative or kind == "PTR" else "Non-authoritative answer:\n"
    if not answer.records:
        await ctx.out(f"{title}*** Can't find {name}: No answer\n\n")
        return 0
    await ctx.out(f"{title}{''.join(_format_record(record, name, answer) for record in answer.records)}\n")
    return 0


def _format_record(record: dns.Record, asked: str, answer: Answer) -> str:
    """One record in nslookup's words."""
    name = record.name if answer.from_server else asked
    if record.kind in ("A", "AAAA"):
        return f"Name:\t{name}\nAddress: {record.data}\n"
    if record.kind == "CNAME":
        return f"{name}\tcanonical name = {record.data}\n"
    if record.kind == "PTR":
        return f"{name}\tname = {record.data}\n"
    words = {"SRV": "service", "TXT": "text", "NS": "nameserver"}.get(record.kind, f"rdata_{record.kind}")
    return f"{name}\t{words} = {record.data}\n"


@command("host")
async def host(ctx: Context) -> int:
    """Print the addresses of a name, in words."""
    try:
        options = parse(ctx.args, "aACc:dilm:N:p:R:rst:TUvVwW:46")
    except UsageError as mistake:
        raise UsageError(f"{str(mistake).partition(chr(10))[0]}\n{HOST_USAGE}") from None
    if not options.operands:
        raise UsageError(HOST_USAGE)
    if len(options.operands) > 1:
        server, port = options.operands[1], options.last("p", default="53")
        await ctx.out(f"Using domain server:\nName: {server}\nAddress: {server}#{port}\nAliases: \n\n")
    asked = options.operands[0]
    name = f"{reverse_name(asked)}." if is_address(asked) else asked
    kind = options.last("t", default="PTR" if is_address(asked) else "A").upper()
    servers = options.operands[1:2]
    chosen = Server(servers[0]) if servers else None
    answer = await look_up(ctx, name if is_address(asked) else name.rstrip("."), kind, chosen, search=True)
    await ctx.out("".join(answer.complaints))
    if answer.verdict == NO_ANSWER:
        await ctx.out(f";; {NO_ANSWER}\n")
        return 1
    if answer.verdict != "NOERROR":
        await ctx.out(f"Host {name} not found: {CODES[answer.verdict]}({answer.verdict})\n")
        return 1
    if not answer.records:
        await ctx.out(f"{name} has no {kind} record\n")
    shown = answer.name if answer.from_server else name
    await ctx.out("".join(_in_words(record, shown) for record in answer.records))
    return 0


def _in_words(record: dns.Record, name: str) -> str:
    """One record in host's words."""
    words = {"A": "has address", "AAAA": "has IPv6 address", "CNAME": "is an alias for"}
    words |= {"PTR": "domain name pointer", "SRV": "has SRV record", "TXT": "descriptive text"}
    owner = name if record.name == dns.plain_name(name) else record.name
    return f"{owner} {words.get(record.kind, f'has {record.kind} record')} {record.data}\n"


@command("getent")
async def getent(ctx: Context) -> int:
    """Print entries of the system's tables: hosts, passwd, group, services."""
    if len(ctx.args) < 2:
        await ctx.err("getent: wrong number of arguments\n")
        await ctx.out(GETENT_HINT)
        return 1
    table, names = ctx.args[1], ctx.args[2:]
    if table in ("hosts", "ahosts", "ahostsv4"):
        return await _hosts(ctx, table, names)
    if table in ("passwd", "group"):
        return await _accounts(ctx, table, names)
    if table == "services":
        return await _services(ctx, names)
    await ctx.err(f"Unknown database: {table}\n")
    await ctx.out(GETENT_HINT)
    return 1


async def _hosts(ctx: Context, table: str, names: list[str]) -> int:
    status = 0
    for name in names:
        try:
            full_name, addresses = await look_up_host(ctx, name)
        except NetworkError:
            status = NOT_FOUND
            continue
        if table == "hosts":
            await ctx.out("".join(f"{address:<15} {full_name}\n" for address in addresses))
        else:
            for number, address in enumerate(addresses):
                label = full_name if number == 0 else ""
                await ctx.out(f"{address:<15} STREAM {label}\n{address:<15} DGRAM  \n{address:<15} RAW    \n")
    return status


async def _accounts(ctx: Context, table: str, names: list[str]) -> int:
    try:
        lines = ctx.files.read(f"/etc/{table}").decode("utf-8", "surrogateescape").splitlines()
    except FileError:
        lines = []
    if not names:
        await ctx.out("".join(f"{line}\n" for line in lines))
        return 0
    accounts, status = Accounts(ctx.files), 0
    for name in names:
        if name.isdecimal():
            known = accounts.user_name if table == "passwd" else accounts.group_name
            name = known(int(name[:18])) or name
        found = [line for line in lines if line.partition(":")[0] == name]
        await ctx.out("".join(f"{line}\n" for line in found[:1]))
        status = status if found else NOT_FOUND
    return status


async def _services(ctx: Context, names: list[str]) -> int:
    try:
        text = ctx.files.read("/etc/services").decode("utf-8", "replace")
    except FileError:
        return NOT_FOUND
    rows = [line.partition("#")[0].split() for line in text.splitlines()]
    rows = [row for row in rows if len(row) > 1]
    status = 0
    for name in names:
        found = [row for row in rows if name in (row[0], row[1].partition("/")[0])][:1]
        await ctx.out("".join(f"{row[0]:<21} {' '.join(row[1:])}\n" for row in found))
        status = status if found else NOT_FOUND
    return status
