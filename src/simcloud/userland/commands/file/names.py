"""Operations on path names, and the error message about one of several files."""

from __future__ import annotations

from simcloud.machine.files import FileError
from simcloud.machine.process import Context


async def complain(ctx: Context, what: str, reason: FileError | str = "") -> int:
    """``name: what: reason`` on stderr; gives the status of a command that had problems and went on."""
    name = ctx.args[0]
    await ctx.err(f"{name}: {what}: {reason}\n" if str(reason) else f"{name}: {what}\n")
    return 1


def base_name(path: str) -> str:
    """The last part of a path, trailing slashes aside."""
    stripped = path.rstrip("/")
    return stripped.rpartition("/")[2] or ("/" if path.startswith("/") else path)


def folder_name(path: str) -> str:
    """A path without its last part."""
    folder = path.rstrip("/").rpartition("/")[0].rstrip("/")
    return folder or ("/" if path.startswith("/") else ".")


def join(folder: str, name: str) -> str:
    """A name inside a folder."""
    return f"{folder}{name}" if folder.endswith("/") else f"{folder}/{name}"
