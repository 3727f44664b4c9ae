"""Commands on the kernel and the hardware: dmesg, sysctl, lscpu, getconf."""

from __future__ import annotations

from typing import Final

from simcloud.machine.proc import CPU_MODEL
from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options, UsageError
from simcloud.userland.commands.registry import command
from simcloud.userland.commands.system.dates import Moment, format_moment, zone_of
from simcloud.userland.commands.text.tool import UTIL_LINUX, fail, tool

SYSCTL_FOLDER: Final = "/proc/sys"
POLL_S: Final = 0.5
"""Interval at which ``dmesg -w`` checks for new lines."""


@tool(
    "dmesg",
    options="C,clear c,read-clear d,show-delta e,reltime F,file= f,facility= H,human J,json k,kernel L,color=? l,level= "
    "P,nopager r,raw S,syslog s,buffer-size= T,ctime t,notime time-format= u,userspace w,follow W,follow-new x,decode",
    usage="[options]",
    version=UTIL_LINUX,
)
async def dmesg(ctx: Context, options: Options) -> int:
    """Show what the machine's kernel has had to say."""
    if not ctx.capable("SYSLOG"):
        fail(ctx, "read kernel buffer failed: Operation not permitted")
    log = ctx.machine.kernel_log
    if options.any("C"):
        log.clear()
        return 0
    shown: tuple[float, str] | None = log[-1] if options.any("W") and log else None
    while True:
        start = log.index(shown) + 1 if shown is not None and shown in log else 0
        for time_s, text in log[start:]:
            ctx.spend_turn()
            await ctx.out(f"{_stamp(ctx, options, time_s)}{text}\n")
        shown = log[-1] if log else None
        if options.any("c"):
            log.clear()
        if not options.any("w", "W"):
            return 0
        await ctx.sleep(POLL_S)


def _stamp(ctx: Context, options: Options, time_s: float) -> str:
    style = options.last("time-format")
    if options.any("t") or style == "notime":
        return ""
    if options.any("T") or style in ("ctime", "iso"):
        booted = ctx.now - (ctx.kernel.now - ctx.machine.booted_at)
        if style == "iso":
            return format_moment(Moment.of(booted + time_s), "%Y-%m-%dT%H:%M:%S,%6N%:z ", zone_of(ctx.env))
        return format_moment(Moment.of(booted + time_s), "[%a %b %e %H:%M:%S %Y] ", zone_of(ctx.env))
    return f"[{time_s:12.6f}] "


@tool(
    "sysctl",
    options="a,all A X b,binary e,ignore N,names n,values p,load=? f q,quiet w,write r,pattern= system",
    usage="[options] [variable[=value] ...]",
    version="from procps-ng 4.0.2",
    try_help="\nUsage:\n sysctl [options] [variable[=value] ...]\n\nFor more details see sysctl(8).",
)
async def sysctl(ctx: Context, options: Options) -> int:
    """Show kernel settings, which are the files of /proc/sys."""
    names = options.operands
    if options.any("a", "A", "X"):
        names = [*_all_settings(ctx)]
    if not names:
        raise UsageError(
            "\nUsage:\n sysctl [options] [variable[=value] ...]\n\nFor more details see sysctl(8)."
        )
    status = 0
    for word in names:
        ctx.spend_turn()
        name, equals, _ = word.partition("=")
        name = name.strip().replace("/", ".")
        path = f"{SYSCTL_FOLDER}/{name.replace('.', '/')}"
        if not ctx.files.is_file(path):
            if not options.any("e"):
                await ctx.err(f"{ctx.args[0]}: cannot stat {path}: No such file or directory\n")
                status = 1
            continue
        if equals:
            await ctx.err(f'{ctx.args[0]}: permission denied on key "{name}"\n')
            status = 1
            continue
        value = ctx.files.read(path).decode("utf-8", "surrogateescape").rstrip("\n")
        if options.any("N"):
            await ctx.out(f"{name}\n")
        else:
            await ctx.out(f"{value}\n" if options.any("n", "b") else f"{name} = {value}\n")
    return status


def _all_settings(ctx: Context) -> list[str]:
    return [
        f"{folder}/{name}".removeprefix(f"{SYSCTL_FOLDER}/").replace("/", ".")
        for folder, _, files in ctx.files.walk(SYSCTL_FOLDER)
        for name in files
    ]


@tool("lscpu", options="a,all b,online c,offline J,json e,extended=? p,parse=? x,hex y,physical", usage="[options]",
      version=UTIL_LINUX)  # fmt: skip
async def lscpu(ctx: Context, options: Options) -> int:
    """Show the machine's processors."""
    cores = ctx.machine.cpu.cores
    facts = {
        "Architecture": "x86_64",
        "CPU op-mode(s)": "32-bit, 64-bit",
        "Byte Order": "Little Endian",
        "CPU(s)": str(cores),
        "On-line CPU(s) list": "0" if cores == 1 else f"0-{cores - 1}",
        "Vendor ID": "GenuineIntel",
        "Model name": CPU_MODEL,
        "Thread(s) per core": "1",
        "Core(s) per socket": str(cores),
        "Socket(s)": "1",
        "Hypervisor vendor": "KVM",
        "Virtualization type": "full",
    }
    await ctx.out("".join(f"{name + ':':<40} {value}\n" for name, value in facts.items()))
    return 0


@command("getconf")
async def getconf(ctx: Context) -> int:
    """Print a few of the system's constants."""
    cores, limits = ctx.machine.cpu.cores, ctx.container.limits
    values = {
        "ARG_MAX": 2_097_152, "CHILD_MAX": limits.processes, "CLK_TCK": 100, "LONG_BIT": 64, "NAME_MAX": 255,
        "OPEN_MAX": limits.open_files, "PAGESIZE": 4096, "PAGE_SIZE": 4096, "PATH_MAX": 4096,
        "_NPROCESSORS_CONF": cores, "_NPROCESSORS_ONLN": cores, "_PHYS_PAGES": ctx.machine.memory_bytes // 4096,
        "_AVPHYS_PAGES": max(0, ctx.machine.memory_bytes - ctx.machine.memory_used_bytes) // 4096,
    }  # fmt: skip
    words = ctx.args[1:]
    if words == ["-a"]:
        await ctx.out("".join(f"{name:<34} {value}\n" for name, value in values.items()))
        return 0
    if not words:
        raise UsageError(
            "Usage: getconf [-v specification] variable_name [pathname]\n       getconf -a [pathname]", 2
        )
    if words[0] not in values:
        raise UsageError(f"getconf: Unrecognized variable `{words[0]}'", 2)
    await ctx.out(f"{values[words[0]]}\n")
    return 0
