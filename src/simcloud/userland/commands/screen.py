"""Programs that use the whole screen of a terminal: top and watch redraw it until Ctrl-C, less pages through a text.

A terminal may pass on whole lines instead of single keys, so less also takes its commands with Enter.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Final

from simcloud.machine.process import SIZE, Context, Signal, Stream, Tty
from simcloud.sim import Event, TimedOut

CLEAR: Final = "\x1b[H\x1b[J"
ENTER: Final = "\x1b[?1049h"
LEAVE: Final = "\x1b[?1049l"
INVERSE: Final = "\x1b[7m{}\x1b[27m"


def get_size(ctx: Context) -> tuple[int, int]:
    """Return the columns and lines of the terminal."""
    return ctx.stdout.size if isinstance(ctx.stdout, Tty) else SIZE


@contextmanager
def _use_screen(tty: Stream) -> Iterator[None]:
    if isinstance(tty, Tty):
        tty.full_screen = True
    try:
        yield
    finally:
        if isinstance(tty, Tty):
            tty.full_screen = False


async def redraw(
    ctx: Context,
    interval_s: float,
    build_frame: Callable[[], Awaitable[str | None]],
    *,
    enter: str = ENTER,
    leave: str = LEAVE,
    precise: bool = False,
) -> None:
    """Write a frame every so often, until Ctrl-C or a frame of None; ``precise`` counts the time that frames take."""
    stopped: Event[None] = Event(ctx.kernel)
    for signal in (Signal.INT, Signal.TERM):
        ctx.signals.on(signal, lambda _: stopped.set(None))
    with _use_screen(ctx.stdout):
        await ctx.out(enter)
        begun_at = ctx.kernel.now
        while not stopped.is_set and (frame := await build_frame()) is not None:
            ctx.spend_turn()
            await ctx.out(frame)
            took_s = ctx.kernel.now - begun_at if precise else 0.0
            try:
                await stopped.wait(max(0.0, interval_s - took_s))
            except TimedOut:
                begun_at = ctx.kernel.now
        await ctx.out(leave)


def format_frame(ctx: Context, text: str) -> str:
    """Return a frame that replaces the whole screen."""
    columns, lines = get_size(ctx)
    return CLEAR + "\n".join(line[:columns] for line in text.split("\n")[:lines])


def find_keyboard(ctx: Context) -> Stream | None:
    """Return the terminal to read commands from, also where standard input is a pipe."""
    if ctx.stdin.isatty:
        return ctx.stdin
    return ctx.stdout if isinstance(ctx.stdout, Tty) else None


async def page(ctx: Context, keyboard: Stream, text: str, name: str) -> None:
    """Show a text screen by screen, as less does."""
    lines = text.removesuffix("\n").split("\n")
    height = get_size(ctx)[1] - 1
    top, pattern = 0, ""
    last = max(0, len(lines) - height)
    await ctx.out(ENTER)
    while True:
        ctx.spend_turn()
        at_end = top >= last
        prompt = INVERSE.format("(END)" if at_end else name) if at_end or (name and not top) else ":"
        await ctx.out(CLEAR + "\n".join(lines[top : top + height]) + f"\n{prompt}")
        data = await keyboard.read()
        while data[:1] in (b"/", b"?") and not data.endswith(b"\n"):  # typed key by key
            await ctx.stdout.write(data[-1:])
            data += await keyboard.read() or b"\n"
        key = data.decode(errors="replace").rstrip("\n")
        if not data or key in ("q", "Q", ":q", "ZZ"):
            break
        if key.startswith(("/", "?")):
            pattern = key[1:] or pattern
        if key.startswith("/") or key == "n":
            top = _find_line(lines, pattern, top + 1, top)
        else:
            half = height // 2
            steps = {
                "": height,
                " ": height,
                "f": height,
                "b": -height,
                "j": 1,
                "k": -1,
                "d": half,
                "u": -half,
                "\x1b[B": 1,
                "\x1b[A": -1,
                "\x1b[6~": height,
                "\x1b[5~": -height,
            }
            top = 0 if key == "g" else last if key == "G" else top + steps.get(key, 0)
        top = min(max(top, 0), last)
    await ctx.out(LEAVE)


def _find_line(lines: list[str], pattern: str, start: int, otherwise: int) -> int:
    try:
        wanted = re.compile(pattern)
    except re.error:
        return otherwise
    return next((number for number in range(start, len(lines)) if wanted.search(lines[number])), otherwise)
