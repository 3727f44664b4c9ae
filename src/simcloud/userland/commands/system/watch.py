"""watch: run a command repeatedly and show its output on the whole screen, also where standard output is no terminal."""

from __future__ import annotations

from typing import Final

from simcloud.machine.process import Context
from simcloud.userland.commands.curses import CursesScreen, OpeningFailed
from simcloud.userland.commands.options import Options, UsageError
from simcloud.userland.commands.screen import get_size, redraw
from simcloud.userland.commands.system.dates import Moment, format_moment, zone_of
from simcloud.userland.commands.system.durations import parse_seconds
from simcloud.userland.commands.text.tool import fail, tool

LEAST_INTERVAL_S: Final = 0.1
LONGEST_INTERVAL_S: Final = 2_678_400.0
FAILED_COMMAND: Final = 8
FAILED_NOTE: Final = "command exit with a non-zero status, press a key to exit"


@tool(
    "watch",
    options="b,beep c,color d,differences=? e,errexit g,chgexit q,equexit= n,interval= p,precise r,no-rerun t,no-title "
    "w,no-wrap x,exec",
    usage="[options] command",
    version="from procps-ng 4.0.2",
    try_help="\nUsage:\n {name} [options] command\n\nFor more details see watch(1).",
    stop_early=True,
)
async def watch(ctx: Context, options: Options) -> int:
    """Run a command every two seconds, or as often as -n says."""
    if not options.operands:
        raise UsageError("\nUsage:\n watch [options] command")
    text = options.last("n", default="2").replace(",", ".")
    interval_s = parse_seconds(text)
    if interval_s is None:
        fail(ctx, f"failed to parse argument: '{options.last('n')}'")
    interval_s = min(max(interval_s, LEAST_INTERVAL_S), LONGEST_INTERVAL_S)
    line = " ".join(options.operands)
    argv = options.operands if options.any("x") else ["sh", "-c", line]
    try:
        screen = CursesScreen(ctx.env.get("TERM", ""), get_size(ctx))
    except OpeningFailed as failed:
        raise UsageError(str(failed).rstrip()) from None
    previous: bytes | None = None
    status: int | None = None

    async def draw() -> str | None:
        nonlocal previous, status
        heading = [] if options.any("t") else [_format_heading(ctx, interval_s, line), ""]
        done = await ctx.run(argv)
        ctx.spend_bytes(len(done.stdout) + len(done.stderr))
        text = (done.stdout + done.stderr).decode("utf-8", "replace")
        rows = heading + _wrap(text, screen.columns, cut=options.any("w"))
        if done.status and options.any("e"):
            status = FAILED_COMMAND
            above = screen.lines - 1
            rows = [*rows[:above], *[""] * (above - len(rows)), FAILED_NOTE]
        if options.any("g") and previous not in (None, done.stdout):
            status = 0
        previous = done.stdout
        frame = screen.draw(rows)
        if status is None:
            return frame
        await ctx.out(frame)
        return None

    await redraw(ctx, interval_s, draw, enter=screen.begin(), leave=screen.end(), precise=options.any("p"))
    return status or 0


def _wrap(text: str, columns: int, *, cut: bool) -> list[str]:
    """Return the rows of the screen that a text takes."""
    rows = []
    for line in text.removesuffix("\n").split("\n"):
        shown = line.expandtabs()
        starts = range(0, 1 if cut else max(1, len(shown)), columns)
        rows += [shown[start : start + columns] for start in starts]
    return rows


def _format_heading(ctx: Context, interval_s: float, line: str) -> str:
    width = get_size(ctx)[0]
    left = f"Every {interval_s:.1f}s: {line}"
    moment = format_moment(Moment.of(ctx.now), "%a %b %e %H:%M:%S %Y", zone_of(ctx.env))
    right = f"{ctx.container.hostname}: {moment}"
    room = width - len(right) - 2
    if len(left) > room:
        left = f"{left[: room - 3]}..."
    return f"{left}{right.rjust(width - len(left))}"
