"""Parser for POSIX basic and extended regular expressions, as in GNU's tools.

The grammar is glibc's, with its extensions (``\\+ \\? \\|`` in basic expressions, ``\\w \\s \\b \\<
\\` `` and friends in both) and its habits: which characters are literal at the start of an
expression, which mistakes are errors and in which words. The three dialects differ only there.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from simcloud.patterns.bracket import parse_bracket
from simcloud.patterns.charset import CharSet, case_variants, space_set, word_set
from simcloud.patterns.errors import RegexError
from simcloud.patterns.tree import (
    MAX_DEPTH,
    Anchor,
    AnchorKind,
    Any,
    BackReference,
    Char,
    Choice,
    Group,
    Node,
    Parsed,
    Repeat,
    Sequence,
    Set,
    repeat,
)

Dialect = Literal["grep", "sed", "awk"]

MAX_REPEAT = 32767

_ANCHORS: dict[str, AnchorKind] = {
    "<": "word_start",
    ">": "word_end",
    "b": "boundary",
    "B": "no_boundary",
    "`": "text_start",
    "'": "text_end",
}
_BASIC_OPERATORS = {
    "(": "open",
    ")": "close",
    "{": "brace",
    "}": "close_brace",
    "+": "+",
    "?": "?",
    "|": "alt",
}
_EXTENDED_OPERATORS = {"(": "open", ")": "close", "{": "brace", "+": "+", "?": "?", "|": "alt"}
_REPEATS = ("*", "+", "?", "brace")
_ABSENT, _BAD = -1, -2
_AWK_ESCAPES = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}


class _Token(NamedTuple):
    kind: str
    char: str
    width: int


class _Interval(NamedTuple):
    """``{low,high}`` as written; numbers may be absent or no numbers; ``stop`` is what ended it."""

    low: int
    high: int
    end: int
    stop: str

    @property
    def valid(self) -> bool:
        ordered = self.high == _ABSENT or self.low <= self.high
        return self.low >= 0 and self.high != _BAD and ordered and self.stop == "}"


def parse_posix(
    text: str,
    *,
    extended: bool,
    dialect: Dialect = "grep",
    fold: bool = False,
    multiline: bool = False,
    utf8: bool = True,
    first_group: int = 1,
) -> Parsed:
    """Parse one expression. ``text`` holds code points, or bytes as characters if not ``utf8``."""
    parser = _Parser(text, extended, dialect, fold, multiline, utf8, first_group)
    tree = parser.alternatives(0)
    if parser.suspicious_bracket and dialect != "awk":
        raise RegexError("character class syntax is [[:space:]], not [:space:]", fatal=True)
    return Parsed(tree, parser.opened, parser.warnings)


class _Parser:
    def __init__(
        self,
        text: str,
        extended: bool,
        dialect: Dialect,
        fold: bool,
        multiline: bool,
        utf8: bool,
        first_group: int,
    ) -> None:
        self.text = text
        self.extended = extended
        self.dialect = dialect
        self.fold = fold
        self.multiline = multiline
        self.utf8 = utf8
        self.first_group = first_group
        self.position = 0
        self.caret_anchors_at = 0
        self.literal_brace_at = -1
        self.opened = 0
        self.closed: set[int] = set()
        self.warnings: list[str] = []
        self.suspicious_bracket = False

    # -- tokens ---------------------------------------------------------------------------------

    def peek(self) -> _Token:
        text, position = self.text, self.position
        if position >= len(text):
            return _Token("end", "", 0)
        char = text[position]
        if char == "\\":
            return self._escape(text[position + 1 : position + 2])
        if self.extended and char in _EXTENDED_OPERATORS and position != self.literal_brace_at:
            return _Token(_EXTENDED_OPERATORS[char], char, 1)
        if char == "*":
            return _Token("*", char, 1)
        if char == ".":
            return _Token("any", char, 1)
        if char == "[":
            return _Token("bracket", char, 1)
        if char == "^" and (self.extended or position in (0, self.caret_anchors_at)):
            return _Token("anchor", char, 1)
        if char == "$" and (self.extended or self._dollar_anchors(position + 1)):
            return _Token("anchor", char, 1)
        return _Token("char", char, 1)

    def _escape(self, char: str) -> _Token:
        if not char:
            return _Token("trailing", "\\", 1)
        if not self.extended and char in _BASIC_OPERATORS:
            return _Token(_BASIC_OPERATORS[char], char, 2)
        if self.dialect == "awk":
            return self._awk_escape(char)
        if char in "123456789":
            return _Token("reference", char, 2)
        if char in _ANCHORS:
            return _Token("word_anchor", char, 2)
        if char in "wWsS":
            return _Token("class", char, 2)
        return _Token("char", char, 2)

    def _awk_escape(self, char: str) -> _Token:
        digits = self.text[self.position + 1 : self.position + 4]
        octal = digits[: len(digits) - len(digits.lstrip("01234567"))]
        if octal:
            return _Token("char", chr(int(octal, 8) & 0xFF), 1 + len(octal))
        return _Token("char", chr(_AWK_ESCAPES[char]) if char in _AWK_ESCAPES else char, 2)

    def _dollar_anchors(self, following: int) -> bool:
        rest = self.text[following : following + 2]
        return rest in ("", "\\)", "\\|")

    # -- grammar --------------------------------------------------------------------------------

    def alternatives(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise RegexError("Regular expression too big")
        options = [self._branch(depth)]
        while self.peek().kind == "alt":
            self._consume_opening()
            options.append(self._branch(depth))
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _consume_opening(self) -> None:
        self.position += self.peek().width
        self.caret_anchors_at = self.position

    def _branch(self, depth: int) -> Node:
        parts: list[Node] = []
        while (kind := self.peek().kind) not in ("alt", "end") and not (kind == "close" and depth):
            parts.append(self._expression(depth))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _expression(self, depth: int) -> Node:
        token = self.peek()
        match token.kind:
            case "anchor":
                self.position += 1
                kind: AnchorKind = "line_start" if token.char == "^" else "line_end"
                return Anchor(kind, self.multiline)
            case "word_anchor":
                self.position += 2
                return Anchor(_ANCHORS[token.char])
            case "trailing":
                raise RegexError("Trailing backslash")
            case "open":
                node = self._group(depth)
            case "bracket":
                node = self._bracket()
            case "*" | "+" | "?" | "brace":
                return self._leading_operator(token, depth)
            case _:
                self.position += token.width
                node = self._simple(token)
        return self._repeats(node)

    def _simple(self, token: _Token) -> Node:
        match token.kind:
            case "any":
                return Any(newline=not self.multiline)
            case "class":
                members = word_set(utf8=self.utf8) if token.char in "wW" else space_set(utf8=self.utf8)
                return Set(members.negate() if token.char in "WS" else members)
            case "reference":
                index = int(token.char)
                if index not in self.closed:
                    raise RegexError("Invalid back reference")
                return BackReference(self.first_group + index - 1, self.fold)
            case "close" if not self.extended or self.dialect == "sed":
                raise RegexError("Unmatched ) or \\)")
        return self.literal(token.char)

    def literal(self, char: str) -> Char:
        """One character as itself, in either case if case does not matter."""
        code = ord(char)
        foldable = self.fold and (self.utf8 or code < 0x80) and bool(case_variants(code))
        return Char(code, foldable)

    def _group(self, depth: int) -> Node:
        self._consume_opening()
        self.opened += 1
        index = self.opened
        body = self.alternatives(depth + 1)
        if self.peek().kind != "close":
            raise RegexError("Unmatched ( or \\(")
        self.position += self.peek().width
        self.closed.add(index)
        return Group(self.first_group + index - 1, body)

    def _bracket(self) -> Node:
        bracket = parse_bracket(
            self.text, self.position + 1, fold=self.fold, utf8=self.utf8, escapes=self.dialect == "awk"
        )
        self.position = bracket.end
        self.suspicious_bracket = self.suspicious_bracket or bracket.suspicious
        chars = bracket.chars
        if self.multiline and chars.negated:
            chars = CharSet((*chars.ranges, (10, 10)), chars.categories, True)
        return Set(chars, self.fold)

    # -- repetition -----------------------------------------------------------------------------

    def _leading_operator(self, token: _Token, depth: int) -> Node:
        """A repetition with nothing to repeat."""
        if self.dialect == "sed" and (self.extended or token.kind == "brace"):
            raise RegexError("Invalid preceding regular expression")
        if not self.extended or self.dialect == "awk":
            self.position += token.width
            return self._repeats(self.literal(token.char))
        while (token := self.peek()).kind in _REPEATS:
            if token.kind == "brace" and not self._scan_interval().valid:
                self.position += 1
                return self._repeats(self.literal("{"))
            self.position = self._scan_interval().end if token.kind == "brace" else self.position + 1
            self.warnings.append(f"{'{...}' if token.kind == 'brace' else token.char} at start of expression")
        # glibc goes on with whatever follows, even if that closes the group: there it is literal.
        return Sequence() if token.kind in ("alt", "end") else self._expression(depth)

    def _repeats(self, node: Node) -> Node:
        depth = 0
        while (token := self.peek()).kind in _REPEATS:
            if token.kind == "brace":
                bounds = self._interval()
                if bounds is None:
                    return node
            else:
                self.position += token.width
                bounds = (1 if token.kind == "+" else 0, 1 if token.kind == "?" else None)
            repeated = repeat(node, *bounds)
            depth = 0 if isinstance(node, Repeat) and repeated.body is node.body else depth + 1
            if depth > MAX_DEPTH:
                raise RegexError("Regular expression too big")
            node = repeated
            if self.dialect == "sed" and not self.extended and self.peek().kind in ("*", "brace"):
                raise RegexError("Invalid preceding regular expression")
        return node

    def _interval(self) -> tuple[int, int | None] | None:
        """Read ``{n,m}``. None if the brace is to be taken literally."""
        found = self._scan_interval()
        if found.low == _ABSENT:
            raise RegexError("Invalid content of \\{\\}")
        if _BAD in (found.low, found.high):
            if self._braces_may_be_literal:
                self.literal_brace_at = self.position
                return None
            raise RegexError("Invalid content of \\{\\}" if found.stop else "Unmatched \\{")
        if not found.valid:
            raise RegexError("Invalid content of \\{\\}")
        if max(found.low, found.high) > MAX_REPEAT:
            raise RegexError("Regular expression too big")
        self.position = found.end
        return found.low, None if found.high == _ABSENT else found.high

    @property
    def _braces_may_be_literal(self) -> bool:
        return self.extended and self.dialect != "sed"

    def _scan_interval(self) -> _Interval:
        low, position, stop = self._number(self.position + self.peek().width)
        if low == _ABSENT and stop == ",":
            low = 0
        high = low if stop == "}" else _BAD
        if low >= 0 and stop == ",":
            high, position, stop = self._number(position + 1)
        return _Interval(low, high, position + (1 if self.extended else 2), stop)

    def _number(self, position: int) -> tuple[int, int, str]:
        """A number up to a comma or the closing brace: its value, where it stopped and at what."""
        closing = "}" if self.extended else "\\}"
        value = _ABSENT
        while position < len(self.text):
            if self.text.startswith(closing, position):
                return value, position, "}"
            char = self.text[position]
            if char == ",":
                return value, position, ","
            if char not in "0123456789" or value == _BAD:
                if self._braces_may_be_literal:
                    return _BAD, position, ""
                value = _BAD
            else:
                value = min(max(value, 0) * 10 + int(char), MAX_REPEAT + 1)
            position += 1
        return _BAD, position, ""
