"""Looking up names: dig, nslookup, host, getent."""

from __future__ import annotations

from datetime import UTC, datetime

from aiopslab.machine.network import NameNotFound, ResolverFailure
from aiopslab.machine.process import Context
from aiopslab.machine.shell.commands.registry import command

VERSION = "9.18.28-1~deb12u2-Debian"


def _nameserver(ctx: Context) -> str:
    if ctx.files.is_file("/etc/resolv.conf"):
        for line in ctx.files.read("/etc/resolv.conf").decode("utf-8", "replace").splitlines():
            words = line.split()
            if len(words) > 1 and words[0] == "nameserver":
                return words[1]
    return "127.0.0.53"


async def _look_up(ctx: Context, name: str) -> tuple[list[str], str]:
    """Addresses and a verdict: NOERROR, NXDOMAIN or SERVFAIL."""
    try:
        return await ctx.container.namespace.resolve(name), "NOERROR"
    except NameNotFound:
        return [], "NXDOMAIN"
    except ResolverFailure:
        return [], "SERVFAIL"


@command("nslookup")
async def nslookup(ctx: Context) -> int:
    """Ask the name server for a name."""
    words = [word for word in ctx.args[1:] if not word.startswith("-")]
    if not words:
        await ctx.err("nslookup: there is no terminal to ask questions on; give a name\n")
        return 1
    server = words[1] if len(words) > 1 else _nameserver(ctx)
    addresses, verdict = await _look_up(ctx, words[0])
    await ctx.out(f"Server:\t\t{server}\nAddress:\t{server}#53\n\n")
    if verdict != "NOERROR":
        await ctx.out(f"** server can't find {words[0]}: {verdict}\n\n")
        return 1
    await ctx.out("".join(f"Name:\t{words[0]}\nAddress: {address}\n" for address in addresses) + "\n")
    return 0


@command("host")
async def host(ctx: Context) -> int:
    """The addresses of a name, in words."""
    words = [word for word in ctx.args[1:] if not word.startswith("-")]
    if not words:
        await ctx.err("Usage: host name [server]\n")
        return 1
    addresses, verdict = await _look_up(ctx, words[0])
    if verdict != "NOERROR":
        code = {"NXDOMAIN": 3, "SERVFAIL": 2}[verdict]
        await ctx.out(f"Host {words[0]} not found: {code}({verdict})\n")
        return 1
    await ctx.out("".join(f"{words[0]} has address {address}\n" for address in addresses))
    return 0


@command("getent")
async def getent(ctx: Context) -> int:
    """Entries of the system's tables: hosts, passwd, group."""
    table, names = (ctx.args[1] if len(ctx.args) > 1 else ""), ctx.args[2:]
    if table in ("hosts", "ahosts", "ahostsv4"):
        for name in names:
            addresses, _ = await _look_up(ctx, name)
            if not addresses:
                return 2
            await ctx.out("".join(f"{address:<15} {name}\n" for address in addresses[:1]))
        return 0
    if table in ("passwd", "group"):
        lines = ctx.files.read(f"/etc/{table}").decode("utf-8", "replace").splitlines()
        found = [line for line in lines if not names or line.split(":")[0] in names]
        await ctx.out("".join(f"{line}\n" for line in found))
        return 0 if found else 2
    await ctx.err(
        f"Unknown database: {table}\nTry `getent --help' or `getent --usage' for more information.\n"
    )
    return 1


@command("dig")
async def dig(ctx: Context) -> int:
    """Ask the name server, and show all of the answer."""
    flags = [word for word in ctx.args[1:] if word.startswith("+")]
    server = next((word[1:] for word in ctx.args[1:] if word.startswith("@")), _nameserver(ctx))
    words = [word for word in ctx.args[1:] if word[:1] not in "+-@"]
    types = [
        word for word in words if word.upper() in ("A", "AAAA", "SRV", "MX", "TXT", "NS", "CNAME", "ANY")
    ]
    names = [word for word in words if word not in types]
    name = names[0] if names else "."
    kind = types[0].upper() if types else "A"
    start = ctx.kernel.now
    addresses, verdict = await _look_up(ctx, name)
    addresses = addresses if kind in ("A", "ANY") else []
    if "+short" in flags:
        await ctx.out("".join(f"{address}\n" for address in addresses))
        return 0
    full = name.rstrip(".") + "."
    answers = [f"{full}\t\t30\tIN\tA\t{address}" for address in addresses]
    if "+noall" in flags and "+answer" in flags:
        await ctx.out("".join(f"{answer}\n" for answer in answers))
        return 0
    identity = ctx.random("dig").randrange(65_536)
    when = datetime.fromtimestamp(ctx.now, UTC).strftime("%a %b %d %H:%M:%S UTC %Y")
    sections = f"\n;; ANSWER SECTION:\n{chr(10).join(answers)}\n" if answers else ""
    await ctx.out(
        f"\n; <<>> DiG {VERSION} <<>> {' '.join(ctx.args[1:])}\n;; global options: +cmd\n;; Got answer:\n"
        f";; ->>HEADER<<- opcode: QUERY, status: {verdict}, id: {identity}\n"
        f";; flags: qr rd ra; QUERY: 1, ANSWER: {len(answers)}, AUTHORITY: 0, ADDITIONAL: 1\n\n"
        ";; OPT PSEUDOSECTION:\n; EDNS: version: 0, flags:; udp: 1232\n"
        f";; QUESTION SECTION:\n;{full}\t\t\tIN\t{kind}\n{sections}\n"
        f";; Query time: {int((ctx.kernel.now - start) * 1e3)} msec\n;; SERVER: {server}#53({server}) (UDP)\n"
        f";; WHEN: {when}\n;; MSG SIZE  rcvd: {40 + 16 * len(answers) + len(name)}\n\n"
    )
    return 0
