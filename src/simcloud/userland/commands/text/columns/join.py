"""``join``: lines of two sorted files with equal fields, as a database would join them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.counts import parse_number
from simcloud.userland.commands.text.inputs import Inputs, emit
from simcloud.userland.commands.text.quoting import quote, quoted_name
from simcloud.userland.commands.text.tool import at_most, fail, misuse, tool

_JOIN_FIELD = (0, 0)
_BLANKS_AS_SPACES = bytes.maketrans(b"\t\n", b"  ")


@tool(
    "join",
    options="a= e= i,ignore-case j= o= t= v= 1= 2= z,zero-terminated check-order nocheck-order header",
    usage="[OPTION]... FILE1 FILE2",
)
async def join(ctx: Context, options: Options) -> int:
    """Write a line for each pair of lines with equal join fields."""
    operands = options.operands
    plan = _plan(ctx, options)
    if not operands:
        misuse(ctx, "missing operand")
    if len(operands) == 1:
        misuse(ctx, f"missing operand after {quote(operands[0])}")
    at_most(ctx, operands, 2)
    if operands == ["-", "-"]:
        fail(ctx, "both files cannot be standard input")
    inputs = Inputs(ctx, operands, cannot_read="read error: {why}")
    sides: list[_Side] = []
    for number, operand in enumerate(operands):
        source = await inputs.open(operand)
        if source is None:
            return 1
        sides.append(_Side(ctx, plan, number, operand, source.lines(plan.end)))
    return await _Join(ctx, plan, sides, inputs).run()


@dataclass
class _Plan:
    """What the options ask for."""

    keys: list[int]
    tab: bytes | None
    end: bytes
    ignore_case: bool
    check: str
    header: bool
    pairs: bool = True
    unpaired: set[int] = field(default_factory=set)
    filler: bytes = b""
    output: list[tuple[int, int]] | None = None
    auto: bool = False

    def split(self, line: bytes) -> list[bytes]:
        if self.tab is None:
            spaced = line.translate(_BLANKS_AS_SPACES)
            fields = [part for part in spaced.split(b" ") if part]
            return [*fields, b""] if fields and spaced.endswith(b" ") else fields
        return line.split(self.tab) if self.tab else [line]

    @property
    def gap(self) -> bytes:
        return self.tab or (b" " if self.tab is None else b"\n")


def _plan(ctx: Context, options: Options) -> _Plan:
    keys: list[int | None] = [None, None]
    plan = _Plan(
        keys=[0, 0],
        tab=None,
        end=b"\0" if "z" in options else b"\n",
        ignore_case="i" in options,
        check="on" if "check-order" in options else "off" if "nocheck-order" in options else "auto",
        header="header" in options,
    )
    for name, value in options.given:
        if name in ("a", "v"):
            plan.pairs &= name == "a"
            if parse_number(value) not in (1, 2):
                fail(ctx, f"invalid field number: {quote(value)}")
            plan.unpaired.add(int(value) - 1)
        elif name in ("1", "2", "j"):
            for side in (0, 1) if name == "j" else (int(name) - 1,):
                position = _field_number(ctx, value)
                if keys[side] not in (None, position):
                    fail(ctx, f"incompatible join fields {(keys[side] or 0) + 1}, {position + 1}")
                keys[side] = position
        elif name == "e":
            plan.filler = value.encode("utf-8", "surrogateescape")
        elif name == "t":
            plan.tab = _tab(ctx, value)
        elif name == "o" and value == "auto":
            plan.auto = True
        elif name == "o":
            plan.output = (plan.output or []) + _output_list(ctx, value)
    plan.keys = [key or 0 for key in keys]
    return plan


def _field_number(ctx: Context, text: str) -> int:
    value = parse_number(text)
    if value is None or value < 1:
        fail(ctx, f"invalid field number: {quote(text)}")
    return value - 1


def _tab(ctx: Context, text: str) -> bytes:
    tab = text.encode("utf-8", "surrogateescape")
    if tab == b"\\0":
        return b"\0"
    if len(tab) > 1:
        fail(ctx, f"multi-character tab {quote(text)}")
    return tab


def _output_list(ctx: Context, text: str) -> list[tuple[int, int]]:
    """Pairs of file and field, both from 0; file 0 here is the join field itself."""
    found: list[tuple[int, int]] = []
    for word in text.replace(",", " ").replace("\t", " ").split(" "):
        if word == "0":
            found.append(_JOIN_FIELD)
            continue
        if word[:1] not in ("1", "2"):
            fail(ctx, f"invalid file number in field spec: {quote(word)}")
        if word[1:2] != ".":
            fail(ctx, f"invalid field specifier: {quote(word)}")
        found.append((int(word[0]), _field_number(ctx, word[2:])))
    return found


@dataclass
class _Row:
    fields: list[bytes]
    key: bytes
    line: bytes


class _Side:
    """One file: its lines in groups of equal keys, their order checked once it can matter."""

    def __init__(
        self, ctx: Context, plan: _Plan, number: int, name: str, lines: AsyncIterator[bytes]
    ) -> None:
        self._ctx = ctx
        self._plan = plan
        self._number = number
        self._name = name
        self._lines = lines
        self._line_number = 0
        self._previous: _Row | None = None
        self.disorder = False
        self.next: _Row | None = None

    async def advance(self, unpaired_seen: bool, unchecked: bool = False) -> None:
        raw = await anext(self._lines, None)
        if raw is None:
            self.next = None
            return
        self._line_number += 1
        line = raw.removesuffix(self._plan.end)
        fields = self._plan.split(line)
        position = self._plan.keys[self._number]
        key = fields[position] if position < len(fields) else b""
        self.next = _Row(fields, key.upper() if self._plan.ignore_case else key, line)
        if not unchecked:
            await self._check(self.next, unpaired_seen)
            self._previous = self.next

    async def _check(self, row: _Row, unpaired_seen: bool) -> None:
        strict = self._plan.check == "on"
        if (
            self._previous is None
            or self.disorder
            or self._plan.check == "off"
            or not (strict or unpaired_seen)
        ):
            return
        if self._previous.key > row.key:
            text = row.line.decode("utf-8", "surrogateescape")
            message = f"{quoted_name(self._name)}:{self._line_number}: is not sorted: {text}"
            if strict:
                fail(self._ctx, message)
            self.disorder = True
            await self._ctx.err(f"{self._ctx.args[0]}: {message}\n")

    async def group(self, unpaired_seen: bool) -> list[_Row]:
        """All next lines with the same key."""
        first = self.next
        rows: list[_Row] = []
        while first is not None and self.next is not None and self.next.key == first.key:
            rows.append(self.next)
            await self.advance(unpaired_seen)
        return rows


class _Join:
    def __init__(self, ctx: Context, plan: _Plan, sides: list[_Side], inputs: Inputs) -> None:
        self._ctx = ctx
        self._plan = plan
        self._sides = sides
        self._inputs = inputs
        self._unpaired_seen = False
        self._widths = [0, 0]

    async def run(self) -> int:
        one, two = self._sides
        for side in self._sides:
            await side.advance(False, unchecked=self._plan.header)
        if self._inputs.failed:
            return 1
        if self._plan.auto:
            self._widths = [len(side.next.fields) if side.next else 0 for side in self._sides]
        if self._plan.header and (one.next or two.next):
            await self._write(one.next, two.next)
            for side in self._sides:
                await side.advance(False)
        while one.next is not None and two.next is not None:
            if one.next.key == two.next.key:
                rows, others = await one.group(self._unpaired_seen), await two.group(self._unpaired_seen)
                if self._plan.pairs:
                    for row in rows:
                        for other in others:
                            await self._write(row, other)
            else:
                await self._skip(0 if one.next.key < two.next.key else 1)
        for number, side in enumerate(self._sides):
            await self._finish(number, side)
        if one.disorder or two.disorder:
            fail(self._ctx, "input is not in sorted order")
        return self._inputs.status

    async def _skip(self, number: int) -> None:
        """A line without a partner."""
        side = self._sides[number]
        if number in self._plan.unpaired:
            await self._write(side.next if number == 0 else None, side.next if number == 1 else None)
        await side.advance(self._unpaired_seen)
        self._unpaired_seen = True

    async def _finish(self, number: int, side: _Side) -> None:
        """What is left of a file when the other has ended: shown if wanted, and its order checked."""
        wanted = number in self._plan.unpaired
        while side.next is not None and (wanted or self._plan.check != "off"):
            if wanted:
                await self._write(side.next if number == 0 else None, side.next if number == 1 else None)
            elif side.disorder:
                return
            await side.advance(self._unpaired_seen)

    async def _write(self, one: _Row | None, two: _Row | None) -> None:
        plan = self._plan
        rows = (one, two)
        cells: list[bytes] = []
        if plan.output is not None:
            for file, position in plan.output:
                row = (one or two) if file == 0 else rows[file - 1]
                place = plan.keys[0 if one else 1] if file == 0 else position
                cells.append(self._cell(row, place))
        else:
            present = one or two
            cells.append(self._cell(present, plan.keys[0 if one else 1]))
            for number, row in enumerate(rows):
                width = self._widths[number] if plan.auto else len(row.fields) if row else 0
                cells += [self._cell(row, place) for place in range(width) if place != plan.keys[number]]
        await emit(self._ctx, plan.gap.join(cells) + plan.end)

    def _cell(self, row: _Row | None, place: int) -> bytes:
        if row is None or place >= len(row.fields) or not row.fields[place]:
            return self._plan.filler
        return row.fields[place]
