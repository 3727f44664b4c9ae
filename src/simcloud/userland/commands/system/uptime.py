"""uptime, w and who: the time since the start of the machine, its load, and who is logged on."""

from __future__ import annotations

from simcloud.machine.process import Context, Process
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.system.dates import Moment, format_moment, zone_of
from simcloud.userland.commands.text.tool import tool

PROCPS = "from procps-ng 4.0.2"
HELP = "\nUsage:\n {name} [options]\n\nFor more details see {name}(1)."


@tool("uptime", options="p,pretty s,since", usage="[options]", version=PROCPS, try_help=HELP)
async def uptime(ctx: Context, options: Options) -> int:
    """Tell how long the system has been running."""
    up_s = int(ctx.kernel.now - ctx.machine.booted_at)
    if options.any("s"):
        await ctx.out(format_moment(Moment.of(ctx.now - up_s), "%Y-%m-%d %H:%M:%S", zone_of(ctx.env)) + "\n")
    elif options.any("p"):
        await ctx.out(f"up {_pretty(up_s)}\n")
    else:
        await ctx.out(f" {uptime_line(ctx)}\n")
    return 0


@tool("w", options="f,from h,no-header i,ip-addr o,old-style p,pids s,short u,no-current", usage="[options] [user]",
      version=PROCPS, try_help=HELP)  # fmt: skip
async def w(ctx: Context, options: Options) -> int:
    """Show who is logged on, and what they do."""
    if not options.any("h"):
        titles = "USER     TTY      FROM             LOGIN@   IDLE   JCPU   PCPU WHAT"
        await ctx.out(f" {uptime_line(ctx)}\n{titles}\n")
    for shell in list_logins(ctx):
        child = next((child for child in shell.children.values() if child.group == shell.group), shell)
        began, client = _describe_login(ctx, shell, "%H:%M")
        times = f"1.00s {shell.cpu_s:5.2f}s {child.cpu_s:5.2f}s"
        await ctx.out(
            f"root     {shell.terminal:<8} {client:<16} {began}    {times} {' '.join(child.argv)}\n"
        )
    return 0


@tool("who", options="a,all b,boot H,heading q,count u,users m", usage="[OPTION]... [ FILE | ARG1 ARG2 ]")
async def who(ctx: Context, options: Options) -> int:
    """Show who is logged on."""
    for shell in list_logins(ctx):
        began, client = _describe_login(ctx, shell, "%Y-%m-%d %H:%M")
        await ctx.out(f"root     {shell.terminal:<12} {began} ({client})\n")
    return 0


def list_logins(ctx: Context) -> list[Process]:
    """The shells at the terminals of the machine."""
    processes = ctx.machine.host.processes.values()
    return [process for process in processes if process.session is process and process.terminal]


def _describe_login(ctx: Context, shell: Process, form: str) -> tuple[str, str]:
    """When and from which address somebody logged in."""
    began_s = ctx.now - (ctx.kernel.now - shell.started_at)
    client = shell.env.get("SSH_CLIENT", "-").partition(" ")[0]
    return format_moment(Moment.of(began_s), form, zone_of(ctx.env)), client


def uptime_line(ctx: Context) -> str:
    """Return the line of ``uptime``, which is also the first line of ``top``."""
    up_s = int(ctx.kernel.now - ctx.machine.booted_at)
    days, hours, minutes = up_s // 86_400, up_s // 3600 % 24, up_s // 60 % 60
    span = f"{hours:2d}:{minutes:02d}" if hours else f"{minutes} min"
    if days:
        span = f"{days} day{'s' if days > 1 else ''}, {span}"
    cpu = ctx.machine.cpu
    cpu.settle(ctx.kernel.now)
    load = ", ".join(f"{value:.2f}" for value in cpu.load)
    time, users = format_moment(Moment.of(ctx.now), "%H:%M:%S", zone_of(ctx.env)), len(list_logins(ctx))
    return f"{time} up {span}, {users:2d} user{'s' * (users > 1)},  load average: {load}"


def _pretty(up_s: int) -> str:
    weeks, days, hours, minutes = up_s // 604_800, up_s // 86_400 % 7, up_s // 3600 % 24, up_s // 60 % 60
    parts = [(weeks, "week"), (days, "day"), (hours, "hour"), (minutes, "minute")]
    return (
        ", ".join(f"{count} {unit}{'s' if count > 1 else ''}" for count, unit in parts if count)
        or "0 minutes"
    )
