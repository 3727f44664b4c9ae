"""``sort``: by the byte values of lines, or by keys. Its input is held in memory and charged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cmp_to_key
from heapq import merge
from itertools import groupby

from simcloud.machine.files import FileError
from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.inputs import Inputs, read_operand, split_lines
from simcloud.userland.commands.text.order.sort_keys import ORDERINGS, Key, parse_key
from simcloud.userland.commands.text.order.sort_values import Value
from simcloud.userland.commands.text.quoting import quote, quote_name
from simcloud.userland.commands.text.tool import fail, misuse, one_of, tool

_TROUBLE = 2
_LINES_PER_TURN = 40
_SORT_WORDS = {
    "general-numeric": "g",
    "human-numeric": "h",
    "month": "M",
    "numeric": "n",
    "random": "R",
    "version": "V",
}


@tool(
    "sort",
    options="b,ignore-leading-blanks d,dictionary-order f,ignore-case g,general-numeric-sort i,ignore-nonprinting "
    "M,month-sort h,human-numeric-sort n,numeric-sort R,random-sort random-source= r,reverse sort= V,version-sort "
    "batch-size= c C check=? compress-program= files0-from= k,key= m,merge o,output= s,stable S,buffer-size= "
    "t,field-separator= T,temporary-directory= parallel= u,unique z,zero-terminated",
    trouble=_TROUBLE,
)
async def sort(ctx: Context, options: Options) -> int:
    """Write all lines of all files in order."""
    order = Order(ctx, options)
    end = b"\0" if "z" in options else b"\n"
    operands = await _operands(ctx, options)
    checking = _checking(ctx, options)
    if checking:
        if len(operands) > 1:
            fail(ctx, f"extra operand {quote(operands[1])} not allowed with -{checking}", _TROUBLE)
        return await _check(ctx, order, operands[0], end, quiet=checking == "C")
    files = [await _lines(ctx, operand, end) for operand in operands]
    ordered = (
        order.merge_files(files)
        if "m" in options
        else order.sort([line for lines in files for line in lines])
    )
    await _write(ctx, options, b"".join([line + end for line in ordered]))
    return 0


async def _operands(ctx: Context, options: Options) -> list[str]:
    if "files0-from" not in options:
        return options.operands or ["-"]
    if options.operands:
        misuse(
            ctx,
            f"extra operand {quote(options.operands[0])}\nfile operands cannot be combined with --files0-from",
            _TROUBLE,
        )
    listed = options.last("files0-from")
    names = await read_operand(ctx, listed, "open failed: {name}: {why}", _TROUBLE)
    if not names:
        fail(ctx, f"no input from {quote(listed)}", _TROUBLE)
    return [name.decode("utf-8", "surrogateescape") for name in names.removesuffix(b"\0").split(b"\0")]


def _checking(ctx: Context, options: Options) -> str:
    kinds = ""
    for name, value in options.given:
        if name in ("c", "C"):
            kinds += name
        elif name == "check":
            quiet = value and one_of(ctx, "check", value, ("quiet,silent", "diagnose-first")) == "quiet"
            kinds += "C" if quiet else "c"
    if len(set(kinds)) > 1:
        fail(ctx, "options '-cC' are incompatible", _TROUBLE)
    if kinds and "o" in options:
        fail(ctx, f"options '-{kinds[0]}o' are incompatible", _TROUBLE)
    return kinds[:1]


async def _lines(
    ctx: Context, operand: str, end: bytes, cannot_open: str = "cannot read: {name}: {why}"
) -> list[bytes]:
    inputs = Inputs(ctx, [operand], cannot_open, "read failed: {name}: {why}")
    source = await inputs.open(operand)
    data = await source.read_all() if source is not None else b""
    if inputs.failed:
        ctx.exit(_TROUBLE)
    return split_lines(ctx, data.removesuffix(end), end) if data else []


async def _check(ctx: Context, order: Order, operand: str, end: bytes, quiet: bool) -> int:
    lines = await _lines(ctx, operand, end, "open failed: {name}: {why}")
    for number in range(1, len(lines)):
        difference = order.compare(lines[number - 1], lines[number])
        if difference > 0 or (order.unique and difference == 0):
            if not quiet:
                where = f"{ctx.args[0]}: {quote_name(operand)}:{number + 1}: disorder: "
                await ctx.stderr.write(where.encode("utf-8", "surrogateescape") + lines[number] + end)
            return 1
    return 0


async def _write(ctx: Context, options: Options, data: bytes) -> None:
    ctx.spend_bytes(len(data))
    path = options.last("o")
    try:
        if "o" in options:
            output = await ctx.open(path, read=False, write=True, create=True, truncate=True)
        else:
            output = ctx.stdout
    except FileError as error:
        fail(ctx, f"open failed: {quote_name(path)}: {error.strerror}", _TROUBLE)
    try:
        await output.write(data)
    except FileError as error:
        name = path if "o" in options else "'standard output'"
        fail(ctx, f"write failed: {name}: {error.strerror}", _TROUBLE)
    if "o" in options:
        output.close()


class Order:
    """Compares lines by each key in turn, and finally as a whole."""

    def __init__(self, ctx: Context, options: Options) -> None:
        self._ctx = ctx
        tab = _tab(ctx, options)
        flags = {name for name, _ in options.given if name in ORDERINGS}
        if "sort" in options:
            flags.add(_SORT_WORDS[one_of(ctx, "sort", options.last("sort"), tuple(_SORT_WORDS))])
        blanks = "b" in flags
        flags.discard("b")
        keys = [parse_key(ctx, value) for value in options.all("k")]
        for key in keys:
            if key.inherits:
                key.flags, key.skip_start, key.skip_end = set(flags), blanks, blanks
        if not keys and (blanks or flags - {"r"}):
            keys = [Key(flags=flags, skip_start=blanks, skip_end=blanks)]
        for key in keys:
            _check_flags(ctx, key)
            key.tab = tab
            if "R" in key.flags:
                key.salt = ctx.random("sort").randbytes(16)
        self.unique = "u" in options
        self._reverse = "r" in flags
        self._last_resort = not keys or not ("s" in options or self.unique)
        self._keys = [(key.prepare(), key.reverse) for key in keys]

    def sort(self, lines: list[bytes]) -> list[bytes]:
        """The lines in order. Sorting by the least important first leaves the rest to stability."""
        lines = list(lines)
        self._ctx.spend_turn(len(lines) * (1 + len(self._keys)) // _LINES_PER_TURN)
        if self._last_resort:
            lines.sort(reverse=self._reverse)
        for value, reverse in reversed(self._keys):
            lines.sort(key=value, reverse=reverse)
        return self._without_repeats(lines)

    def merge_files(self, files: list[list[bytes]]) -> list[bytes]:
        """Sorted files as one, taking always the least of the next lines."""
        return self._without_repeats(merge(*files, key=cmp_to_key(self.compare)))

    def compare(self, one: bytes, other: bytes) -> int:
        """Negative, zero or positive as the first line comes before, with or after the second."""
        for value, reverse in self._keys:
            difference = _compare(value(one), value(other))
            if difference:
                return -difference if reverse else difference
        difference = _compare(one, other) if self._last_resort else 0
        return -difference if self._reverse else difference

    def _values(self, line: bytes) -> Value:
        return [value(line) for value, _ in self._keys]

    def _without_repeats(self, lines: Iterable[bytes]) -> list[bytes]:
        if not self.unique:
            return list(lines)
        runs: Iterator[tuple[Value, Iterator[bytes]]] = groupby(lines, self._values if self._keys else None)
        return [next(run) for _, run in runs]


def _compare(one: Value, other: Value) -> int:
    return int(one > other) - int(one < other)


def _check_flags(ctx: Context, key: Key) -> None:
    """Orderings that exclude each other are refused."""
    flags = key.flags
    kinds = sum(letter in flags for letter in "nghM") + (
        ("V" in flags) or ("R" in flags) or bool(flags & {"d", "i"})
    )
    if kinds > 1:
        shown = "d" if "d" in flags else "i"
        letters = "".join(letter for letter in ORDERINGS if letter in flags and letter not in "br")
        if shown == "d":
            letters = letters.replace("i", "")
        fail(ctx, f"options '-{letters}' are incompatible", _TROUBLE)


def _tab(ctx: Context, options: Options) -> bytes:
    tabs = options.all("t")
    if any(tab != tabs[0] for tab in tabs):
        fail(ctx, "incompatible tabs", _TROUBLE)
    if not tabs:
        return b""
    tab = tabs[0].encode("utf-8", "surrogateescape")
    if not tab:
        fail(ctx, "empty tab", _TROUBLE)
    if tab == b"\\0":
        return b"\0"
    if len(tab) > 1:
        fail(ctx, f"multi-character tab {quote(tabs[0])}", _TROUBLE)
    return tab
