"""nslookup of busybox: asks for A and AAAA at once, in every search domain of a short name.

It is not among the commands of a Debian system; images that are built on busybox use it under the name ``nslookup``.
"""

from __future__ import annotations

from typing import Final

from simcloud.machine.network import NetworkError, dns, is_address
from simcloud.machine.process import Context
from simcloud.sim import Task, TimedOut
from simcloud.userland.commands.net.names.resolution import DEFAULT_SERVER, reverse_name, settings_of

TIMEOUT_S: Final = 5.0
KINDS: Final = ("A", "AAAA")


async def busybox_nslookup(ctx: Context) -> int:
    """Ask the name server for a name."""
    kinds: tuple[str, ...] = KINDS
    words = []
    for word in ctx.args[1:]:
        option, _, value = word.partition("=")
        if option in ("-type", "-querytype", "-q"):
            kinds = (value.upper(), *(() if kinds is KINDS else kinds))
        elif not word.startswith("-"):
            words.append(word)
    if not words:
        await ctx.err(
            "BusyBox v1.36.1 multi-call binary.\n\nUsage: nslookup [-type=QUERY_TYPE] HOST [DNS_SERVER]\n"
        )
        return 1
    settings = settings_of(ctx)
    server = words[1] if len(words) > 1 else next(iter(settings.nameservers), DEFAULT_SERVER)
    if not is_address(server):
        await ctx.err(f"nslookup: bad address '{server}'\n")
        return 1
    if is_address(words[0]):
        names, kinds = [reverse_name(words[0])], ("PTR",)
    elif "." in words[0] or not settings.searches:
        names = [words[0]]
    else:
        names = [f"{words[0]}.{domain}" for domain in settings.searches]
    return await _ask_all(
        ctx, server, [dns.Question(dns.plain_name(name), kind) for kind in kinds for name in names]
    )


async def _ask_all(ctx: Context, server: str, questions: list[dns.Question]) -> int:
    """Send every question at once, then print the answers as they are there."""
    tasks: list[Task[dns.Reply | None]] = [
        ctx.spawn(_ask(ctx, server, question), "question") for question in questions
    ]
    replies = [await task.join() for task in tasks]
    if all(reply is None for reply in replies):
        await ctx.out(";; connection timed out; no servers could be reached\n\n")
        return 1
    await ctx.out(f"Server:\t\t{server}\nAddress:\t{server}:53\n\n")
    status = 0
    for question, reply in zip(questions, replies, strict=True):
        if reply is None:
            await ctx.out(f"*** Can't find {question.name}: No answer\n")
            status = 1
        elif reply.code != dns.NOERROR:
            await ctx.out(f"** server can't find {question.name}: {reply.code}\n\n")
            status = 1
        else:
            if reply.answers and not reply.authoritative:
                await ctx.out("Non-authoritative answer:\n")
            await ctx.out("".join(_line(record) for record in reply.answers) + "\n")
    return status


async def _ask(ctx: Context, server: str, question: dns.Question) -> dns.Reply | None:
    try:
        reply: dns.Reply = await dns.ask(
            ctx.container.namespace, server, question, TIMEOUT_S, owner=ctx.process
        )
    except (TimedOut, NetworkError):
        return None
    return reply


def _line(record: dns.Record) -> str:
    if record.kind in KINDS:
        return f"Name:\t{record.name}\nAddress: {record.data}\n"
    if record.kind == "CNAME":
        return f"{record.name}\tcanonical name = {record.data.rstrip('.')}\n"
    if record.kind == "PTR":
        return f"{record.name}\tname = {record.data.rstrip('.')}\n"
    return f"{record.name}\t{record.kind} = {record.data}\n"
