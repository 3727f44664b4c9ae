"""mount and umount.

New mounts need a device or a right that nobody has here. An operator of a machine can make a mount writable again or
read-only, and remove it.
"""

from __future__ import annotations

from typing import Final

from simcloud.machine.files import FileError, Mount
from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options, UsageError
from simcloud.userland.commands.text.tool import UTIL_LINUX, fail, hint, tool

FAILED: Final = 32
SEE_DMESG: Final = "\n       dmesg(1) may have more information after failed mount system call."


@tool(
    "mount",
    options="a,all B,bind M,move R,rbind f,fake F,fork l,show-labels n,no-mtab o,options= O= r,read-only t,types= "
    "T,fstab= v,verbose w,rw,read-write L,label= U,uuid=",
    usage="[-lhV]",
    version=UTIL_LINUX,
)
async def mount(ctx: Context, options: Options) -> int:
    """Show what is mounted, or change how it is."""
    if not options.operands:
        kinds = options.last("t").split(",") if options.any("t") else []
        for entry in ctx.files.mounts():
            if not kinds or entry.fstype in kinds:
                await ctx.out(f"{_source(entry)} on {entry.path} type {entry.fstype} ({entry.flags()})\n")
        return 0
    words = [word for text in options.all("o") for word in text.split(",")]
    if "remount" in words:
        read_only = options.any("r") or "ro" in words
        return _remount(ctx, options.operands[-1], read_only)
    if len(options.operands) == 1:
        fail(ctx, f"{options.operands[0]}: can't find in /etc/fstab.")
    source, target = options.operands[:2]
    if not ctx.files.exists(target):
        fail(ctx, f"{target}: mount point does not exist.{SEE_DMESG}", FAILED)
    if _may_mount(ctx) and source.startswith("/") and not ctx.files.exists(source):
        fail(ctx, f"{target}: special device {source} does not exist.{SEE_DMESG}", FAILED)
    fail(ctx, f"{target}: permission denied.{SEE_DMESG}", FAILED)


@tool("umount", options="a,all f,force l,lazy n,no-mtab q,quiet r,read-only R,recursive t,types= v,verbose",
      usage="[-hV]", version=UTIL_LINUX)  # fmt: skip
async def umount(ctx: Context, options: Options) -> int:
    """Take away what is mounted at a path."""
    if not options.operands:
        raise UsageError(f"{ctx.args[0]}: bad usage\n{hint(ctx)}")
    status = 0
    for path in options.operands:
        reason = _unmount(ctx, path)
        if reason:
            await ctx.err(f"{ctx.args[0]}: {path}: {reason}\n")
            status = FAILED
    return status


def _may_mount(ctx: Context) -> bool:
    return ctx.capable("SYS_ADMIN")


def _source(entry: Mount) -> str:
    return entry.source or entry.fstype


def _entry_at(ctx: Context, path: str) -> Mount | None:
    try:
        where = ctx.files.realpath(path)
    except FileError:
        return None
    return next((entry for entry in reversed(ctx.files.mounts()) if entry.path == where), None)


def _remount(ctx: Context, path: str, read_only: bool) -> int:
    entry = _entry_at(ctx, path)
    if entry is None:
        fail(ctx, f"{path}: mount point not mounted or bad option.{SEE_DMESG}", FAILED)
    if not _may_mount(ctx):
        fail(ctx, f"{path}: permission denied.{SEE_DMESG}", FAILED)
    if not read_only and entry.frozen and not entry.read_only:
        fail(
            ctx, f"{path}: cannot remount {_source(entry)} read-write, is write-protected.{SEE_DMESG}", FAILED
        )
    entry.read_only = read_only
    return 0


def _unmount(ctx: Context, path: str) -> str:
    """Unmount; why not, if it did not work."""
    if not ctx.files.exists(path):
        return "no mount point specified."
    entry = _entry_at(ctx, path)
    if entry is None:
        return "not mounted."
    if not _may_mount(ctx):
        return "must be superuser to unmount."
    try:
        ctx.files.unmount(entry.path)
    except FileError as error:
        return "target is busy." if error.code == "EBUSY" else f"{error}."
    return ""
