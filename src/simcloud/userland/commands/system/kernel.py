"""Commands on the kernel and the hardware: dmesg, sysctl, lscpu, getconf."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from simcloud.machine import LEVELS, Record
from simcloud.machine.files import FileError
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
    options="C,clear c,read-clear D,console-off d,show-delta E,console-on e,reltime F,file= f,facility= H,human J,json "
    "k,kernel L,color=? l,level= n,console-level= P,nopager p,force-prefix r,raw S,syslog s,buffer-size= T,ctime t,notime "
    "time-format= u,userspace w,follow W,follow-new x,decode",
    usage="[options]",
    version=UTIL_LINUX,
)
async def dmesg(ctx: Context, options: Options) -> int:
    """Display or control the kernel ring buffer."""
    if not ctx.capable("SYSLOG"):
        fail(ctx, "read kernel buffer failed: Operation not permitted")
    log = ctx.machine.kernel_log
    if options.any("C"):
        log.clear()
        return 0
    printer = _KernelPrinter(ctx, options)
    records = log.list_shown()
    shown_s = records[-1].up_s if records else -1.0
    if options.any("J"):
        await ctx.out(printer.format_json(records))
        return 0
    if not options.any("W"):
        for record in records:
            ctx.spend_turn()
            await ctx.out(printer.format(record))
    if options.any("c"):
        log.clear()
    while options.any("w", "W"):
        await ctx.sleep(POLL_S)
        for record in log.list_shown():
            if record.up_s > shown_s:
                ctx.spend_turn()
                await ctx.out(printer.format(record))
                shown_s = record.up_s
    return 0


class _KernelPrinter:
    """Formats kernel messages as the options of ``dmesg`` say."""

    def __init__(self, ctx: Context, options: Options) -> None:
        self._options = options
        self._zone = zone_of(ctx.env)
        self._booted_s = ctx.now - (ctx.kernel.now - ctx.machine.booted_at)
        self._levels = [self._parse_level(ctx, word) for text in options.all("l") for word in text.split(",")]
        flags = (("t", "notime"), ("T", "ctime"), ("e", "reltime"), ("H", "reltime"), ("d", "delta"))
        chosen = [name for letter, name in flags if options.any(letter)]
        self._style = options.last("time-format") or (chosen[0] if chosen else "")
        self._last_s = 0.0
        self._last_minute = -1

    def _parse_level(self, ctx: Context, word: str) -> int:
        if word not in LEVELS:
            fail(ctx, f"unknown level '{word}'")
        return LEVELS.index(word)

    def format(self, record: Record) -> str:
        """Return the line of a message; nothing for one that is not selected."""
        if self._levels and record.level not in self._levels:
            return ""
        if self._options.any("r"):
            return f"<{record.level}>[{record.up_s:12.6f}] {record.text}\n"
        level = f"kern  :{LEVELS[record.level]:<6}: " if self._options.any("x") else ""
        line = f"{level}{self._stamp(record)}{record.text}\n"
        self._last_s = record.up_s
        return line

    def _stamp(self, record: Record) -> str:
        moment, delta_s = Moment.of(self._booted_s + record.up_s), record.up_s - self._last_s
        match self._style:
            case "notime":
                return ""
            case "ctime":
                return format_moment(moment, "[%a %b %e %H:%M:%S %Y] ", self._zone)
            case "iso":
                return format_moment(moment, "%Y-%m-%dT%H:%M:%S,%6N%:z ", self._zone)
            case "reltime" if moment.seconds // 60 != self._last_minute:
                self._last_minute = moment.seconds // 60
                return format_moment(moment, "[%b %e %H:%M] ", self._zone).replace("  ", " ")
            case "reltime":
                return f"[{f'+{delta_s:.6f}':>11}] "
            case "delta":
                return f"[{record.up_s:12.6f} <{delta_s:12.6f}>] "
        return f"[{record.up_s:12.6f}] "

    def format_json(self, records: Sequence[Record]) -> str:
        """Return all selected messages as one JSON document."""
        items = [
            f'{{\n         "pri": {record.level},\n         "time": {record.up_s:12.6f},\n'
            f'         "msg": {msgspec.json.encode(record.text).decode()}\n      }}'
            for record in records
            if not self._levels or record.level in self._levels
        ]
        return '{\n   "dmesg": [\n      ' + ",".join(items) + "\n   ]\n}\n"


@tool(
    "sysctl",
    options="a,all A X b,binary e,ignore N,names n,values p,load=? f q,quiet w,write r,pattern= system",
    usage="[options] [variable[=value] ...]",
    version="from procps-ng 4.0.2",
    try_help="\nUsage:\n sysctl [options] [variable[=value] ...]\n\nFor more details see sysctl(8).",
)
async def sysctl(ctx: Context, options: Options) -> int:
    """Show or change kernel settings, which are the files of /proc/sys."""
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
        name, equals, value = word.partition("=")
        name = name.strip().replace("/", ".")
        path = f"{SYSCTL_FOLDER}/{name.replace('.', '/')}"
        if not ctx.files.is_file(path):
            if not options.any("e"):
                await ctx.err(f"{ctx.args[0]}: cannot stat {path}: No such file or directory\n")
                status = 1
            continue
        if equals:
            try:
                ctx.files.write(path, value.strip().encode())
            except FileError as error:
                denied = error.code in ("EACCES", "EPERM", "EIO")
                why = (
                    f'permission denied on key "{name}"'
                    if denied
                    else f'setting key "{name}": {error.strerror}'
                )
                await ctx.err(f"{ctx.args[0]}: {why}\n")
                status = 1
                continue
            if options.any("q"):
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
