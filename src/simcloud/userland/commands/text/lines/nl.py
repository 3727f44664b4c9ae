"""``nl``: numbers lines, section by section."""

from __future__ import annotations

from collections.abc import Callable

from simcloud.machine.process import Context
from simcloud.patterns import RegexError, TooMuchWorkError, compile_regex
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.counts import number, parse_number
from simcloud.userland.commands.text.inputs import Inputs, emit
from simcloud.userland.commands.text.quoting import quote
from simcloud.userland.commands.text.tool import fail, hint, tool

Wanted = Callable[[bytes], bool]
_SECTIONS = {"h": "header", "b": "body", "f": "footer"}


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

    def __init__(self, options: Options) -> None:
        self.wanted: dict[str, Wanted] = {"h": _never, "b": _not_blank, "f": _never}
        self.every_line = dict.fromkeys("hbf", False)
        self.separator = options.last("s", default="\t").encode("utf-8", "surrogateescape")
        delimiter = options.last("d", default="\\:").encode("utf-8", "surrogateescape")
        self.delimiter = delimiter + b":" if len(delimiter) == 1 else delimiter
        self.style = "rn"
        self.start = self.increment = self.joined = 1
        self.width = 6
        self.renumber = "p" not in options
        self.section = "b"
        self._next = 1
        self._blanks = 0

    @classmethod
    async def from_options(cls, ctx: Context, options: Options) -> _Numberer:
        """Read the options in order; mistakes in styles are all reported before the end."""
        numberer = cls(options)
        wrong = False
        for name, value in options.given:
            mistake = numberer._take(ctx, name, value)
            if mistake:
                wrong = True
                await ctx.err(f"{ctx.args[0]}: {mistake}\n")
        if wrong:
            await ctx.err(f"{hint(ctx)}\n")
            ctx.exit(1)
        numberer._next = numberer.start
        return numberer

    def _take(self, ctx: Context, name: str, value: str) -> str:
        """Take one option; what is wrong with it, if it lets others be looked at."""
        if name in _SECTIONS:
            found = _style(ctx, value)
            if found is None:
                return f"invalid {_SECTIONS[name]} numbering style: {quote(value)}"
            self.wanted[name] = found
            self.every_line[name] = value == "a"
        elif name == "n":
            if value not in ("ln", "rn", "rz"):
                return f"invalid line numbering format: {quote(value)}"
            self.style = value
        elif name == "v":
            self.start = _signed(ctx, value, "invalid starting line number")
        elif name == "i":
            self.increment = _signed(ctx, value, "invalid line number increment")
        elif name == "l":
            complaint = "invalid line number of blank lines"
            self.joined = number(ctx, value, complaint, low=1, high=2**63 - 1, signed=True)
        elif name == "w":
            complaint = "invalid line number field width"
            self.width = number(ctx, value, complaint, low=1, high=2**31 - 1, signed=True)
            ctx.spend_bytes(self.width)
        return ""

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

        def matches(line: bytes) -> bool:
            try:
                return pattern.search(line) is not None
            except TooMuchWorkError:
                fail(ctx, "error in regular expression search")

        return matches
    return _STYLES.get(text)


def _always(_line: bytes) -> bool:
    return True


def _never(_line: bytes) -> bool:
    return False


def _not_blank(line: bytes) -> bool:
    return line != b""


_STYLES: dict[str, Wanted] = {"a": _always, "t": _not_blank, "n": _never}
