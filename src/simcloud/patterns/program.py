"""Compiles a tree to instructions for the backtracking matcher.

Each instruction is a tuple that starts with its opcode. Counted repetitions are unrolled, so a program's size is
limited. Parts that are matched on their own (look-around, atomic groups) are programs inside the program.
"""

from __future__ import annotations

from typing import Any as Anything, Final

from msgspec import Struct

from simcloud.patterns.charset import CharSet, case_variants
from simcloud.patterns.errors import RegexError
from simcloud.patterns.tree import (
    Anchor,
    Any,
    Atomic,
    BackReference,
    Char,
    Choice,
    Condition,
    Group,
    Keep,
    Look,
    Node,
    Repeat,
    Sequence,
    Set,
)

MAX_INSTRUCTIONS = 50_000


class Op:
    """Opcodes. Plain numbers, because the matcher compares them at every step."""

    MATCH: Final = 0
    """The end of a program."""
    TEXT: Final = 1
    """bytes: this text."""
    ONE: Final = 2
    """tester: one character."""
    RUN: Final = 3
    """tester, low, high, possessive: one character repeatedly, greedy."""
    SPLIT: Final = 4
    """preferred target, other target."""
    JUMP: Final = 5
    """target."""
    SAVE: Final = 6
    """slot: remember this place, as an end of a group or as the beginning of an iteration."""
    PROGRESS: Final = 7
    """slot, target: leave the loop if the iteration matched nothing."""
    REFERENCE: Final = 8
    """group, fold: what a group matched."""
    ANCHOR: Final = 9
    """kind, multiline."""
    AHEAD: Final = 10
    """program, negative."""
    BEHIND: Final = 11
    """((width in characters, program), ...), negative."""
    ATOMIC: Final = 12
    """program."""
    UNLESS: Final = 13
    """group, target: jump if the group took no part."""


Instruction = tuple[Anything, ...]


class Tester(Struct, frozen=True):
    """Tests whether a character belongs to a set; ``table`` holds the results for single bytes."""

    chars: CharSet
    fold: bool
    table: bytes

    def wide(self, code: int) -> bool:
        """For characters beyond the table."""
        return self.chars.contains(code, fold=self.fold)


def make_tester(chars: CharSet, fold: bool, utf8: bool) -> Tester:
    """A tester for a set of characters."""
    size = 128 if utf8 else 256
    return Tester(chars, fold, bytes(chars.contains(code, fold=fold) for code in range(size)))


class Program(Struct):
    """Instructions, and the number of slots they use (two for each group, one for each loop)."""

    code: list[Instruction]
    slots: int


def compile_program(tree: Node, groups: int, *, utf8: bool) -> Program:
    """Compile a tree with that many groups."""
    compiler = _Compiler(utf8, 2 * (groups + 1))
    code = compiler.whole(tree)
    return Program(code, compiler.slots)


class _Compiler:
    def __init__(self, utf8: bool, slots: int) -> None:
        self.utf8 = utf8
        self.slots = slots
        self.size = 0

    def whole(self, tree: Node) -> list[Instruction]:
        code: list[Instruction] = []
        self.node(tree, code)
        self.emit(code, Op.MATCH)
        return code

    def emit(self, code: list[Instruction], *instruction: Anything) -> int:
        self.size += 1
        if self.size > MAX_INSTRUCTIONS:
            raise RegexError("Regular expression too big")
        code.append(instruction)
        return len(code) - 1

    def node(self, node: Node, code: list[Instruction]) -> None:
        match node:
            case Char(code=char, fold=False):
                self.text(char, code)
            case Char() | Set() | Any():
                self.emit(code, Op.ONE, self.tester(node))
            case Sequence(parts=parts):
                for part in parts:
                    self.node(part, code)
            case Group(index=index, body=body):
                self.emit(code, Op.SAVE, 2 * index)
                self.node(body, code)
                self.emit(code, Op.SAVE, 2 * index + 1)
            case Choice(options=options):
                self.choice(options, code)
            case Repeat():
                self.repeat(node, code)
            case Anchor(kind=kind, multiline=multiline):
                self.emit(code, Op.ANCHOR, kind, multiline)
            case BackReference(index=index, fold=fold):
                self.emit(code, Op.REFERENCE, index, fold)
            case Look():
                self.look(node, code)
            case Atomic(body=body):
                self.emit(code, Op.ATOMIC, self.whole(body))
            case Keep():
                self.emit(code, Op.SAVE, 0)
            case Condition():
                self.condition(node, code)

    def text(self, char: int, code: list[Instruction]) -> None:
        encoded = chr(char).encode("utf-8", "surrogatepass") if self.utf8 else bytes((char,))
        self.emit(code, Op.TEXT, encoded)

    def tester(self, node: Char | Set | Any) -> Tester:
        if isinstance(node, Set):
            return make_tester(node.chars, node.fold, self.utf8)
        if isinstance(node, Any):
            return make_tester(CharSet(() if node.newline else ((10, 10),), negated=True), False, self.utf8)
        variants = case_variants(node.code) if node.fold else ()
        return make_tester(CharSet(tuple((code, code) for code in (node.code, *variants))), False, self.utf8)

    def choice(self, options: tuple[Node, ...], code: list[Instruction]) -> None:
        jumps: list[int] = []
        for option in options[:-1]:
            split = self.emit(code, Op.SPLIT, 0, 0)
            self.node(option, code)
            jumps.append(self.emit(code, Op.JUMP, 0))
            code[split] = (Op.SPLIT, split + 1, len(code))
        self.node(options[-1], code)
        for jump in jumps:
            code[jump] = (Op.JUMP, len(code))

    def repeat(self, node: Repeat, code: list[Instruction]) -> None:
        if isinstance(node.body, Char | Set | Any) and node.mode != "lazy":
            high = -1 if node.high is None else node.high
            self.emit(code, Op.RUN, self.tester(node.body), node.low, high, node.mode == "possessive")
        elif node.mode == "possessive":
            self.emit(code, Op.ATOMIC, self.whole(Repeat(node.body, node.low, node.high)))
        else:
            for _ in range(node.low):
                self.node(node.body, code)
            if node.high is None:
                self.loop(node, code)
            else:
                self.optional(node, node.high - node.low, code)

    def loop(self, node: Repeat, code: list[Instruction]) -> None:
        slot = self.slots
        self.slots += 1
        split = self.emit(code, Op.SPLIT, 0, 0)
        self.emit(code, Op.SAVE, slot)
        self.node(node.body, code)
        self.emit(code, Op.PROGRESS, slot, len(code) + 2)
        self.emit(code, Op.JUMP, split)
        code[split] = self.split(node, split + 1, len(code))

    def optional(self, node: Repeat, count: int, code: list[Instruction]) -> None:
        splits: list[int] = []
        for _ in range(count):
            splits.append(self.emit(code, Op.SPLIT, 0, 0))
            self.node(node.body, code)
        for split in splits:
            code[split] = self.split(node, split + 1, len(code))

    def split(self, node: Repeat, again: int, leave: int) -> Instruction:
        return (Op.SPLIT, leave, again) if node.mode == "lazy" else (Op.SPLIT, again, leave)

    def look(self, node: Look, code: list[Instruction]) -> None:
        if node.ahead:
            self.emit(code, Op.AHEAD, self.whole(node.body), node.negative)
            return
        options = node.body.options if isinstance(node.body, Choice) else (node.body,)
        self.emit(
            code, Op.BEHIND, tuple((lookbehind_width(o), self.whole(o)) for o in options), node.negative
        )

    def condition(self, node: Condition, code: list[Instruction]) -> None:
        unless = self.emit(code, Op.UNLESS, node.index, 0)
        self.node(node.yes, code)
        jump = self.emit(code, Op.JUMP, 0)
        code[unless] = (Op.UNLESS, node.index, len(code))
        self.node(node.no, code)
        code[jump] = (Op.JUMP, len(code))


def lookbehind_width(node: Node) -> int:
    """Return the fixed number of characters that a node matches. Raises ``RegexError`` if it varies."""
    match node:
        case Char() | Set() | Any():
            return 1
        case Sequence(parts=parts):
            return sum(lookbehind_width(part) for part in parts)
        case Group(body=body) | Atomic(body=body):
            return lookbehind_width(body)
        case Choice(options=options):
            widths = [lookbehind_width(option) for option in options]
            if widths.count(widths[0]) == len(widths):
                return widths[0]
        case Repeat(body=body, low=low, high=high) if low == high:
            return low * lookbehind_width(body)
        case Anchor() | Look() | Keep():
            return 0
    raise RegexError("lookbehind assertion is not fixed length")
