"""``tail -f``: checks once a second, in virtual time, for new data in files.

By descriptor, an open file is followed even after a rename; by name, the file that has the name now, so that
a rotated log is followed into its successor. Ends when the output is closed, when no file is
left to follow, or after the process given by ``--pid`` has ended.
"""

from __future__ import annotations

from msgspec import Struct

from simcloud.machine.files import FileError
from simcloud.machine.process import Context, FileStream
from simcloud.userland.commands.text.inputs import Source
from simcloud.userland.commands.text.lines.head import Titles
from simcloud.userland.commands.text.quoting import quote_name, quote_name_always

MINIMUM_INTERVAL_S = 0.01


class Mode(Struct):
    """The options of following."""

    retry: bool
    following: bool = False
    by_name: bool = False
    interval_s: float = 1.0
    pid: int | None = None


class Followed(Struct):
    """One followed file; without a stream while it cannot be opened."""

    name: str
    stream: FileStream | None
    given_up: bool = False

    @classmethod
    def begin(cls, name: str, source: Source | None) -> Followed:
        """Go on where the first output of a file ended."""
        stream = source.stream if source is not None else None
        return cls(name, stream if isinstance(stream, FileStream) else None)


async def follow(ctx: Context, followed: list[Followed], titles: Titles, mode: Mode) -> int:
    """Write what is added to the files, until there is a reason to end."""
    shown = followed[-1]
    for file in followed:
        file.given_up = file.stream is None and not mode.retry
    while True:
        if all(file.given_up for file in followed):
            await ctx.err(f"{ctx.args[0]}: no files remaining\n")
            return 1
        last_look = mode.pid is not None and mode.pid not in ctx.container.processes
        for file in followed:
            if file.given_up:
                continue
            if mode.by_name or file.stream is None:
                await _look_at_name(ctx, file, mode)
            await _look_for_truncation(ctx, file)
            while file.stream is not None and (data := await file.stream.read()):
                if file is not shown:
                    await titles.show(file.name)
                    shown = file
                await ctx.stdout.write(data)
        if last_look:
            return 0
        await ctx.stdout.write(b"")  # raises the broken-pipe signal once the reader has gone
        await ctx.sleep(max(mode.interval_s, MINIMUM_INTERVAL_S))


async def _look_at_name(ctx: Context, file: Followed, mode: Mode) -> None:
    """Notice that a name has vanished, has appeared, or stands for another file now."""
    say = f"{ctx.args[0]}: {quote_name_always(file.name)} has"
    try:
        present = ctx.files.stat(file.name)
    except FileError as error:
        if file.stream is not None:
            await _drain(ctx, file)
            await ctx.err(f"{say} become inaccessible: {error.strerror}\n")
            file.stream.close()
            file.stream = None
            file.given_up = not mode.retry
        return
    if file.stream is not None:
        held = file.stream.file.stat()
        if (held.dev, held.ino) == (present.dev, present.ino):
            return
        await _drain(ctx, file)
        file.stream.close()
        await ctx.err(f"{say} been replaced;  following new file\n")
    elif present.is_dir:
        return
    else:
        await ctx.err(f"{say} appeared;  following new file\n")
    opened = await ctx.open(file.name)
    file.stream = opened if isinstance(opened, FileStream) else None


async def _look_for_truncation(ctx: Context, file: Followed) -> None:
    if file.stream is not None and file.stream.file.stat().size < file.stream.file.tell():
        await ctx.err(f"{ctx.args[0]}: {quote_name(file.name)}: file truncated\n")
        file.stream.file.seek(0)


async def _drain(ctx: Context, file: Followed) -> None:
    """Write the data that was added to a file before it disappeared."""
    while file.stream is not None and (data := await file.stream.read()):
        await ctx.stdout.write(data)
