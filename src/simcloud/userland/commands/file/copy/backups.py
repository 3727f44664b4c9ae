"""Backups of what cp, mv and ln are about to overwrite."""

from __future__ import annotations

from typing import Final

from simcloud.machine.process import Context
from simcloud.userland.commands.file.names import base_name, folder_name, join
from simcloud.userland.commands.options import Options, UsageError
from simcloud.userland.commands.text.tool import one_of

OPTIONS: Final = "b backup=? S,suffix="
KINDS: Final = ("none,off", "simple,never", "existing,nil", "numbered,t")


def backup_kind(ctx: Context, options: Options) -> str:
    """How backups are named: ``none``, ``simple``, ``existing`` or ``numbered``."""
    if not options.any("b", "backup", "S"):
        return "none"
    word = options.last("backup") or ctx.env.get("VERSION_CONTROL", "") or "existing"
    try:
        return one_of(ctx, "backup type", word, KINDS)
    except UsageError as mistake:  # it is no option that the word is wrong for
        raise UsageError(str(mistake).replace("'--backup type'", "'backup type'"), mistake.status) from None


def make_backup(ctx: Context, path: str, kind: str, suffix: str) -> str:
    """Rename a file out of the way; the name it has now."""
    name = backup_name(ctx, path, kind, suffix or ctx.env.get("SIMPLE_BACKUP_SUFFIX", "") or "~")
    ctx.files.rename(path, name)
    return name


def backup_name(ctx: Context, path: str, kind: str, suffix: str) -> str:
    """The name that a backup of this file gets."""
    folder, name = folder_name(path), base_name(path)
    numbers = [
        int(other[len(name) + 2 : -1])
        for other in ctx.files.listdir(folder)
        if other.startswith(f"{name}.~") and other.endswith("~") and other[len(name) + 2 : -1].isdecimal()
    ]
    if kind == "simple" or (kind == "existing" and not numbers):
        return f"{path}{suffix}"
    numbered = f"{name}.~{max(numbers, default=0) + 1}~"
    return join(folder, numbered) if "/" in path else numbered
