"""``nl``: numbers lines, section by section."""

from __future__ import annotations

from collections.abc import Callable

from aiopslab.machine.process import Context
from aiopslab.machine.shell.commands.options import Options
from aiopslab.machine.shell.commands.text.counts import number, parse_number
from aiopslab.machine.shell.commands.text.inputs import Inputs, emit
from aiopslab.machine.shell.commands.text.quoting import quote
from aiopslab.machine.shell.commands.text.tool import fail, hint, tool
from aiopslab.machine.shell.regex import RegexError, compile_regex

Wanted = Callable[[bytes], bool]
_SECTIONS = "hbf"


@tool(
    "nl",
    options="b,body-numbering= d,section-delimiter= f,footer-numbering= h,header-numbering= i,line-increment= "
    "l,join-blank-lines= n,number-format= p,no-renumber s,number-separator= v,starting-line-number= w,number-width=",
)
async def nl(ctx: Context, options: Options) -> int:
    """Write each file with line numbers added."""
    numberer = await _Numberer.from_options(ctx, options)
    inputs = Inputs(ctx, options.operands)
    async for source in inputs.sources():
        async for batch in source.batches():
            await emit(ctx, b"".join([numberer.line(line.removesuffix(b"\n")) for line in batch]))
    return inputs.status


class _Numberer:
    """Knows the section, the next number and how many blank lines came before."""

    def __init__(self, wanted: dict[str, Wanted], blanks: dict[str, bool], options: Options) -> None:
        self.wanted = wanted
        self.every_line = blanks
        self.separator = options.last("s", default="\t").encode("utf-8", "surrogateescape")
        delimiter = options.last("d", default="\\:").encode("utf-8", "surrogateescape")
        self.delimiter = delimiter + b":" if len(delimiter) == 1 else delimiter
        self.style = "rn"
        self.start = self.increment = self.joined = 1
        self.width = 6
        self.renumber = "p" not in options
        self.section = "b"
        self._next: int = 1
        self._blanks = 0

    @classmethod
    async def from_options(cls, ctx: Context, options: Options) -> _Numberer:
        wanted: dict[str, Wanted] = {}
        every_line: dict[str, bool] = {}
        mistakes: list[str] = []
        words = {"h": "header", "b": "body", "f": "footer"}
        for section, default in (("b", "t"), ("h", "n"), ("f", "n")):
            style = options.last(section, default=default)
            every_line[section] = style == "a"
            found = _style(ctx, style)
            if found is None:
                mistakes.append(f"invalid {words[section]} numbering style: {quote(style)}")
            else:
                wanted[section] = found
        numberer = cls(wanted, every_line, options)
        numberer.start = _signed(ctx, options.last("v", default="1"), "invalid starting line number")
        numberer.increment = _signed(ctx, options.last("i", default="1"), "invalid line number increment")
        joined = options.last("l", default="1")
        numberer.joined = number(ctx, joined, "invalid line number of blank lines", low=1, high=2**63 - 1)
        width = options.last("w", default="6")
        numberer.width = number(ctx, width, "invalid line number field width", low=1, high=2**31 - 1)
        ctx.spend_bytes(numberer.width)
        numberer.style = options.last("n", default="rn")
        if numberer.style not in ("ln", "rn", "rz"):
            mistakes.append(f"invalid line numbering format: {quote(numberer.style)}")
        if mistakes:
            await ctx.err("".join(f"{ctx.args[0]}: {mistake}\n" for mistake in mistakes) + hint(ctx) + "\n")
            ctx.exit(1)
        numberer._next = numberer.start
        return numberer

    def line(self, line: bytes) -> bytes:
        """A line as it is to be shown."""
        for repeats, section in ((3, "h"), (2, "b"), (1, "f")):
            if self.delimiter and line == self.delimiter * repeats:
                self.section = section
                if self.renumber:
                    self._next = self.start
                return b"\n"
        if self._counts(line):
            shown = self._shown(self._next) + self.separator
            self._next += self.increment
            return shown + line + b"\n"
        return b" " * (self.width + len(self.separator)) + line + b"\n"

    def _counts(self, line: bytes) -> bool:
        if self.every_line[self.section] and self.joined > 1:
            self._blanks = 0 if line else self._blanks + 1
            if line or self._blanks == self.joined:
                self._blanks = 0
                return True
            return False
        return self.wanted[self.section](line)

    def _shown(self, value: int) -> bytes:
        if self.style == "ln":
            return f"{value:<{self.width}}".encode()
        return f"{value:{'0' if self.style == 'rz' else ''}{self.width}}".encode()


def _signed(ctx: Context, text: str, complaint: str) -> int:
    value = parse_number(text)
    if value is None:
        fail(ctx, f"{complaint}: {quote(text)}")
    return value


def _style(ctx: Context, text: str) -> Wanted | None:
    """Which lines a numbering style wants numbered; None if there is no such style."""
    if text.startswith("p"):
        try:
            pattern = compile_regex(text[1:].encode("utf-8", "surrogateescape"), "basic", utf8=False)
        except RegexError as error:
            fail(ctx, str(error))
        return lambda line: pattern.search(line) is not None
    styles: dict[str, Wanted] = {
        "a": lambda _line: True,
        "t": lambda line: line != b"",
        "n": lambda _line: False,
    }
    return styles.get(text)
