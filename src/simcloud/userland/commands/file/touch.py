"""touch: create files, or change their times."""

from __future__ import annotations

from typing import NamedTuple

from simcloud.machine.files import FileError
from simcloud.machine.process import Context
from simcloud.userland.commands.file.names import complain
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.system.dates import Moment, read_moment, zone_of
from simcloud.userland.commands.text.quoting import quote, quote_name_always
from simcloud.userland.commands.text.tool import fail, misuse, one_of, tool

TIMES = ("atime,access,use", "mtime,modify")


class _Times(NamedTuple):
    """Times of access and change to set; None means now."""

    accessed: float | None
    changed: float | None


@tool(
    "touch",
    options="a c,no-create d,date= f h,no-dereference m r,reference= t= time=",
    usage="[OPTION]... FILE...",
)
async def touch(ctx: Context, options: Options) -> int:
    """Set the times of files to now, or to a given moment; files that are missing are made."""
    which = {"atime": "a", "mtime": "m"}
    chosen = {o for o, _ in options.given if o in "am"} | {
        which[one_of(ctx, "time", word, TIMES)] for word in options.all("time")
    }
    times = _times(ctx, options)
    if not options.operands:
        misuse(ctx, "missing file operand")
    status = 0
    for path in options.operands:
        if path == "-":
            continue  # the file behind standard output: nothing to be seen of its times here
        status = await _touch(ctx, options, path, times, chosen or {"a", "m"}) or status
    return status


async def _touch(ctx: Context, options: Options, path: str, times: _Times, chosen: set[str]) -> int:
    """Create a file if it is missing, and set its times. An error of opening it is reported first."""
    files, follow = ctx.files, not options.any("h")
    unopened: FileError | None = None
    if not options.any("c", "h"):
        try:
            if not files.is_fifo(path):
                files.open(path, read=False, write=True, create=True).close()
        except FileError as error:
            unopened = error if error.code != "EISDIR" else None
    try:
        found = files.stat(path, follow)
        accessed = times.accessed if "a" in chosen else found.atime
        changed = times.changed if "m" in chosen else found.mtime
        if chosen != {"a", "m"}:  # the file layer takes None for both or for neither
            accessed = ctx.now if accessed is None else accessed
            changed = ctx.now if changed is None else changed
        files.utime(path, accessed, changed, follow)
    except FileError as error:
        if options.any("c") and error.code == "ENOENT":
            return 0
        if unopened is not None:
            return await complain(ctx, f"cannot touch {quote_name_always(path)}", unopened)
        return await complain(ctx, f"setting times of {quote_name_always(path)}", error)
    return 0


def _times(ctx: Context, options: Options) -> _Times:
    zone, now = zone_of(ctx.env), Moment.of(ctx.now)
    if options.any("t") and options.any("r", "d"):
        misuse(ctx, "cannot specify times from more than one source")
    if options.any("r"):
        try:
            found = ctx.files.stat(options.last("r"), follow=not options.any("h"))
        except FileError as error:
            fail(ctx, f"failed to get attributes of {quote_name_always(options.last('r'))}: {error}")
        if not options.any("d"):
            return _Times(found.atime, found.mtime)
        now = Moment.of(found.mtime)
    if options.any("d"):
        moment = read_moment(options.last("d"), now, zone)
        if moment is None:
            fail(ctx, f"invalid date format {quote(options.last('d'))}")
        return _Times(moment.timestamp(), moment.timestamp())
    if options.any("t"):
        moment = _stamp(options.last("t"), now)
        if moment is None:
            fail(ctx, f"invalid date format {quote(options.last('t'))}")
        return _Times(moment.timestamp(), moment.timestamp())
    return _Times(None, None)


def _stamp(text: str, now: Moment) -> Moment | None:
    """``[[CC]YY]MMDDhhmm[.ss]``."""
    digits, dot, seconds = text.partition(".")
    if not (digits + seconds).isdecimal() or len(digits) not in (8, 10, 12) or (dot and len(seconds) != 2):
        return None
    year, rest = digits[:-8], digits[-8:]
    date = (
        f"{year}-"
        if len(year) == 4
        else f"{2000 + int(year) if int(year) < 69 else 1900 + int(year)}-"
        if year
        else ""
    )
    month, day, hour, minute = (rest[at : at + 2] for at in range(0, 8, 2))
    clock = f"{hour}:{minute}:{seconds or '00'}"
    return read_moment(f"{date}{month}-{day} {clock}" if date else f"{month}/{day} {clock}", now)
