"""``gzip``, ``gunzip`` and ``zcat``. The latter two are gzip with options, as in Debian."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

from simcloud.machine.files import FileError, Stat
from simcloud.machine.process import Context, Stream
from simcloud.userland.commands.options import Options, UsageError
from simcloud.userland.commands.text.archives.gzip_format import (
    TRAILER_BYTES,
    GzipError,
    Header,
    compress,
    decompress,
    make_header,
    read_header,
)
from simcloud.userland.commands.text.inputs import Inputs, Source, emit
from simcloud.userland.commands.text.tool import tool

_WARNING = 2
_OPTIONS = (
    "c,stdout,to-stdout d,decompress,uncompress f,force k,keep l,list n,no-name N,name q,quiet r,recursive "
    "S,suffix= t,test v,verbose 1,fast 2 3 4 5 6 7 8 9,best synchronous rsyncable"
)
_TRY_HELP = "Try `gzip --help' for more information."


@tool("gzip", options=_OPTIONS, version="1.12", try_help=_TRY_HELP)
async def gzip(ctx: Context, options: Options) -> int:
    """Compress files, each into one of its own with the suffix .gz."""
    return await _Gzip(ctx, options).run(options.operands)


@tool("gunzip", options=_OPTIONS, version="(gzip) 1.12", try_help=_TRY_HELP)
async def gunzip(ctx: Context, options: Options) -> int:
    """Decompress files."""
    options.given.append(("d", ""))
    return await _Gzip(ctx, options).run(options.operands)


@tool("zcat", options=_OPTIONS, version="(gzip) 1.12", try_help=_TRY_HELP)
async def zcat(ctx: Context, options: Options) -> int:
    """Write the decompressed content of files to standard output."""
    options.given += [("d", ""), ("c", "")]
    return await _Gzip(ctx, options).run(options.operands)


class _Skipped(Exception):
    """A file is left unchanged; the text is the reason."""

    def __init__(self, message: str, status: int = _WARNING) -> None:
        super().__init__(message)
        self.status = status


class _Gzip:
    def __init__(self, ctx: Context, options: Options) -> None:
        self._ctx = ctx
        self._options = options
        self._suffix = options.last("S", default=".gz")
        self._unpack = options.any("d", "t", "l")
        self._to_stdout = options.any("c", "t", "l")
        self._level = int(next((name for name, _ in reversed(options.given) if name.isdigit()), "6"))
        self._totals = [0, 0, 0, 0]
        if not self._suffix or "/" in self._suffix:
            raise UsageError(f"gzip: invalid suffix '{self._suffix}'")

    async def run(self, operands: list[str]) -> int:
        """Work through the operands; the worst status of all."""
        status = 0
        for operand in operands or ["-"]:
            try:
                if operand == "-":
                    await self._stdin()
                else:
                    await self._file(operand)
            except _Skipped as skipped:
                status = skipped.status if status != 1 else 1
                if not (skipped.status == _WARNING and "q" in self._options):
                    await self._ctx.err(f"{skipped}\n")
            except FileError as error:
                status = 1
                await self._ctx.err(f"gzip: {error.path}: {error.strerror}\n")
        if "l" in self._options and self._totals[0] > 1:
            _, packed, size, header = self._totals
            await self._listing(packed, size, header, "(totals)", None)
        return status

    async def _stdin(self) -> None:
        pieces = Source(Inputs(self._ctx, []), "stdin", self._ctx.stdin).pieces()
        if self._unpack:
            async for data in self._read_unpacked(pieces, "stdin"):
                await self._show(data)
            return
        async for data in compress(self._ctx, pieces, make_header(b"", 0, self._level), self._level):
            await emit(self._ctx, data)

    async def _show(self, data: bytes) -> None:
        if not self._options.any("t", "l"):
            await emit(self._ctx, data)

    async def _read_unpacked(self, pieces: AsyncIterator[bytes], name: str) -> AsyncIterator[bytes]:
        try:
            async for data in decompress(self._ctx, pieces):
                yield data
        except GzipError as error:
            raise _Skipped(f"\ngzip: {name}: {error}", 1) from None

    async def _file(self, operand: str) -> None:
        path = self._existing(operand)
        stat = self._ctx.files.stat(path)
        if stat.is_dir:
            if "r" not in self._options:
                raise _Skipped(f"gzip: {path} is a directory -- ignored")
            for entry in self._ctx.files.listdir(path):
                self._ctx.spend_turn()
                inner = f"{path.rstrip('/')}/{entry}"
                if not self._unpack or entry.endswith(self._suffix) or self._ctx.files.is_dir(inner):
                    await self._file(inner)
            return
        if "l" in self._options:
            await self._list(path, stat)
            return
        target = "" if self._to_stdout else self._target(path)
        stream = await self._ctx.open(path)
        source = Source(Inputs(self._ctx, [], cannot_read="{plain}: {why}"), path, stream)
        if self._unpack:
            pieces = self._read_unpacked(source.pieces(), path)
        else:
            named = "n" not in self._options
            name = path.rpartition("/")[2].encode("utf-8", "surrogateescape") if named else b""
            header = make_header(name, int(stat.mtime) if named else 0, self._level)
            pieces = compress(self._ctx, source.pieces(), header, self._level)
        overhead = self._overhead(path)
        written = await self._write(pieces, target, stat)
        stream.close()
        if "v" in self._options:
            await self._tell(path, target, stat.size, written, overhead)

    def _existing(self, operand: str) -> str:
        """The file an operand means; when unpacking, the suffix may be left out."""
        files = self._ctx.files
        if self._unpack and not files.exists(operand) and not operand.endswith(self._suffix):
            return operand + self._suffix
        return operand

    def _target(self, path: str) -> str:
        known = (self._suffix, ".gz", "-gz", ".z", "-z", "_z", ".tgz", ".taz")
        ending = next((suffix for suffix in known if path.endswith(suffix) and len(path) > len(suffix)), None)
        if not self._unpack:
            if ending is not None:
                raise _Skipped(f"gzip: {path} already has {ending} suffix -- unchanged", 0)
            target = path + self._suffix
        elif ending is None:
            raise _Skipped(f"gzip: {path}: unknown suffix -- ignored")
        else:
            target = path.removesuffix(ending) + (".tar" if ending in (".tgz", ".taz") else "")
        if self._ctx.files.exists(target) and "f" not in self._options:
            raise _Skipped(f"gzip: {target} already exists;\tnot overwritten")
        return target

    async def _write(self, pieces: AsyncIterator[bytes], target: str, stat: Stat) -> int:
        """Write to the target, or to standard output without one; how much was written."""
        files, total = self._ctx.files, 0
        output: Stream | None = None
        if target:
            output = await self._ctx.open(
                target, read=False, write=True, create=True, truncate=True, mode=0o600
            )
        try:
            async for data in pieces:
                total += len(data)
                await (output.write(data) if output is not None else self._show(data))
        except _Skipped:
            if target:
                files.remove(target)
            raise
        if output is not None:
            output.close()
            files.chmod(target, stat.mode & 0o7777)
            files.utime(target, stat.atime, stat.mtime)
            if "k" not in self._options:
                original = target + self._suffix if self._unpack else target.removesuffix(self._suffix)
                files.remove(original if files.exists(original) else self._source_of(target))
        return total

    def _source_of(self, target: str) -> str:
        """The packed file that a target came from, when its suffix was an unusual one."""
        files = self._ctx.files
        names = [target + suffix for suffix in ("-gz", ".z", "-z", "_z")] + [
            target.removesuffix(".tar") + ".tgz"
        ]
        return next((name for name in names if files.exists(name)), target)

    def _overhead(self, path: str) -> int:
        """Return the size of the header and trailer."""
        if self._unpack:
            try:
                return read_header(self._ctx.files.read(path)).size + TRAILER_BYTES
            except GzipError:
                return 0
        name = path.rpartition("/")[2].encode("utf-8", "surrogateescape")
        return 10 + TRAILER_BYTES + (0 if "n" in self._options else len(name) + 1)

    async def _tell(self, path: str, target: str, size: int, written: int, overhead: int) -> None:
        if "t" in self._options:
            await self._ctx.err(f"{path}:\t OK\n")
            return
        packed, plain = (size, written) if self._unpack else (written, size)
        share = _ratio(plain, packed - overhead)
        done = (
            ""
            if self._to_stdout
            else f" -- {'created' if 'k' in self._options else 'replaced with'} {target}"
        )
        await self._ctx.err(f"{path}:\t{share}{done}\n")

    async def _list(self, path: str, stat: Stat) -> None:
        data = self._ctx.files.read(path)
        self._ctx.spend_bytes(len(data))
        try:
            header = read_header(data)
        except GzipError as error:
            raise _Skipped(f"\ngzip: {path}: {error}", 1) from None
        if len(data) < header.size + TRAILER_BYTES + 2:
            raise _Skipped(f"\ngzip: {path}: unexpected end of file", 1)
        size = int.from_bytes(data[-4:], "little")
        name = path.removesuffix(self._suffix)
        if "N" in self._options and header.name:
            name = header.name.decode("utf-8", "surrogateescape")
        checksum = data[-8:-4][::-1].hex()
        await self._listing(len(data), size, header.size + TRAILER_BYTES, name, (header, checksum, stat))
        self._totals[0] += 1
        self._totals[1] += len(data)
        self._totals[2] += size
        self._totals[3] = header.size + TRAILER_BYTES

    async def _listing(
        self, packed: int, size: int, header: int, name: str, facts: tuple[Header, str, Stat] | None
    ) -> None:
        verbose = "v" in self._options
        if self._totals[0] == 0 and "q" not in self._options:
            lead = "method  crc     date  time  " if verbose else ""
            await self._ctx.out(f"{lead}         compressed        uncompressed  ratio uncompressed_name\n")
        lead = ""
        if verbose:
            lead = " " * 28 if facts is None else _facts(*facts)
        await self._ctx.out(f"{lead}{packed:19} {size:19} {_ratio(size, packed - header)} {name}\n")


def _ratio(plain: int, packed: int) -> str:
    share = 0.0 if plain == 0 else 100.0 * (plain - packed) / plain
    return f"{share:5.1f}%"


def _facts(header: Header, checksum: str, stat: Stat) -> str:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=header.mtime or int(stat.mtime))
    return f"defla {checksum} {moment:%b} {moment.day:2} {moment:%H:%M} "
