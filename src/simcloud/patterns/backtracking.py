"""The engine for patterns that RE2 does not support: back-references, look-around, ``\\K``, atomic groups.

A backtracking matcher with its own stack and a step counter: a search that takes too many steps
ends with TooMuchWorkError, at the same step each time. A looser RE2 pattern is tried first, which
rejects most lines without a match.
"""

from __future__ import annotations

from simcloud.patterns.characters import char_at, char_before, is_word_after, is_word_before
from simcloud.patterns.charset import case_variants
from simcloud.patterns.errors import TooMuchWorkError
from simcloud.patterns.linear import LinearEngine, Span
from simcloud.patterns.program import Instruction, Op, Tester, compile_program
from simcloud.patterns.tree import Node

MAX_STEPS = 1_000_000
# A long line deserves some steps for each of its bytes before anybody calls it too much work.
STEPS_PER_BYTE = 16
STEPS_A_HINT = 4
SHORT_LINE_BYTES = 4096

Stack = list[tuple[int, int, int]]
"""Other ways to go on ``(instruction, position, down to)`` and values to put back ``(~slot, value, 0)``."""

_UNSET = -1
_MATCH, _TEXT, _ONE, _RUN, _SPLIT, _JUMP, _SAVE = (
    Op.MATCH, Op.TEXT, Op.ONE, Op.RUN, Op.SPLIT, Op.JUMP, Op.SAVE
)  # fmt: skip
_PROGRESS, _REFERENCE, _ANCHOR, _UNLESS = Op.PROGRESS, Op.REFERENCE, Op.ANCHOR, Op.UNLESS


class BacktrackingEngine:
    """A compiled tree.

    ``longest`` explores every way and keeps the longest match, as POSIX asks; otherwise the first one
    counts. ``steps`` counts the steps of all searches so far.
    """

    def __init__(
        self, tree: Node, groups: int, prefilter: LinearEngine, *, longest: bool, utf8: bool, wide_words: bool
    ) -> None:
        self._program = compile_program(tree, groups, utf8=utf8)
        self._groups = groups
        self._prefilter = prefilter
        self._longest = longest
        self._utf8 = utf8
        self._wide_words = wide_words
        self.steps = 0

    def search(self, line: bytes, start: int) -> list[Span] | None:
        """The leftmost match from ``start`` on. May raise TooMuchWorkError."""
        run = self._run(line, len(line))
        try:
            position = self._hint(run, start)
            while position is not None:
                spans = self._spans(run, position)
                if spans is not None:
                    return spans
                position = self._next_candidate(run, position + 1)
            return None
        finally:
            self.steps += run.steps

    def match(self, line: bytes, start: int, end: int) -> list[Span] | None:
        """A match that begins exactly at ``start`` and ends no later than ``end``."""
        run = self._run(line, end)
        try:
            return self._spans(run, start)
        finally:
            self.steps += run.steps

    def _run(self, line: bytes, end: int) -> _Run:
        return _Run(line, end, self._program.slots, utf8=self._utf8, wide_words=self._wide_words)

    def _hint(self, run: _Run, start: int) -> int | None:
        """Return the first position where RE2 finds a possible match."""
        run.steps += STEPS_A_HINT
        hint = self._prefilter.search(run.line, start)
        return None if hint is None else hint[0][0]

    def _next_candidate(self, run: _Run, position: int) -> int | None:
        """The next place to try. In long lines RE2 is not asked again and again: that is quadratic."""
        line = run.line
        while self._utf8 and position < len(line) and line[position] & 0xC0 == 0x80:
            position += 1
        if position > len(line):
            return None
        return self._hint(run, position) if len(line) <= SHORT_LINE_BYTES else position

    def _spans(self, run: _Run, position: int) -> list[Span] | None:
        """Match at one position: the spans of the whole and of each group."""
        slots = run.slots
        run.steps += len(slots) >> 4
        slots[:] = [_UNSET] * len(slots)
        slots[0] = position
        code = self._program.code
        end = run.longest(code, position) if self._longest else run.execute(code, position, [])
        if end is None:
            return None
        slots[1] = end
        spans = [(slots[2 * group], slots[2 * group + 1]) for group in range(self._groups + 1)]
        return [(-1, -1) if _UNSET in span else span for span in spans]


class _Run:
    """One search of one line: its slots and steps. Matches end at ``end`` or before."""

    def __init__(self, line: bytes, end: int, slots: int, *, utf8: bool, wide_words: bool) -> None:
        self.line = line
        self.end = end
        self.slots = [_UNSET] * slots
        self.utf8 = utf8
        self.wide_words = wide_words
        self.steps = 0
        self.max_steps = MAX_STEPS + STEPS_PER_BYTE * len(line)

    def longest(self, code: list[Instruction], position: int) -> int | None:
        """Follow every way to its end; the first way to the furthest end wins."""
        stack: Stack = []
        best: int | None = None
        best_slots: list[int] = []
        end = self.execute(code, position, stack)
        while end is not None:
            if best is None or end > best:
                best, best_slots = end, list(self.slots)
            if best == self.end:
                break
            end = self.execute(code, None, stack)
        if best is not None:
            self.slots[:] = best_slots
        return best

    def execute(self, code: list[Instruction], start: int | None, stack: Stack) -> int | None:
        """Run until a match and return where it ends. With no start, go on with the next other way."""
        line, slots = self.line, self.slots
        size = len(line)
        counter = 0
        position = -1 if start is None else start
        failed = start is None
        while True:
            while failed:
                if not stack:
                    return None
                counter, position, nearest = stack.pop()
                if counter < 0:
                    slots[~counter] = position
                    continue
                failed = False
                if position > nearest:
                    stack.append((counter, self.step_back(position), nearest))
            self.steps += 1
            if self.steps > self.max_steps:
                raise TooMuchWorkError
            instruction = code[counter]
            op = instruction[0]
            counter += 1
            if op == _TEXT:
                if line.startswith(instruction[1], position):
                    position += len(instruction[1])
                else:
                    failed = True
            elif op == _SPLIT:
                stack.append((instruction[2], position, position))
                counter = instruction[1]
            elif op == _ONE:
                width = self.width_of_one(instruction[1], position) if position < size else 0
                position += width
                failed = not width
            elif op == _SAVE:
                slot = instruction[1]
                stack.append((~slot, slots[slot], 0))
                slots[slot] = position
            elif op == _JUMP:
                counter = instruction[1]
            elif op == _PROGRESS:
                if slots[instruction[1]] == position:
                    counter = instruction[2]
            elif op == _RUN:
                furthest, nearest = self.run_of(instruction, position)
                failed = furthest < 0
                position = furthest
                if furthest > nearest:
                    stack.append((counter, self.step_back(furthest), nearest))
            elif op == _MATCH:
                if position <= self.end:
                    return position
                failed = True
            elif op == _ANCHOR:
                failed = not self.anchor_holds(instruction[1], instruction[2], position)
            elif op == _REFERENCE:
                width = self.width_of_reference(instruction[1], instruction[2], position)
                failed = width < 0
                position += width
            elif op == _UNLESS:
                if slots[2 * instruction[1] + 1] == _UNSET:
                    counter = instruction[2]
            else:
                after = self.execute_inner(instruction, position, stack)
                failed = after is None
                position = position if after is None else after

    def execute_inner(self, instruction: Instruction, position: int, stack: Stack) -> int | None:
        """Look ahead, look behind or match atomically: where to go on, or None if it failed."""
        atomic = instruction[0] == Op.ATOMIC
        negative = not atomic and instruction[2]
        before = list(self.slots)
        self.steps += len(before) >> 4
        if instruction[0] == Op.BEHIND:
            found = self.look_behind(instruction[1], position)
        else:
            found = self.execute_up_to(len(self.line), instruction[1], position)
        after = list(self.slots)
        self.slots[:] = before
        if (found is None) != negative:
            return None
        if found is not None:
            self.adopt(after, stack)
        return found if atomic else position

    def execute_up_to(self, end: int, code: list[Instruction], position: int) -> int | None:
        outer_end, self.end = self.end, end
        found = self.execute(code, position, [])
        self.end = outer_end
        return found

    def look_behind(self, options: tuple[tuple[int, list[Instruction]], ...], position: int) -> int | None:
        for width, code in options:
            begin = self.characters_before(position, width)
            if begin is not None:
                found = self.execute_up_to(position, code, begin)
                if found is not None:
                    return found
        return None

    def characters_before(self, position: int, count: int) -> int | None:
        self.steps += count >> 2
        for _ in range(count):
            width = char_before(self.line, position, utf8=self.utf8)[1]
            if not width:
                return None
            position -= width
        return position

    def adopt(self, slots: list[int], stack: Stack) -> None:
        """Keep what an inner program remembered, undone when the outer one backtracks."""
        for slot, value in enumerate(slots):
            if self.slots[slot] != value:
                stack.append((~slot, self.slots[slot], 0))
                self.slots[slot] = value

    def width_of_one(self, tester: Tester, position: int) -> int:
        """The width of the character at a position if it belongs, else 0."""
        byte = self.line[position]
        if byte < len(tester.table):
            return tester.table[byte]
        code, width = char_at(self.line, position, utf8=True)
        return width if width and tester.wide(code) else 0

    def run_of(self, instruction: Instruction, position: int) -> tuple[int, int]:
        """Return the furthest and the nearest acceptable end of a repetition, or -1 twice."""
        _, tester, low, high, possessive = instruction
        line, table = self.line, tester.table
        count, nearest = 0, position if not low else -1
        while position < len(line) and count != high:
            byte = line[position]
            width = table[byte] if byte < len(table) else self.width_of_one(tester, position)
            if not width:
                break
            position += width
            count += 1
            if count == low:
                nearest = position
        self.steps += count >> 3
        if count < low:
            return -1, -1
        return position, position if possessive else nearest

    def step_back(self, position: int) -> int:
        """The beginning of the character that ends here; it has been matched, so it is valid."""
        position -= 1
        while self.utf8 and self.line[position] & 0xC0 == 0x80:
            position -= 1
        return position

    def width_of_reference(self, group: int, fold: bool, position: int) -> int:
        begin, end = self.slots[2 * group], self.slots[2 * group + 1]
        if _UNSET in (begin, end):
            return -1
        self.steps += (end - begin) >> 6
        text = self.line[begin:end]
        if self.line.startswith(text, position):
            return len(text)
        return self.width_folded(begin, end, position) if fold else -1

    def width_folded(self, begin: int, end: int, position: int) -> int:
        first = position
        while begin < end:
            wanted, wanted_width = char_at(self.line, begin, utf8=self.utf8)
            found, found_width = char_at(self.line, position, utf8=self.utf8)
            if not found_width or (found != wanted and found not in case_variants(wanted)):
                return -1
            begin += wanted_width
            position += found_width
        return position - first

    def anchor_holds(self, kind: str, multiline: bool, position: int) -> bool:
        line = self.line
        if kind in ("line_start", "text_start"):
            return position == 0 or (multiline and line[position - 1] == 10)
        if kind in ("line_end", "text_end"):
            return position == len(line) or (multiline and line[position] == 10)
        before = is_word_before(line, position, utf8=self.wide_words)
        after = is_word_after(line, position, utf8=self.wide_words)
        if kind == "word_start":
            return after and not before
        if kind == "word_end":
            return before and not after
        return (before != after) == (kind == "boundary")
