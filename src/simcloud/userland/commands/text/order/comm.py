"""``comm``: compare two sorted files line by line."""

from __future__ import annotations

from collections.abc import AsyncIterator

from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.inputs import Inputs, emit
from simcloud.userland.commands.text.quoting import quote
from simcloud.userland.commands.text.tool import at_most, fail, misuse, tool


@tool(
    "comm",
    options="1 2 3 check-order nocheck-order output-delimiter= total z,zero-terminated",
    usage="[OPTION]... FILE1 FILE2",
)
async def comm(ctx: Context, options: Options) -> int:
    """Compare two sorted files line by line."""
    operands = options.operands
    if not operands:
        misuse(ctx, "missing operand")
    if len(operands) == 1:
        misuse(ctx, f"missing operand after {quote(operands[0])}")
    at_most(ctx, operands, 2)
    if len(set(options.all("output-delimiter"))) > 1:
        fail(ctx, "multiple output delimiters specified")
    end = b"\0" if "z" in options else b"\n"
    gap = options.last("output-delimiter", default="\t").encode("utf-8", "surrogateescape") or b"\0"
    return await _Comparison(ctx, options, end, gap).run()


class _Comparison:
    def __init__(self, ctx: Context, options: Options, end: bytes, gap: bytes) -> None:
        self._ctx = ctx
        self._options = options
        self._end = end
        self._gap = gap
        checks = [name for name, _ in options.given if name.endswith("check-order")]
        self._strict = checks[-1:] == ["check-order"]
        self._lenient = checks[-1:] == ["nocheck-order"]
        self._unpaired = False
        self._disorder = [False, False]
        self._recent: list[list[bytes]] = [[], []]
        self._lines: list[AsyncIterator[bytes]] = []

    async def run(self) -> int:
        inputs = Inputs(self._ctx, self._options.operands)
        for operand in inputs.operands:
            source = await inputs.open(operand)
            if source is None:
                return 1
            self._lines.append(source.lines(self._end))
        totals = [0, 0, 0]
        one, two = await self._next(0), await self._next(1)
        if inputs.failed:
            return 1
        while one is not None or two is not None:
            if two is None or (one is not None and one < two):
                column, line = 0, one or b""
            elif one is None or two < one:
                column, line = 1, two
            else:
                column, line = 2, two
            self._unpaired |= column < 2
            totals[column] += 1
            await self._show(column, line)
            if column != 1:
                one = await self._next(0)
            if column != 0:
                two = await self._next(1)
        if "total" in self._options:
            words = [b"%d" % total for total in totals] + [b"total"]
            await emit(self._ctx, self._gap.join(words) + self._end)
        if any(self._disorder):
            fail(self._ctx, "input is not in sorted order")
        return inputs.status

    async def _show(self, column: int, line: bytes) -> None:
        if str(column + 1) not in self._options:
            shown_before = sum(str(other + 1) not in self._options for other in range(column))
            await emit(self._ctx, self._gap * shown_before + line + self._end)

    async def _next(self, file: int) -> bytes | None:
        """The next line of a file, its order checked once it can matter."""
        raw = await anext(self._lines[file], None)
        recent = self._recent[file]
        if raw is not None:
            recent.append(raw.removesuffix(self._end))
            del recent[:-2]
        if len(recent) == 2 and recent[0] > recent[1]:
            await self._complain(file)
        return recent[-1] if raw is not None else None

    async def _complain(self, file: int) -> None:
        if self._lenient:
            return
        if self._disorder[file] or not (self._strict or self._unpaired):
            return
        if self._strict:
            fail(self._ctx, f"file {file + 1} is not in sorted order")
        self._disorder[file] = True
        await self._ctx.err(f"{self._ctx.args[0]}: file {file + 1} is not in sorted order\n")
