"""watch: run a command repeatedly.

The genuine tool redraws a terminal. Without one, each output is printed below the last, under the same heading.
"""

from __future__ import annotations

from typing import Final

from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options, UsageError
from simcloud.userland.commands.system.dates import Moment, format_moment, zone_of
from simcloud.userland.commands.system.durations import parse_seconds
from simcloud.userland.commands.text.tool import fail, tool

LEAST_INTERVAL_S: Final = 0.1
LONGEST_INTERVAL_S: Final = 2_678_400.0
WIDTH: Final = 80
FAILED_COMMAND: Final = 8


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
    previous: bytes | None = None
    while True:
        ctx.spend_turn()
        begun_at = ctx.kernel.now
        if not options.any("t"):
            await ctx.out(_heading(ctx, interval_s, line))
        done = await ctx.run(argv)
        ctx.spend_bytes(len(done.stdout) + len(done.stderr))
        await ctx.stdout.write(done.stdout + done.stderr)
        if done.status and options.any("e"):
            return FAILED_COMMAND
        if options.any("g") and previous not in (None, done.stdout):
            return 0
        previous = done.stdout
        took_s = ctx.kernel.now - begun_at if options.any("p") else 0.0
        await ctx.sleep(max(0.0, interval_s - took_s))


def _heading(ctx: Context, interval_s: float, line: str) -> str:
    left = f"Every {interval_s:.1f}s: {line}"
    moment = format_moment(Moment.of(ctx.now), "%a %b %e %H:%M:%S %Y", zone_of(ctx.env))
    right = f"{ctx.container.hostname}: {moment}"
    return f"{left}{right.rjust(max(WIDTH - len(left), len(right) + 1))}\n\n"
