"""Compiles patterns to objects that search lines.

``compile_regex`` takes one pattern, ``compile_patterns`` several alternatives, as for grep. POSIX flavours find the
leftmost-longest match, the Perl flavour the leftmost first one. The number of steps of a search is bounded for every
pattern; ``meter_search`` charges them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Literal, Protocol

from simcloud.patterns.backtracking import MAX_STEPS, BacktrackingEngine
from simcloud.patterns.characters import is_word_after, is_word_before
from simcloud.patterns.charset import case_variants, word_set
from simcloud.patterns.errors import RegexError, TooMuchWorkError
from simcloud.patterns.linear import LinearEngine, Span
from simcloud.patterns.perl import parse_perl
from simcloud.patterns.posix import Dialect, parse_posix
from simcloud.patterns.re2_syntax import (
    has_word_anchors,
    is_bounded,
    may_iterate_on_nothing,
    needs_backtracking,
    render_re2,
)
from simcloud.patterns.tree import Anchor, Char, Choice, Look, Node, Parsed, Sequence, Set

Flavour = Literal["basic", "extended", "perl", "fixed"]

CACHED_PATTERNS = 256
MAX_PATTERN_BYTES = 64 << 10
MAX_BYTES = 1 << 20
MAX_WORD_WORK_BYTES = 256 << 20
# Backtracking steps that cost one turn.
STEPS_A_TURN = 100
# Repeated searches of a long line are quadratic at worst: remaining bytes that cost one turn.
BYTES_A_TURN = 1 << 18
# A long line may match at each of its bytes: further searches in a line that cost one turn.
SEARCHES_A_TURN = 4


class Match:
    """The match of a pattern in a line."""

    __slots__ = ("_line", "_spans")

    def __init__(self, line: bytes, spans: list[Span]) -> None:
        self._line = line
        self._spans = spans

    def span(self, group: int = 0) -> Span:
        """Begin and end of the match or of a group; (-1, -1) for a group that took no part."""
        return self._spans[group]

    def group(self, group: int = 0) -> bytes | None:
        """The text of the match or of a group; None for a group that took no part."""
        begin, end = self._spans[group]
        return None if begin < 0 else self._line[begin:end]


class Engine(Protocol):
    """The interface of a search engine."""

    def search(self, line: bytes, start: int) -> list[Span] | None:
        """The spans of the leftmost match from ``start`` on."""

    def match(self, line: bytes, start: int, end: int) -> list[Span] | None:
        """The spans of a match that begins exactly at ``start`` and ends no later than ``end``."""


class Regex:
    """A compiled pattern.

    ``groups`` counts its parentheses; ``warnings`` are grep's, if any; ``bounded`` says that there is a limit
    to the length of a match.
    """

    def __init__(self, engine: Engine, backtracking: BacktrackingEngine | None, parsed: Parsed) -> None:
        self._search = engine.search
        self._backtracking = backtracking
        self.groups = parsed.groups
        self.warnings = tuple(parsed.warnings)
        self.bounded = is_bounded(parsed.tree)

    def search(self, line: bytes, start: int = 0) -> Match | None:
        """The leftmost match that begins at ``start`` or later. May raise TooMuchWorkError."""
        spans = self._search(line, start)
        return None if spans is None else Match(line, spans)

    @property
    def backtracks(self) -> bool:
        """Whether some searches take steps that should be paid for."""
        return self._backtracking is not None

    @property
    def steps(self) -> int:
        """The number of backtracking steps of all searches so far."""
        return self._backtracking.steps if self._backtracking else 0


@lru_cache(maxsize=CACHED_PATTERNS)
def compile_patterns(
    patterns: tuple[bytes, ...],
    flavour: Flavour,
    *,
    ignore_case: bool = False,
    whole_word: bool = False,
    whole_line: bool = False,
    multiline: bool = False,
    utf8: bool = True,
    dialect: Dialect = "grep",
) -> Regex:
    """Compile patterns of which any may match, or raise RegexError in the genuine tool's words.

    ``multiline`` lets ``^`` and ``$`` match around inner newlines. ``utf8`` is the locale: without it (and
    for a pattern that is no UTF-8) a character is a byte. ``dialect`` picks the tool whose reading of
    doubtful POSIX patterns counts.
    """
    longest_bytes = max(map(len, patterns))
    if sum(map(len, patterns)) > MAX_BYTES or (flavour != "fixed" and longest_bytes > MAX_PATTERN_BYTES):
        raise RegexError("Regular expression too big")
    try:
        texts = [pattern.decode("utf-8" if utf8 else "latin-1") for pattern in patterns]
    except UnicodeDecodeError:
        utf8, texts = False, [pattern.decode("latin-1") for pattern in patterns]
    parsed = _parse(texts, flavour, ignore_case, multiline, utf8, dialect)
    tree = parsed.tree
    if whole_line:
        tree = Sequence((Anchor("line_start"), tree, Anchor("line_end")))
    elif whole_word and flavour == "perl":
        word = Set(word_set(utf8=False))
        tree = Sequence((Look(word, ahead=False, negative=True), tree, Look(word, ahead=True, negative=True)))
    engine, backtracking = _engines(tree, parsed.groups, longest=flavour != "perl", utf8=utf8)
    if whole_word and not whole_line and flavour != "perl":
        engine = _WordEngine(engine, backtracking, utf8=utf8)
    return Regex(engine, backtracking, parsed)


def compile_regex(
    pattern: bytes,
    flavour: Flavour = "extended",
    *,
    ignore_case: bool = False,
    multiline: bool = False,
    utf8: bool = True,
    dialect: Dialect = "grep",
) -> Regex:
    """Compile one pattern; see ``compile_patterns``."""
    return compile_patterns(
        (pattern,), flavour, ignore_case=ignore_case, multiline=multiline, utf8=utf8, dialect=dialect
    )


def _parse(
    texts: list[str], flavour: Flavour, fold: bool, multiline: bool, utf8: bool, dialect: Dialect
) -> Parsed:
    if flavour == "perl":
        return parse_perl(texts[0], fold=fold, utf8=utf8)
    if flavour == "fixed":
        return Parsed(_join_alternatives([_parse_fixed(text, fold, utf8) for text in texts]), 0)
    trees: list[Node] = []
    warnings: list[str] = []
    groups = 0
    for text in texts:
        parsed = parse_posix(
            text,
            extended=flavour == "extended",
            dialect=dialect,
            fold=fold,
            multiline=multiline,
            utf8=utf8,
            first_group=groups + 1,
        )
        trees.append(parsed.tree)
        warnings.extend(parsed.warnings)
        groups += parsed.groups
    return Parsed(_join_alternatives(trees), groups, warnings)


def _join_alternatives(trees: list[Node]) -> Node:
    return trees[0] if len(trees) == 1 else Choice(tuple(trees))


def _parse_fixed(text: str, fold: bool, utf8: bool) -> Node:
    def foldable(code: int) -> bool:
        return fold and (utf8 or code < 0x80) and bool(case_variants(code))

    return Sequence(tuple(Char(ord(char), foldable(ord(char))) for char in text))


def _engines(
    tree: Node, groups: int, *, longest: bool, utf8: bool
) -> tuple[Engine, BacktrackingEngine | None]:
    """The engine to use, and the backtracking one behind it if there is one."""
    wide_words = utf8 and longest
    must_backtrack = needs_backtracking(tree) or (not longest and may_iterate_on_nothing(tree))
    if not must_backtrack:
        linear = LinearEngine(render_re2(tree), longest=longest, utf8=utf8)
        if not (wide_words and has_word_anchors(tree)):
            return linear, None
    loose = LinearEngine(render_re2(tree, loose=True), longest=longest, utf8=utf8)
    backtracking = BacktrackingEngine(tree, groups, loose, longest=longest, utf8=utf8, wide_words=wide_words)
    return backtracking if must_backtrack else _AsciiWordsEngine(linear, backtracking), backtracking


class _AsciiWordsEngine:
    """RE2 supports ASCII words only: lines with other characters go to the other engine."""

    def __init__(self, ascii_lines: Engine, other_lines: Engine) -> None:
        self._ascii_lines = ascii_lines
        self._other_lines = other_lines

    def search(self, line: bytes, start: int) -> list[Span] | None:
        return (self._ascii_lines if line.isascii() else self._other_lines).search(line, start)

    def match(self, line: bytes, start: int, end: int) -> list[Span] | None:
        return (self._ascii_lines if line.isascii() else self._other_lines).match(line, start, end)


class _WordEngine:
    """Accepts only matches that stand between non-word characters, as ``grep -w`` does.

    A match that does not is tried shorter at the same place, and then further on.
    """

    def __init__(self, engine: Engine, backtracking: BacktrackingEngine | None, *, utf8: bool) -> None:
        self._engine = engine
        self._backtracking = backtracking
        self._utf8 = utf8

    def search(self, line: bytes, start: int) -> list[Span] | None:
        position = start
        work_bytes = 0
        steps = self._steps()
        while position <= len(line):
            spans = self._engine.search(line, position)
            if spans is None:
                return None
            begin, end = spans[0]
            while not is_word_before(line, begin, utf8=self._utf8):
                if not is_word_after(line, end, utf8=self._utf8):
                    return spans
                work_bytes += end - begin
                if work_bytes > MAX_WORD_WORK_BYTES + len(line) or self._steps() - steps > MAX_STEPS:
                    raise TooMuchWorkError
                # GNU grep counts the shorter end from where the search began: after the first
                # match of a line it gives up on shorter ones early. So do we.
                shorter = (
                    self._engine.match(line, begin, end - 1 - start) if end - 1 - start > begin else None
                )
                if shorter is None or shorter[0][1] == begin:
                    break
                spans, end = shorter, shorter[0][1]
            work_bytes += len(line) - begin
            if work_bytes > MAX_WORD_WORK_BYTES + len(line):
                raise TooMuchWorkError
            position = begin + 1
        return None

    def _steps(self) -> int:
        return self._backtracking.steps if self._backtracking else 0

    def match(self, line: bytes, start: int, end: int) -> list[Span] | None:
        return self._engine.match(line, start, end)


Search = Callable[[bytes, int], Match | None]


def meter_search(regex: Regex, spend_turn: Callable[[int], None]) -> Search:
    """Return a function that searches like ``regex.search`` and charges its cost in turns."""
    quick = regex.bounded and not regex.backtracks
    further = 0

    def search(line: bytes, start: int) -> Match | None:
        nonlocal further
        if start:
            further += 1
            if further % SEARCHES_A_TURN == 0:
                spend_turn(1)
        if quick:
            return regex.search(line, start)
        if start and len(line) - start >= BYTES_A_TURN:
            spend_turn((len(line) - start) // BYTES_A_TURN)
        steps = regex.steps
        found = regex.search(line, start)
        if regex.steps != steps:
            spend_turn((regex.steps - steps) // STEPS_A_TURN)
        return found

    return search
