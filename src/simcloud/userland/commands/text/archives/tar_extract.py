"""Lists and extracts archives: ``tar -t`` and ``tar -x``."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from simcloud.machine.files import FileError, Files
from simcloud.userland.commands.text.archives.tar_request import Request, read_archive
from simcloud.userland.commands.text.inputs import emit

_COLUMN = 19
_KINDS = {
    tarfile.DIRTYPE: "d",
    tarfile.SYMTYPE: "l",
    tarfile.LNKTYPE: "h",
    tarfile.FIFOTYPE: "p",
    tarfile.CHRTYPE: "c",
}


async def extract(request: Request, listing: bool) -> None:
    """List the archive's members, or write them to files."""
    data = await read_archive(request)
    wanted = {name.rstrip("/"): False for name in request.options.operands}
    extractor = _Extractor(request)
    try:
        for archive, member in _members(data):
            request.ctx.spend_turn()
            if not _is_selected(member.name, wanted) or request.is_excluded(member.name):
                continue
            if listing:
                await _list(request, extractor, member)
            else:
                await extractor.take(archive, member)
    except tarfile.TarError:
        await request.complain("This does not look like a tar archive")
        return
    extractor.finish()
    for name, found in wanted.items():
        if not found:
            await request.complain(f"{name}: Not found in archive")


def _members(data: bytes) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    archive = tarfile.TarFile(fileobj=io.BytesIO(data), mode="r", errors="surrogateescape")
    while (member := archive.next()) is not None:
        yield archive, member


def _is_selected(name: str, wanted: dict[str, bool]) -> bool:
    """Whether a member is a requested one, or below one."""
    if not wanted:
        return True
    parts = name.split("/")
    ancestors = ["/".join(parts[: count + 1]) for count in range(len(parts))]
    found = [ancestor for ancestor in ancestors if ancestor in wanted]
    for ancestor in found:
        wanted[ancestor] = True
    return bool(found)


async def _list(request: Request, extractor: _Extractor, member: tarfile.TarInfo) -> None:
    name = member.name + ("/" if member.isdir() else "")
    if "v" not in request.options:
        await request.ctx.out(f"{name}\n")
        return
    numeric = "numeric-owner" in request.options
    user = "" if numeric else member.uname
    group = "" if numeric else member.gname
    owner = f"{user or member.uid}/{group or member.gid}"
    size = str(member.size)
    extractor.column = max(extractor.column, len(owner) + 1 + len(size))
    target = (
        f" -> {member.linkname}"
        if member.issym()
        else f" link to {member.linkname}"
        if member.islnk()
        else ""
    )
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=int(member.mtime))
    padded = f"{owner} {size:>{extractor.column - len(owner) - 1}}"
    await request.ctx.out(f"{_mode(member)} {padded} {moment:%Y-%m-%d %H:%M} {name}{target}\n")


def _mode(member: tarfile.TarInfo) -> str:
    letters = "".join(
        letter if member.mode & (0o400 >> place) else "-" for place, letter in enumerate("rwxrwxrwx")
    )
    shown = list(_KINDS.get(member.type, "-") + letters)
    for bit, place, letter in ((0o4000, 3, "s"), (0o2000, 6, "s"), (0o1000, 9, "t")):
        if member.mode & bit:
            shown[place] = letter if shown[place] == "x" else letter.upper()
    return "".join(shown)


class _Extractor:
    """Writes members to files. Times of folders are set at the end, after all that is put into them."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._folders: list[tuple[str, tarfile.TarInfo]] = []
        self.column = _COLUMN

    async def take(self, archive: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        """Write one member."""
        request = self._request
        name = member.name
        if name.startswith("/"):
            await request.warn_once("Removing leading `/' from member names")
            name = name.lstrip("/")
        if ".." in name.split("/"):
            if name.startswith("../"):
                await request.warn_once("Removing leading `../' from member names")
            await request.complain(f"{name}: Member name contains '..'")
            return
        name = "/".join(name.split("/")[request.strip :])
        if not name:
            return
        if "O" in request.options:
            if member.isfile():
                await emit(request.ctx, self._content(archive, member))
            return
        if "v" in request.options:
            await request.ctx.out(member.name + ("/" if member.isdir() else "") + "\n")
        try:
            self._write(archive, member, request.path(name), name)
        except FileError as error:
            verb = "Cannot mkdir" if member.isdir() else "Cannot open"
            await request.complain(f"{name}: {verb}: {error.strerror}")

    def _content(self, archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
        self._request.ctx.spend_bytes(member.size)
        file = archive.extractfile(member)
        return file.read() if file is not None else b""

    def _write(self, archive: tarfile.TarFile, member: tarfile.TarInfo, path: str, name: str) -> None:
        files, options = self._request.ctx.files, self._request.options
        parent = path.rstrip("/").rpartition("/")[0]
        if parent and not files.is_dir(parent):
            files.mkdir(parent, parents=True)
        if member.isdir():
            if not files.is_dir(path):
                files.mkdir(path)
            self._folders.append((path, member))
            return
        self._make_room(files, path, keep="k" in options)
        if member.issym():
            files.symlink(member.linkname, path)
            return
        if member.islnk():
            files.link(self._request.path(member.linkname), path)
            return
        if member.isfifo():
            files.mkfifo(path)
        else:
            files.write(path, self._content(archive, member))
        self._set_facts(path, member)

    def _make_room(self, files: Files, path: str, keep: bool) -> None:
        try:
            stat = files.stat(path, follow=False)
        except FileError:
            return
        if keep:
            raise FileError("EEXIST", path)
        if stat.is_dir:
            files.rmdir(path)
        else:
            files.remove(path)

    def _set_facts(self, path: str, member: tarfile.TarInfo) -> None:
        files, options = self._request.ctx.files, self._request.options
        as_root = files.uid == 0
        keep_mode = as_root or "p" in options
        files.chmod(path, member.mode & (0o7777 if keep_mode else 0o777 & ~files.umask))
        if as_root and "no-same-owner" not in options:
            files.chown(path, member.uid, member.gid)
        if "m" not in options:
            files.utime(path, self._request.ctx.now, float(member.mtime))

    def finish(self) -> None:
        """Give folders their modes and times."""
        for path, member in reversed(self._folders):
            try:
                self._set_facts(path, member)
            except FileError:
                continue
