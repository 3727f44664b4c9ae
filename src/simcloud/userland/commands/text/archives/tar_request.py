"""The parsed command line of ``tar``, and the stream of its archive."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import NoReturn

from msgspec import Struct, field

from simcloud.machine.files import FileError
from simcloud.machine.process import Context, Stream
from simcloud.userland.bash.patterns import Pattern
from simcloud.userland.commands.options import Options, UsageError
from simcloud.userland.commands.text.archives.gzip_format import (
    MAGIC,
    GzipError,
    compress,
    decompress,
    make_header,
)
from simcloud.userland.commands.text.inputs import emit

TROUBLE = 2


class Request(Struct):
    """The parsed command line."""

    ctx: Context
    options: Options
    archive: str
    folder: str
    gzip: bool
    excluded: list[Pattern]
    strip: int = 0
    failed: bool = False
    warned: set[str] = field(default_factory=set)

    async def complain(self, message: str) -> None:
        """Report a problem that lets the work go on."""
        self.failed = True
        await self.ctx.err(f"{self.ctx.args[0]}: {message}\n")

    async def warn_once(self, message: str) -> None:
        """A remark that is made once."""
        if message not in self.warned:
            self.warned.add(message)
            await self.ctx.err(f"{self.ctx.args[0]}: {message}\n")

    def give_up(self, *messages: str) -> NoReturn:
        """End with these messages."""
        name = self.ctx.args[0]
        lines = [*messages, "Error is not recoverable: exiting now"]
        raise UsageError(
            "\n".join(
                line if line.startswith(("tar (child)", "\n")) else f"{name}: {line}" for line in lines
            ),
            TROUBLE,
        )

    def is_excluded(self, name: str) -> bool:
        """Whether a stretch of a name between slashes matches an exclusion."""
        parts = name.rstrip("/").split("/")
        count = len(parts)
        stretches = [
            "/".join(parts[start:end]) for start in range(count) for end in range(start + 1, count + 1)
        ]
        return any(pattern.matches(stretch) for pattern in self.excluded for stretch in stretches)

    def path(self, name: str) -> str:
        """Return the path of a name in the working folder."""
        return name if name.startswith("/") or not self.folder else f"{self.folder.rstrip('/')}/{name}"


async def read_archive(request: Request) -> bytes:
    """All bytes of the archive, decompressed if they are compressed."""
    ctx = request.ctx
    child = "tar (child): " if request.gzip else ""
    try:
        stream = ctx.stdin if request.archive == "-" else await ctx.open(request.archive)
        data = b"".join([piece async for piece in _pieces(ctx, stream)])
    except FileError as error:
        if error.code == "EISDIR":
            request.give_up(
                f"{request.archive}: Cannot read: {error.strerror}", "At beginning of tape, quitting now"
            )
        messages = [f"{child}{request.archive}: Cannot open: {error.strerror}"]
        if child:
            messages += [f"{child}Error is not recoverable: exiting now", "Child returned status 2"]
        request.give_up(*messages)
    if not request.gzip and not data.startswith(MAGIC):
        return data
    try:
        return b"".join([piece async for piece in decompress(ctx, _one(data))])
    except GzipError as error:
        request.give_up(f"\ngzip: stdin: {error}", "Child returned status 1")


async def write_archive(request: Request, data: bytes) -> None:
    """Write the bytes of an archive to its destination, compressed if requested."""
    ctx = request.ctx
    if request.gzip and data:
        data = b"".join([piece async for piece in compress(ctx, _one(data), make_header(b"", 0, 6), 6)])
    if request.archive == "-":
        await emit(ctx, data)
        return
    try:
        stream = await ctx.open(request.archive, read=False, write=True, create=True, truncate=True)
        await stream.write(data)
        stream.close()
    except FileError as error:
        verb = "Cannot write" if error.code in ("ENOSPC", "EIO", "EDQUOT") else "Cannot open"
        request.give_up(f"{request.archive}: {verb}: {error.strerror}")


async def _pieces(ctx: Context, stream: Stream) -> AsyncIterator[bytes]:
    while piece := await stream.read():
        ctx.spend_bytes(len(piece))
        yield piece


async def _one(data: bytes) -> AsyncIterator[bytes]:
    yield data
