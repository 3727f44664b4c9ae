"""Identity of the user and the machine: id, whoami, groups, hostname, uname, nproc, tty."""

from __future__ import annotations

from typing import Final

from simcloud.machine.proc import KERNEL_VERSION
from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.system.accounts import Accounts
from simcloud.userland.commands.text.counts import parse_number
from simcloud.userland.commands.text.quoting import quote
from simcloud.userland.commands.text.tool import at_most, fail, misuse, tool

UNAME_LETTERS: Final = "snrvmpio"


@tool("whoami", usage="[OPTION]...")
async def whoami(ctx: Context, options: Options) -> int:
    """Print the name of the user."""
    at_most(ctx, options.operands, 0)
    name = Accounts(ctx.files).user_name(ctx.files.uid)
    if name is None:
        fail(ctx, f"cannot find name for user ID {ctx.files.uid}")
    await ctx.out(f"{name}\n")
    return 0


@tool("id", options="a G,groups g,group n,name r,real u,user z,zero Z,context", usage="[OPTION]... [USER]...")
async def id(ctx: Context, options: Options) -> int:
    """Print the numbers and names of a user and its groups."""
    chosen = [option for option in ("u", "g", "G") if options.any(option)]
    if len(chosen) > 1:
        fail(ctx, 'cannot print "only" of more than one choice')
    if not chosen and options.any("n", "r"):
        fail(ctx, "cannot print only names or real IDs in default format")
    if not chosen and options.any("z"):
        fail(ctx, "option --zero not permitted in default format")
    accounts, status = Accounts(ctx.files), 0
    for name in options.operands or [""]:
        uid, gid = ctx.files.uid, ctx.files.gid
        if options.operands:
            user = accounts.find_user(name)
            if user is None:
                await ctx.err(f"{ctx.args[0]}: {quote(name)}: no such user\n")
                status = 1
                continue
            uid, gid = user.uid, user.gid
        await ctx.out(_describe(accounts, uid, gid, chosen[0] if chosen else "", options))
    return status


def _describe(accounts: Accounts, uid: int, gid: int, chosen: str, options: Options) -> str:
    named = options.any("n")
    groups = accounts.groups_of(accounts.user(uid), gid)
    end = "\0" if options.any("z") else "\n"
    if chosen == "u":
        return (accounts.user(uid) if named else str(uid)) + end
    if chosen:
        wanted = groups if chosen == "G" else groups[:1]
        gap = "\0" if options.any("z") else " "
        return gap.join(accounts.group(number) if named else str(number) for number in wanted) + end
    user, group = accounts.user_name(uid), accounts.group_name(gid)
    listed = ",".join(_with_name(number, accounts.group_name(number)) for number in groups)
    return f"uid={_with_name(uid, user)} gid={_with_name(gid, group)} groups={listed}\n"


def _with_name(number: int, name: str | None) -> str:
    return str(number) if name is None else f"{number}({name})"


@tool("groups", usage="[OPTION]... [USERNAME]...")
async def groups(ctx: Context, options: Options) -> int:
    """Print the names of a user's groups."""
    accounts, status = Accounts(ctx.files), 0
    if not options.operands:
        numbers = accounts.groups_of(accounts.user(ctx.files.uid), ctx.files.gid)
        await ctx.out(" ".join(map(accounts.group, numbers)) + "\n")
    for name in options.operands:
        user = accounts.find_user(name)
        if user is None:
            await ctx.err(f"{ctx.args[0]}: {quote(name)}: no such user\n")
            status = 1
        else:
            await ctx.out(f"{name} : {' '.join(map(accounts.group, accounts.groups_of(name, user.gid)))}\n")
    return status


@tool(
    "hostname",
    options="a,alias A,all-fqdns b,boot d,domain f,fqdn,long F,file= i,ip-address I,all-ip-addresses s,short y,yp,nis",
    usage="[-b] {hostname|-F file}         set host name (from file)",
    version="3.23",
    try_help="",
)
async def hostname(ctx: Context, options: Options) -> int:
    """Print the name of the host, or its addresses."""
    if options.operands or options.any("F"):
        fail(ctx, "you must be root to change the host name")
    namespace, name = ctx.container.namespace, ctx.container.hostname
    if options.any("i"):
        text = namespace.address
    elif options.any("I"):
        text = f"{namespace.address} "
    elif options.any("d"):
        text = name.partition(".")[2]
        if not text:
            return 0
    elif options.any("a"):
        text = ""
    else:
        text = name.partition(".")[0] if options.any("s") else name
    await ctx.out(f"{text}\n")
    return 0


@tool(
    "uname",
    options="a,all s,kernel-name,sysname n,nodename r,kernel-release,release v,kernel-version m,machine p,processor "
    "i,hardware-platform o,operating-system",
    usage="[OPTION]...",
)
async def uname(ctx: Context, options: Options) -> int:
    """Print the name and version of the system."""
    at_most(ctx, options.operands, 0)
    facts = dict(
        zip(
            UNAME_LETTERS,
            (
                "Linux",
                ctx.container.hostname,
                ctx.machine.kernel_release,
                KERNEL_VERSION,
                "x86_64",
                "unknown",
                "unknown",
                "GNU/Linux",
            ),
            strict=True,
        )
    )
    wanted = {option for option, _ in options.given} or {"s"}
    if "a" in wanted:
        wanted = {letter for letter, fact in facts.items() if fact != "unknown"}
    await ctx.out(" ".join(fact for letter, fact in facts.items() if letter in wanted) + "\n")
    return 0


@tool("nproc", options="all ignore=", usage="[OPTION]...")
async def nproc(ctx: Context, options: Options) -> int:
    """Print how many processing units there are."""
    at_most(ctx, options.operands, 0)
    ignored = parse_number(options.last("ignore", default="0"))
    if ignored is None or ignored < 0:
        fail(ctx, f"invalid number: {quote(options.last('ignore'))}")
    await ctx.out(f"{max(1, ctx.machine.cpu.cores - ignored)}\n")
    return 0


@tool("tty", options="s,silent,quiet", usage="[OPTION]...", trouble=2)
async def tty(ctx: Context, options: Options) -> int:
    """Print the name of the terminal on standard input."""
    if options.operands:
        misuse(ctx, f"extra operand {quote(options.operands[0])}", 2)
    known = ctx.stdin.isatty
    if not options.any("s"):
        await ctx.out("/dev/pts/0\n" if known else "not a tty\n")
    return 0 if known else 1
