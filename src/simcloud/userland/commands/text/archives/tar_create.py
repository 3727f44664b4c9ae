"""Creates archives: ``tar -c`` and ``tar -r``."""

from __future__ import annotations

import io
import tarfile

from simcloud.machine.files import FileError, Stat
from simcloud.userland.commands.text.archives.tar_request import Request, read_archive, write_archive
from simcloud.userland.commands.text.counts import all_digits, whole

_MAX_DEPTH = 200


async def create(request: Request, append: bool) -> None:
    """Put the operands, and what is in them, into the archive."""
    ctx = request.ctx
    buffer = io.BytesIO()
    if append and ctx.files.exists(request.archive):
        buffer.write(await read_archive(request))
        buffer.seek(0)
    else:
        await write_archive(request, b"")
    try:
        archive = tarfile.TarFile(fileobj=buffer, mode="a" if append else "w", format=tarfile.GNU_FORMAT)
    except tarfile.TarError:
        request.give_up("This does not look like a tar archive")
    writer = _Writer(request, archive)
    for operand in request.options.operands:
        await writer.add(operand, 0)
    archive.close()
    await write_archive(request, buffer.getvalue())


class _Writer:
    def __init__(self, request: Request, archive: tarfile.TarFile) -> None:
        self._request = request
        self._archive = archive
        self._users = names_by_number(request, "/etc/passwd")
        self._groups = names_by_number(request, "/etc/group")

    async def add(self, name: str, depth: int) -> None:
        """Add a file, or a folder with all in it."""
        request = self._request
        request.ctx.spend_turn()
        if request.is_excluded(name):
            return
        path = request.path(name)
        try:
            stat = request.ctx.files.stat(path, follow="h" in request.options)
            if await self._is_archive(name, stat):
                return
            await self._add_one(name, path, stat)
            if stat.is_dir and "no-recursion" not in request.options and depth < _MAX_DEPTH:
                for inner in request.ctx.files.listdir(path):
                    await self.add(f"{name.rstrip('/')}/{inner}", depth + 1)
        except FileError as error:
            verb = "Cannot stat" if error.code == "ENOENT" else "Cannot open"
            await request.complain(f"{name}: {verb}: {error.strerror}")

    async def _is_archive(self, name: str, stat: Stat) -> bool:
        files = self._request.ctx.files
        archive = self._request.archive
        if archive == "-" or not files.exists(archive):
            return False
        own = files.stat(archive)
        if (own.dev, own.ino) != (stat.dev, stat.ino):
            return False
        await self._request.ctx.err(f"{self._request.ctx.args[0]}: {name}: file is the archive; not dumped\n")
        return True

    async def _add_one(self, name: str, path: str, stat: Stat) -> None:
        request = self._request
        member = name
        if name.startswith("/") and "P" not in request.options:
            await request.warn_once("Removing leading `/' from member names")
            member = name.lstrip("/") or "./"
        entry = tarfile.TarInfo(member)
        entry.mode = stat.mode & 0o7777
        entry.uid, entry.gid = stat.uid, stat.gid
        if "numeric-owner" not in request.options:
            entry.uname = self._users.get(stat.uid, "")
            entry.gname = self._groups.get(stat.gid, "")
        entry.mtime = int(stat.mtime)
        data = b""
        shown = member
        if stat.is_dir:
            entry.type = tarfile.DIRTYPE
            entry.name = member.rstrip("/")
            shown = member.rstrip("/") + "/"
        elif stat.is_link:
            entry.type = tarfile.SYMTYPE
            entry.linkname = request.ctx.files.readlink(path)
        elif stat.is_fifo:
            entry.type = tarfile.FIFOTYPE
        elif stat.is_file:
            request.ctx.spend_bytes(stat.size)
            data = request.ctx.files.read(path)
            entry.size = len(data)
        else:
            entry.type = tarfile.CHRTYPE
        self._archive.addfile(entry, io.BytesIO(data))
        if "v" in request.options:
            line = f"{shown}\n"
            await (request.ctx.err(line) if request.archive == "-" else request.ctx.out(line))


def names_by_number(request: Request, path: str) -> dict[int, str]:
    """Users or groups by their numbers, as the container's own files list them."""
    try:
        text = request.ctx.files.read(path).decode("utf-8", "replace")
    except FileError:
        return {}
    fields = [line.split(":") for line in text.splitlines()]
    return {whole(entry[2]): entry[0] for entry in fields if len(entry) > 2 and all_digits(entry[2])}
