"""``column``: format lists in columns and tables."""

from __future__ import annotations

from msgspec import Struct, field

from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.counts import parse_number
from simcloud.userland.commands.text.inputs import Inputs, emit
from simcloud.userland.commands.text.quoting import quote
from simcloud.userland.commands.text.tool import UTIL_LINUX, fail, tool

_TAB = 8
_WITHOUT_CONTROLS = dict.fromkeys([*range(0x20), 0x7F])
_TABLE_ONLY = ("N", "R", "H", "O", "E", "T", "W")


@tool(
    "column",
    options="c,output-width= d,table-noheadings e,table-header-repeat E,table-noextreme= H,table-hide= "
    "l,table-columns-limit= L,keep-empty-lines N,table-columns= o,output-separator= O,table-order= "
    "R,table-right= s,separator= t,table T,table-truncate= W,table-wrap= x,fillrows",
    usage="[options] [<file>...]",
    version=UTIL_LINUX,
)
async def column(ctx: Context, options: Options) -> int:
    """Write lists in several columns, or tables."""
    width = _width(ctx, options)
    if "t" not in options and options.any(*_TABLE_ONLY):
        fail(ctx, "option --table required for all --table-*")
    inputs = Inputs(
        ctx, options.operands, "{plain}: {why}", "read failed: {why}", weight=6, dash_is_stdin=False
    )
    lines: list[str] = []
    async for source in inputs.sources():
        async for batch in source.batches():
            lines += [_readable(line.removesuffix(b"\n")) for line in batch]
        if source.failed:
            return 1
    if "L" not in options:
        lines = [line for line in lines if line.strip(" \t")]
    table = "t" in options
    shown = _Table(ctx, options).show(lines) if table else _fill(lines, width, by_rows="x" in options)
    await emit(ctx, shown.encode("latin-1"))
    return inputs.status


def _width(ctx: Context, options: Options) -> int:
    text = options.last("c") or ctx.env.get("COLUMNS", "80")
    if text == "unlimited":
        return 2**62
    value = parse_number(text)
    if value is None or value < 0:
        if "c" in options:
            fail(ctx, f"invalid columns argument: {quote(text)}")
        return 80
    return value


def _readable(line: bytes) -> str:
    """Bytes that are no ASCII cannot be shown in the C locale."""
    if line.isascii():
        return line.decode("ascii")
    return line.decode("ascii", "backslashreplace")


def _cells(text: str) -> int:
    """Return the width of a text; control characters have none."""
    return len(text) if text.isprintable() else len(text.translate(_WITHOUT_CONTROLS))


def _fill(lines: list[str], width: int, by_rows: bool) -> str:
    longest = max((_cells(line) for line in lines), default=0)
    if longest >= width:
        return "".join(f"{line}\n" for line in lines)
    step = (longest + _TAB) // _TAB * _TAB
    columns = max(1, width // step)
    rows = -(-len(lines) // columns)
    table: list[list[str]] = []
    if by_rows:
        table = [lines[at : at + columns] for at in range(0, len(lines), columns)]
    else:
        table = [lines[row::rows] for row in range(rows)]
    return "".join(_add_tabs(row, step) + "\n" for row in table)


def _add_tabs(row: list[str], step: int) -> str:
    shown, reached = "", 0
    for position, cell in enumerate(row):
        if position:
            target = position * step
            while (reached + _TAB) // _TAB * _TAB <= target:
                shown += "\t"
                reached = (reached + _TAB) // _TAB * _TAB
        shown += cell
        reached += _cells(cell)
    return shown


class _Column(Struct):
    name: str
    number: int
    right: bool = False
    hidden: bool = False
    width: int = field(default=0)


class _Table:
    def __init__(self, ctx: Context, options: Options) -> None:
        self._ctx = ctx
        self._options = options
        self._separators = options.last("s", default=" \t")
        self._greedy = "s" not in options
        self._gap = options.last("o", default="  ")
        self._limit = parse_number(options.last("l", default="0"))
        if self._limit is None or ("l" in options and self._limit < 1):
            fail(ctx, f"invalid columns limit argument: {quote(options.last('l'))}")
        self._names = options.last("N").split(",") if "N" in options else []

    def show(self, lines: list[str]) -> str:
        """All lines as rows of a table."""
        rows = [self._split(line) for line in lines]
        columns = [
            _Column(self._names[number] if number < len(self._names) else "", number)
            for number in range(max([len(row) for row in rows] + [len(self._names)], default=0))
        ]
        for letter, attribute in (("R", "right"), ("H", "hidden"), ("E", ""), ("T", ""), ("W", "")):
            for picked in self._pick_columns(letter, columns):
                if attribute:
                    setattr(picked, attribute, True)
        first = self._pick_columns("O", columns)
        ordered = first + [column for column in columns if column not in first]
        shown = [column for column in ordered if not column.hidden]
        if self._names and "d" not in self._options:
            rows.insert(0, [column.name for column in columns])
        cells = [[row[column.number] if column.number < len(row) else "" for column in shown] for row in rows]
        for position, column in enumerate(shown):
            column.width = max((_cells(row[position]) for row in cells), default=0)
        self._ctx.spend_bytes(len(cells) * sum(column.width + len(self._gap) for column in shown))
        return "".join(self._row(row, shown) + "\n" for row in cells)

    def _row(self, row: list[str], columns: list[_Column]) -> str:
        texts: list[str] = []
        for position, (cell, column) in enumerate(zip(row, columns, strict=True)):
            padding = " " * (column.width - _cells(cell))
            if column.right:
                texts.append(padding + cell)
            else:
                texts.append(cell if position == len(columns) - 1 else cell + padding)
        return self._gap.join(texts)

    def _split(self, line: str) -> list[str]:
        text = line.strip(" \t") if self._greedy and not self._limit else line
        if self._greedy:
            text = text.lstrip(self._separators)
        cells: list[str] = []
        while True:
            if self._limit and len(cells) == self._limit - 1:
                return [*cells, text] if text or not self._greedy else cells
            ends = [place for place in map(text.find, self._separators) if place >= 0]
            if not ends:
                return [*cells, text] if text or not self._greedy else cells
            end = min(ends)
            cells.append(text[:end])
            text = text[end + 1 :]
            if self._greedy and not (self._limit and len(cells) == self._limit - 1):
                text = text.lstrip(self._separators)

    def _pick_columns(self, letter: str, columns: list[_Column]) -> list[_Column]:
        """The columns that an option lists by number or name."""
        picked: list[_Column] = []
        for word in filter(None, self._options.last(letter).split(",")):
            number = parse_number(word)
            if number is not None and number > 0:
                picked += [column for column in columns if column.number == number - 1]
                continue
            if word == "-":
                picked += [column for column in columns if not column.name]
                continue
            named = [column for column in columns if column.name == word]
            if not named:
                fail(self._ctx, f"undefined column name '{word}'")
            picked += named[:1]
        return picked
