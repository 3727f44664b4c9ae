"""tar archives of files copied to and from a container."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from typing import Final

from simcloud.kubectl.pods.paths import join_paths
from simcloud.machine.files import FileError, Stat
from simcloud.machine.process import Context

MOST_BYTES: Final = 256 << 20
"""Copies that are larger are refused."""
DEEPEST: Final = 200


class TooMuch(Exception):
    """More than is copied at once."""


def pack(ctx: Context, source: str, name: str) -> bytes:
    """A file or a folder of this machine under another name. Raises ``FileError``."""
    buffer = io.BytesIO()
    with tarfile.TarFile(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path, inner, stat in _below(ctx, source, name, 0):
            _add(ctx, archive, path, inner, stat)
            if buffer.tell() > MOST_BYTES:
                raise TooMuch
    return buffer.getvalue()


def _below(ctx: Context, path: str, name: str, depth: int) -> Iterator[tuple[str, str, Stat]]:
    """What is to be packed; of folders only those with nothing in them."""
    ctx.spend_turn()
    stat = ctx.files.stat(path, follow=False)
    inside = sorted(ctx.files.listdir(path)) if stat.is_dir else []
    if not inside or depth >= DEEPEST:
        yield path, name, stat
    else:
        for entry in inside:
            yield from _below(ctx, join_paths(path, entry), join_paths(name, entry), depth + 1)


def _add(ctx: Context, archive: tarfile.TarFile, path: str, name: str, stat: Stat) -> None:
    entry = tarfile.TarInfo(name)
    entry.mode, entry.uid, entry.gid = stat.mode & 0o7777, stat.uid, stat.gid
    entry.mtime = int(stat.mtime)
    data = b""
    if stat.is_dir:
        entry.type = tarfile.DIRTYPE
    elif stat.is_link:
        entry.type, entry.linkname = tarfile.SYMTYPE, ctx.files.readlink(path)
    elif stat.is_file:
        ctx.spend_bytes(stat.size)
        data = ctx.files.read(path)
        entry.size = len(data)
    else:
        raise FileError("EINVAL", path)
    archive.addfile(entry, io.BytesIO(data))


def is_whole(data: bytes) -> bool:
    """Whether an archive has its end: two blocks of nothing."""
    return len(data) >= 1024 and not any(data[-1024:])


def members(data: bytes) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    """What is in an archive. Raises ``tarfile.TarError`` where it makes no sense."""
    with tarfile.TarFile(fileobj=io.BytesIO(data)) as archive:
        for entry in archive:
            inside = archive.extractfile(entry) if entry.isreg() else None
            yield entry, inside.read() if inside is not None else b""
