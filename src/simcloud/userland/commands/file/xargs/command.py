"""xargs: the command, its options and the processes it runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from msgspec import Struct

from simcloud.machine.files import FileError
from simcloud.machine.process import (
    CommandNotFound,
    Context,
    ForkFailed,
    NotExecutable,
    NullStream,
    Process,
    Stream,
)
from simcloud.sim import first_of
from simcloud.userland.commands.file.directives import ESCAPES
from simcloud.userland.commands.file.xargs.items import (
    MAX_LINE_BYTES,
    Item,
    TooLong,
    UnmatchedQuote,
    blank_separated,
    split_at,
    whole_lines,
)
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.quoting import quote_name, quote_name_always
from simcloud.userland.commands.text.tool import fail, misuse, tool

MANY: Final = 1_000_000
ITEMS_PER_TURN: Final = 4
"""Number of arguments that cost one turn."""

CLASHES: Final = {"n": ("--max-args/-n", "--max-args"), "L": ("--max-lines/-L", "--max-lines"),
                  "I": ("--replace/-I/-i", "--replace")}  # fmt: skip


class _Plan(Struct):
    """The parsed options."""

    argv: list[str]
    mark: str = ""
    per_call: int = MANY
    lines: int = 0
    size_bytes: int = MAX_LINE_BYTES
    exact: bool = False
    at_once: int = 1


@tool(
    "xargs",
    options="0,null a,arg-file= d,delimiter= E= e,eof=? I= i,replace=? L= l,max-lines=? n,max-args= o,open-tty "
    "P,max-procs= p,interactive process-slot-var= r,no-run-if-empty s,max-chars= show-limits t,verbose x,exit",
    usage="[OPTION]... COMMAND [INITIAL-ARGS]...",
    version="(GNU findutils) 4.9.0",
    stop_early=True,
)
async def xargs(ctx: Context, options: Options) -> int:
    """Build command lines from standard input and run them."""
    plan = await _plan(ctx, options)
    stream: Stream = ctx.stdin
    path = options.last("a")
    if path and path != "-":
        try:
            stream = await ctx.open(path)
        except FileError as error:
            fail(ctx, f"Cannot open input file {quote_name_always(path)}: {error}")
    return await _Runner(ctx, options, plan).run(_items(ctx, options, plan, stream))


async def _plan(ctx: Context, options: Options) -> _Plan:
    plan = _Plan(options.operands or ["echo"], exact=options.any("x"))
    chosen = ""
    for option, value in options.given:
        kind = {"i": "I", "l": "L"}.get(option, option)
        if kind in CLASHES and not (kind == "n" and value == "1" and chosen == "I"):
            if chosen and chosen != kind:
                await ctx.err(
                    f"{ctx.args[0]}: warning: options {CLASHES[chosen][1]} and {CLASHES[kind][0]} are mutually "
                    f"exclusive, ignoring previous {CLASHES[chosen][1]} value\n"
                )
            chosen = kind
        if option in ("n", "P", "s") or (kind == "L" and value):
            _set_number(ctx, plan, kind, value)
        elif option in ("I", "i"):
            plan.mark = value or "{}"
        elif option == "l":
            plan.lines = 1
    plan.mark = plan.mark if chosen == "I" else ""
    plan.lines = plan.lines if chosen == "L" else 1 if chosen == "I" else 0
    plan.per_call = plan.per_call if chosen == "n" else MANY
    return plan


def _set_number(ctx: Context, plan: _Plan, option: str, text: str) -> None:
    digits = text.removeprefix("-")
    if not (digits.isdecimal() and digits.isascii()) or len(digits) > 18:
        misuse(ctx, f'invalid number "{text}" for -{option} option')
    number, least = int(text), 0 if option == "P" else 1
    if number < least:
        misuse(ctx, f"value {number} for -{option} option should be >= {least}")
    if option == "n":
        plan.per_call = number
    elif option == "L":
        plan.lines = number
    elif option == "P":
        plan.at_once = number or MANY
    else:
        plan.size_bytes = min(number, MAX_LINE_BYTES)


def _items(ctx: Context, options: Options, plan: _Plan, stream: Stream) -> AsyncIterator[Item]:
    if options.any("0"):
        return split_at(ctx, stream, b"\0")
    if options.any("d"):
        return split_at(ctx, stream, _delimiter(ctx, options.last("d")))
    if plan.mark:
        return whole_lines(ctx, stream)
    return blank_separated(ctx, stream, options.last("E", "e"))


def _delimiter(ctx: Context, text: str) -> bytes:
    data = text.encode("utf-8", "surrogateescape")
    if len(data) == 1:
        return data
    rest = text[1:]
    if text.startswith("\\") and rest:
        if rest in ESCAPES:
            return ESCAPES[rest].encode()
        base, digits = (16, rest[1:]) if rest[0] == "x" else (8, rest)
        try:
            number = int(digits, base) if digits.isalnum() else -1
        except ValueError:
            number = -1
        if 0 <= number < 256:
            return bytes([number])
        fail(ctx, f"Invalid escape sequence {text} in input delimiter specification.")
    fail(
        ctx,
        f"Invalid input delimiter specification {text}: the delimiter must be either a single character or an "
        "escape sequence starting with \\.",
    )


class _Runner:
    """Collects items into command lines and runs them, several at once with -P."""

    def __init__(self, ctx: Context, options: Options, plan: _Plan) -> None:
        self._ctx = ctx
        self._plan = plan
        self._trace = options.any("t")
        self._asks = options.any("p")
        self._skip_empty = options.any("r") or bool(plan.mark)
        self._own_size = sum(_size(word) for word in plan.argv)
        self._batch: list[str] = []
        self._batch_size = 0
        self._lines = 0
        self._taken = 0
        self._ran = False
        self._running: list[Process] = []
        self._status = 0
        self._over = 0

    async def run(self, items: AsyncIterator[Item]) -> int:
        """Run all there is to run; the status."""
        broken: UnmatchedQuote | None = None
        try:
            async for item in items:
                await self._add(item)
                if self._over:
                    break
        except UnmatchedQuote as quote:
            broken = quote
            await self._ctx.err(
                f"{self._ctx.args[0]}: unmatched {quote} quote; by default quotes are special to xargs unless you use "
                "the -0 option\n"
            )
        except TooLong:
            fail(self._ctx, "argument line too long")
        if not self._over and (self._batch or not (self._ran or self._skip_empty or broken)):
            await self._start()
        while self._running:
            await self._wait_for_one()
        return self._over or (1 if broken else self._status)

    async def _add(self, item: Item) -> None:
        plan = self._plan
        self._taken += 1
        if self._taken % ITEMS_PER_TURN == 0:
            self._ctx.spend_turn()
        if plan.mark:
            self._batch = [item.text]
            await self._start()
            return
        size = _size(item.text)
        if self._own_size + size > plan.size_bytes:
            if self._batch and not plan.exact:
                await self._start()
            fail(self._ctx, "argument line too long")
        if self._own_size + self._batch_size + size > plan.size_bytes:
            if plan.exact:
                fail(self._ctx, "argument list too long")
            await self._start()
        self._batch.append(item.text)
        self._batch_size += size
        self._lines += item.ends_line
        if len(self._batch) >= plan.per_call or (plan.lines and self._lines >= plan.lines):
            await self._start()

    async def _start(self) -> None:
        ctx, plan = self._ctx, self._plan
        ctx.spend_turn()
        if plan.mark:
            argv = [word.replace(plan.mark, self._batch[0]) for word in plan.argv]
        else:
            argv = [*plan.argv, *self._batch]
        self._batch, self._batch_size, self._lines, self._ran = [], 0, 0, True
        while len(self._running) >= plan.at_once and not self._over:
            await self._wait_for_one()
        if self._over:
            return
        if self._trace or self._asks:
            await ctx.err(" ".join(quote_name(word) for word in argv) + ("" if self._asks else "\n"))
        if self._asks:  # it asks at the terminal, and there is none
            fail(ctx, "failed to open /dev/tty for reading: No such device or address")
        try:
            process = ctx.start(argv, fds={**ctx.process.streams, 0: NullStream()})
        except CommandNotFound:
            self._over = await self._report_failure(argv[0], "No such file or directory", 127)
            return
        except (NotExecutable, ForkFailed) as error:
            reason = "Permission denied" if str(error) == "Is a directory" else str(error)
            self._over = await self._report_failure(argv[0], reason, 126)
            return
        self._running.append(process)
        if plan.at_once == 1:
            await self._wait_for_one()

    async def _wait_for_one(self) -> None:
        """Until one of the running commands ends; what its status means for xargs."""
        ended, _ = await first_of(self._ctx.kernel, [process.wait() for process in self._running], "xargs")
        process = self._running.pop(ended)
        name = process.argv[0]
        if process.ended_by is not None:
            self._over = await self._report_failure(
                name, f"terminated by signal {int(process.ended_by)}", 125
            )
        elif process.status == 255:
            self._over = await self._report_failure(name, "exited with status 255; aborting", 124)
        elif process.status:
            self._status = 123

    async def _report_failure(self, name: str, what: str, status: int) -> int:
        await self._ctx.err(f"{self._ctx.args[0]}: {name}: {what}\n")
        return status


def _size(word: str) -> int:
    return len(word.encode("utf-8", "surrogateescape")) + 1
