"""``fmt``: refills paragraphs.

Lines are broken where the whole paragraph looks best: each possible line has a cost (its distance from the
goal width, raggedness, lonely words, breaks inside a sentence), and the cheapest division is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.counts import number
from simcloud.userland.commands.text.inputs import Inputs, emit, split_lines
from simcloud.userland.commands.text.tool import tool

_LEEWAY_PERCENT = 7
_LINE = 70**2
_SENTENCE = 50**2
_NO_BREAK = 600**2
_PAREN = 40**2
_PUNCTUATION = 40**2
_LONELY_END = 200**2
_LONELY_START = 150**2


def _modernised(args: list[str]) -> list[str]:
    """``-60`` as the first word is an older spelling of ``-w 60``."""
    if len(args) > 1 and args[1][:1] == "-" and args[1][1:].isdigit():
        return [args[0], f"-w{args[1][1:]}", *args[2:]]
    return args


@tool(
    "fmt",
    options="c,crown-margin p,prefix= s,split-only t,tagged-paragraph u,uniform-spacing w,width= g,goal=",
    usage="[-WIDTH] [OPTION]... [FILE]...",
    rewrite=_modernised,
)
async def fmt(ctx: Context, options: Options) -> int:
    """Reformat each paragraph."""
    goal_text, width_text = options.last("g"), options.last("w")
    width = number(ctx, width_text, "invalid width", high=2500) if width_text else 75
    goal = width * (2 * (100 - _LEEWAY_PERCENT) + 1) // 200
    if goal_text:
        goal = number(ctx, goal_text, "invalid width", high=width if width_text else 75)
        width = width if width_text else goal + 10
    layout = _Layout(ctx, options, width, goal)
    inputs = Inputs(ctx, options.operands, "cannot open {quoted} for reading: {why}", "read error")
    async for source in inputs.sources():
        lines = split_lines(ctx, await source.read_all())
        unfinished = lines[-1] != b""
        await emit(ctx, layout.format(lines if unfinished else lines[:-1], unfinished))
    return inputs.status


@dataclass
class _Word:
    text: bytes
    space: int = 1
    paren: bool = False
    period: bool = False
    punct: bool = False
    final: bool = False
    best_cost: int = 0
    next_break: int = 0
    line_length: int = 0

    @classmethod
    def of(cls, text: bytes) -> _Word:
        bare = text.rstrip(b")]'\"") or text[:1]
        ends_in_punctuation = 0x20 < text[-1] < 0x7F and not text[-1:].isalnum()
        return cls(text, paren=text[0] in b"(['`\"", period=bare[-1] in b".?!", punct=ends_in_punctuation)


@dataclass
class _Line:
    """A line as read: where its prefix and its text begin, and its text."""

    prefix_indent: int
    column: int
    text: bytes
    prefixed: bool


class _Layout:
    def __init__(self, ctx: Context, options: Options, width: int, goal: int) -> None:
        self._ctx = ctx
        self._width = width
        self._goal = goal
        self._crown = "c" in options
        self._tagged = "t" in options
        self._split = "s" in options
        self._uniform = "u" in options
        prefix = options.last("p").encode("utf-8", "surrogateescape")
        self._lead = len(prefix) - len(prefix.lstrip(b" "))
        self._full_prefix = prefix.lstrip(b" ")
        self._prefix = self._full_prefix.rstrip(b" ")
        self._tabs = False
        self._other_indent = 0

    def format(self, lines: list[bytes], unfinished: bool) -> bytes:
        """All paragraphs of a file, refilled. A last line that is none keeps its missing newline."""
        self._tabs = False
        self._other_indent = 0
        out: list[bytes] = []
        at = 0
        while at < len(lines):
            line = self._parse(lines[at])
            if not self._begins(line):
                at += 1
                copied = self._copied(line)
                cut = unfinished and at == len(lines) and bool(line.text)
                out.append(copied.removesuffix(b"\n") if cut else copied)
                continue
            members = [line]
            at += 1
            while at < len(lines) and self._continues(members, self._parse(lines[at])):
                members.append(self._parse(lines[at]))
                at += 1
            if len(members) == 1:
                self._set_other_indent(line, self._parse(lines[at]) if at < len(lines) else None)
            self._fill(members, out)
        return b"".join(out)

    def _parse(self, raw: bytes) -> _Line:
        column, text = self._spaces(raw, 0)
        if not self._prefix:
            return _Line(min(self._lead, column), column, text, True)
        indent = column
        common = 0
        while common < min(len(self._prefix), len(text)) and text[common] == self._prefix[common]:
            common += 1
        column += common
        if common < len(self._prefix):
            return _Line(indent, column, text[common:], False)
        column, text = self._spaces(text[common:], column)
        return _Line(indent, column, text, True)

    def _spaces(self, text: bytes, column: int) -> tuple[int, bytes]:
        """Skip blanks; the column after them, and the rest."""
        at = 0
        while at < len(text) and text[at] in b" \t":
            self._tabs |= text[at] == 0x09
            column = column + 8 - column % 8 if text[at] == 0x09 else column + 1
            at += 1
        return column, text[at:]

    def _begins(self, line: _Line) -> bool:
        wide_enough = line.column >= line.prefix_indent + len(self._full_prefix)
        return bool(line.text) and line.prefixed and line.prefix_indent >= self._lead and wide_enough

    def _copied(self, line: _Line) -> bytes:
        if line.column <= line.prefix_indent and not line.text:
            return b"\n"
        shown = self._blank(0, line.prefix_indent) + self._prefix[: line.column - line.prefix_indent]
        if line.text:
            reached = min(line.column, line.prefix_indent + len(self._prefix))
            shown += self._blank(reached, line.column)
        return shown + line.text + b"\n"

    def _continues(self, members: list[_Line], line: _Line) -> bool:
        """Whether a line belongs to the paragraph so far."""
        first = members[0]
        same = line.prefix_indent == first.prefix_indent and self._begins(line)
        if len(members) == 1:
            self._set_other_indent(first, line if same else None)
            if self._tagged and not self._crown and line.column == first.column:
                return False
        return same and not self._split and line.column == self._other_indent

    def _set_other_indent(self, first: _Line, following: _Line | None) -> None:
        """How far the lines after the first are indented."""
        same = (
            following is not None
            and following.prefix_indent == first.prefix_indent
            and self._begins(following)
        )
        if self._split or not (self._crown or self._tagged):
            self._other_indent = first.column
        elif self._crown:
            self._other_indent = following.column if following is not None and same else first.column
        elif following is not None and same and following.column != first.column:
            self._other_indent = following.column
        elif self._other_indent == first.column:
            self._other_indent = 3 if first.column == 0 else 0

    def _fill(self, members: list[_Line], out: list[bytes]) -> None:
        words: list[_Word] = []
        for member in members:
            words += self._words(member)
        words[-1].period = words[-1].final = True
        self._ctx.spend_turn(1 + len(words) // 10)
        self._break(words, members[0].column, self._other_indent)
        at, indent = 0, members[0].column
        while at < len(words):
            end = words[at].next_break
            lead = self._blank(0, members[0].prefix_indent) + self._prefix
            lead += self._blank(members[0].prefix_indent + len(self._prefix), indent)
            out.append(lead + self._spaced(words[at:end], indent) + b"\n")
            at, indent = end, self._other_indent

    def _spaced(self, words: list[_Word], column: int) -> bytes:
        """Words from a column on, with the blanks between them."""
        shown: list[bytes] = []
        for word in words[:-1]:
            column += len(word.text)
            shown += [word.text, self._blank(column, column + word.space)]
            column += word.space
        return b"".join(shown) + words[-1].text

    def _words(self, line: _Line) -> list[_Word]:
        words: list[_Word] = []
        text, column = line.text, line.column
        while text:
            length = next((at for at, byte in enumerate(text) if byte in b" \t\v\f\r"), len(text))
            length = max(1, length)
            word = _Word.of(text[:length])
            column += length
            after, text = self._spaces(text[length:], column)
            word.space = after - column
            column = after
            word.final = word.period and (not text or word.space > 1)
            if not text or self._uniform:
                word.space = 2 if word.final else 1
            words.append(word)
        return words

    def _blank(self, column: int, target: int) -> bytes:
        """Blanks from a column to another, by tabs if the input had any."""
        shown = b""
        stop = target // 8 * 8
        if self._tabs and column + 1 < stop:
            shown = b"\t" * (stop // 8 - column // 8)
            column = stop
        return shown + b" " * max(0, target - column)

    def _break(self, words: list[_Word], first_indent: int, other_indent: int) -> None:
        """Find, from the last word back, the cheapest division into lines."""
        limit = len(words)
        for start in range(limit - 1, -1, -1):
            best: int | None = None
            length = first_indent if start == 0 else other_indent
            end = start
            length += len(words[start].text)
            while True:
                end += 1
                cost = self._line_cost(words, end, length) + (words[end].best_cost if end < limit else 0)
                if best is None or cost < best:
                    best = cost
                    words[start].next_break, words[start].line_length = end, length
                if end == limit:
                    break
                length += words[end - 1].space + len(words[end].text)
                if length >= self._width:
                    break
            words[start].best_cost = (best or 0) + self._base_cost(words, start)

    def _line_cost(self, words: list[_Word], end: int, length: int) -> int:
        if end == len(words):
            return 0
        cost = ((self._goal - length) * 10) ** 2
        if words[end].next_break != len(words):
            cost += ((length - words[end].line_length) * 10) ** 2 // 2
        return cost

    def _base_cost(self, words: list[_Word], start: int) -> int:
        """What it costs to begin a line with this word."""
        cost = _LINE
        if start > 0:
            before = words[start - 1]
            if before.period:
                cost += -_SENTENCE if before.final else _NO_BREAK
            elif before.punct:
                cost -= _PUNCTUATION
            elif start > 1 and words[start - 2].final:
                cost += _LONELY_END // (len(before.text) + 2)
        if words[start].paren:
            cost -= _PAREN
        elif words[start].final:
            cost += _LONELY_START // (len(words[start].text) + 2)
        return cost
