"""Who and where one is: id, whoami, hostname, uname, env and their like."""

from __future__ import annotations

from aiopslab.machine.proc import KERNEL_RELEASE, KERNEL_VERSION
from aiopslab.machine.process import CommandNotFound, Context, ForkFailed, NotExecutable
from aiopslab.machine.shell.commands.options import UsageError, parse
from aiopslab.machine.shell.commands.registry import command
from aiopslab.machine.shell.commands.system.clock import report_start_failure


def name_of(ctx: Context, number: int, table: str = "/etc/passwd") -> str:
    """The name a user or group number has in the machine's tables; the number itself if none."""
    if ctx.files.is_file(table):
        for line in ctx.files.read(table).decode("utf-8", "replace").splitlines():
            parts = line.split(":")
            if len(parts) > 2 and parts[2] == str(number):
                return parts[0]
    return str(number)


def number_of(ctx: Context, name: str, table: str = "/etc/passwd") -> int | None:
    """The number of a user or group by name, or None."""
    if ctx.files.is_file(table):
        for line in ctx.files.read(table).decode("utf-8", "replace").splitlines():
            parts = line.split(":")
            if len(parts) > 2 and parts[0] == name:
                return int(parts[2])
    return None


@command("whoami")
async def whoami(ctx: Context) -> int:
    """The user's name."""
    parse(ctx.args)
    await ctx.out(f"{name_of(ctx, ctx.files.uid)}\n")
    return 0


@command("id")
async def id(ctx: Context) -> int:
    """User and group numbers and names."""
    options = parse(ctx.args, "ugnrG", ("user", "group", "name", "real", "groups"))
    uid, gid = ctx.files.uid, ctx.files.gid
    if options.operands:
        known = number_of(ctx, options.operands[0])
        if known is None:
            await ctx.err(f"id: '{options.operands[0]}': no such user\n")
            return 1
        uid = gid = known
    user, group = name_of(ctx, uid), name_of(ctx, gid, "/etc/group")
    named = options.any("n", "name")
    if options.any("u", "user"):
        await ctx.out(f"{user if named else uid}\n")
    elif options.any("g", "group", "G", "groups"):
        await ctx.out(f"{group if named else gid}\n")
    else:
        await ctx.out(f"uid={uid}({user}) gid={gid}({group}) groups={gid}({group})\n")
    return 0


@command("groups")
async def groups(ctx: Context) -> int:
    """The names of the user's groups."""
    await ctx.out(f"{name_of(ctx, ctx.files.gid, '/etc/group')}\n")
    return 0


@command("hostname")
async def hostname(ctx: Context) -> int:
    """The host's name or addresses."""
    options = parse(ctx.args, "fsiId", ("fqdn", "short", "ip-address", "all-ip-addresses", "domain"))
    if options.operands:
        await ctx.err("hostname: you must be root to change the host name\n")
        return 1
    if options.any("i", "ip-address"):
        await ctx.out(f"{ctx.container.namespace.address}\n")
    elif options.any("I", "all-ip-addresses"):
        await ctx.out(f"{ctx.container.namespace.address} \n")
    elif options.any("d", "domain"):
        await ctx.out("\n")
    else:
        await ctx.out(f"{ctx.container.hostname}\n")
    return 0


@command("uname")
async def uname(ctx: Context) -> int:
    """Name and version of the system."""
    options = parse(
        ctx.args,
        "asnrvmpio",
        ("all", "kernel-name", "nodename", "kernel-release", "kernel-version", "machine", "operating-system"),
    )
    facts = {
        "s": "Linux",
        "n": ctx.container.hostname,
        "r": KERNEL_RELEASE,
        "v": KERNEL_VERSION,
        "m": "x86_64",
        "p": "unknown",
        "i": "unknown",
        "o": "GNU/Linux",
    }
    long = {"kernel-name": "s", "nodename": "n", "kernel-release": "r", "kernel-version": "v", "machine": "m",
            "operating-system": "o"}  # fmt: skip
    wanted = {long.get(option, option) for option, _ in options.given} or {"s"}
    if wanted & {"a", "all"}:
        wanted = set("snrvmo")
    await ctx.out(" ".join(fact for letter, fact in facts.items() if letter in wanted) + "\n")
    return 0


@command("arch")
async def arch(ctx: Context) -> int:
    """The machine's architecture."""
    await ctx.out("x86_64\n")
    return 0


@command("nproc")
async def nproc(ctx: Context) -> int:
    """How many cores there are."""
    parse(ctx.args, "", ("all", "ignore="))
    await ctx.out(f"{ctx.machine.cpu.cores}\n")
    return 0


@command("tty")
async def tty(ctx: Context) -> int:
    """The terminal's name; there is none."""
    options = parse(ctx.args, "s", ("silent", "quiet"))
    if not options.given:
        await ctx.out("not a tty\n")
    return 1


@command("printenv")
async def printenv(ctx: Context) -> int:
    """Environment variables, all or by name."""
    options = parse(ctx.args, "0", ("null",))
    end = "\0" if options.any("0", "null") else "\n"
    if not options.operands:
        await ctx.out("".join(f"{name}={value}{end}" for name, value in ctx.env.items()))
        return 0
    missing = 0
    for name in options.operands:
        if name in ctx.env:
            await ctx.out(f"{ctx.env[name]}{end}")
        else:
            missing = 1
    return missing


@command("env")
async def env(ctx: Context) -> int:
    """Run a command in a changed environment, or print the environment."""
    options = parse(
        ctx.args,
        "iu:0C:S:",
        ("ignore-environment", "unset=", "null", "chdir=", "split-string="),
        stop_early=True,
    )
    environment = {} if options.any("i", "ignore-environment") else dict(ctx.env)
    for name in options.all("u", "unset"):
        environment.pop(name, None)
    words = [*options.last("S", "split-string").split(), *options.operands]
    if words[:1] == ["-"]:
        environment, words = {}, words[1:]
    while words and "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    if not words:
        end = "\0" if options.any("0", "null") else "\n"
        await ctx.out("".join(f"{name}={value}{end}" for name, value in environment.items()))
        return 0
    folder = options.last("C", "chdir")
    try:
        process = ctx.start(words, env=environment, cwd=folder or None)
    except CommandNotFound:
        await ctx.err(f"env: '{words[0]}': No such file or directory\n")
        return 127
    except (NotExecutable, ForkFailed) as error:
        await ctx.err(f"env: '{words[0]}': {error}\n")
        return 126
    return await process.wait()


@command("which")
async def which(ctx: Context) -> int:
    """Where on the PATH a command is."""
    options = parse(ctx.args, "as")
    missing = 0
    for name in options.operands:
        try:
            path = ctx.container.which(name, ctx.env, ctx.files)
        except (CommandNotFound, NotExecutable):
            path = None
        if path is None:
            missing = 1
        elif not options.any("s"):
            await ctx.out(f"{path}\n")
    return missing if options.operands else 1


@command("nohup", "nice", "ionice", "setsid", "stdbuf", "chrt")
async def run_as_is(ctx: Context) -> int:
    """Run a command; what these change (priority, buffering, hang-up) makes no difference here."""
    name = ctx.args[0].rpartition("/")[2]
    short = {"nice": "n:", "ionice": "c:n:t", "stdbuf": "i:o:e:", "setsid": "fw"}.get(name, "")
    words = parse(
        ctx.args, short, ("adjustment=", "output=", "input=", "error=", "wait"), stop_early=True
    ).operands
    if not words:
        if name == "nice":
            await ctx.out("0\n")
            return 0
        raise UsageError(f"{name}: missing operand\nTry '{name} --help' for more information.", 125)
    try:
        process = ctx.start(words, new_group=name == "setsid")
    except (CommandNotFound, NotExecutable, ForkFailed) as error:
        return await report_start_failure(ctx, words[0], error)
    return await process.wait()


@command("sync")
async def sync(ctx: Context) -> int:
    """Write what is still in memory to disk."""
    paths: list[str] = parse(ctx.args, "df", ("data", "file-system")).operands
    for path in paths:
        ctx.files.sync(path)
    if not paths:
        ctx.files.sync()
    return 0


@command("getconf")
async def getconf(ctx: Context) -> int:
    """A few of the system's constants."""
    values = {"PAGESIZE": "4096", "PAGE_SIZE": "4096", "CLK_TCK": "100", "ARG_MAX": "2097152", "LONG_BIT": "64",
              "_NPROCESSORS_ONLN": str(ctx.machine.cpu.cores), "_NPROCESSORS_CONF": str(ctx.machine.cpu.cores),
              "NAME_MAX": "255", "PATH_MAX": "4096", "OPEN_MAX": str(ctx.container.limits.open_files)}  # fmt: skip
    wanted = ctx.args[1] if len(ctx.args) > 1 else ""
    if wanted not in values:
        await ctx.err(f"getconf: Unrecognized variable `{wanted}'\n")
        return 2
    await ctx.out(f"{values[wanted]}\n")
    return 0
