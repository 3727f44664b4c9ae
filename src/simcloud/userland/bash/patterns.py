"""Glob patterns: whether a text matches, and which prefix, suffix or part of it does.

A pattern is a string in which a backslash makes the next character literal. Plain globs become regular expressions
with atomic stars, so that no input makes them backtrack for long; extended globs (``@(a|b)``, ``!(c)``) run over a
bit mask of all reachable positions. Both cost at most the product of pattern and text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from msgspec import Struct

from simcloud.machine.process import LimitExceeded

MAX_EXTGLOB_CHARS: Final = 20_000
MAX_EXTGLOB_DEPTH: Final = 40

CLASSES: Final = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": " \\t", "cntrl": "\\x00-\\x1f\\x7f", "digit": "0-9",
    "graph": "!-~", "lower": "a-z", "print": " -~", "punct": "!-/:-@\\[-`{-~", "space": " \\t\\n\\r\\f\\v",
    "upper": "A-Z", "xdigit": "0-9A-Fa-f", "word": "a-zA-Z0-9_",
}  # fmt: skip
NEVER: Final = "(?!)"
_SPECIAL = re.compile(r"((?![A-Za-z0-9_ /.,:=%])[\x00-\x7f])")
_BACKSLASHED = re.compile(r"\\(.)", re.DOTALL)
_MAYBE_ACTIVE = re.compile(r"[*?\[]|[+@!]\(")
_EXTENDED = re.compile(r"[+@!]\(")

STAR: Final = "*"


class Extended(Struct, frozen=True):
    """An extended glob such as ``?(a|b)``; alternatives are sequences of atoms."""

    kind: str
    alternatives: tuple[Atoms, ...]


Atom = str | Extended
"""``*``, or the regular expression of one character, or an extended group."""
Atoms = tuple["str | Extended", ...]


def escape(text: str) -> str:
    """A pattern that matches exactly this text."""
    return _SPECIAL.sub(r"\\\1", text)


def unescape(pattern: str) -> str:
    """The text of a pattern that has nothing active in it."""
    return _BACKSLASHED.sub(r"\1", pattern) if "\\" in pattern else pattern


def is_active(pattern: str, extglob: bool = False) -> bool:
    """Whether a pattern could match anything but its own text."""
    if not _MAYBE_ACTIVE.search(pattern):
        return False
    bare = _BACKSLASHED.sub("", pattern) if "\\" in pattern else pattern
    if "*" in bare or "?" in bare or (extglob and _EXTENDED.search(bare)):
        return True
    opening = bare.find("[")
    return opening >= 0 and "]" in bare[opening + 1 :]


class Pattern:
    """A compiled glob."""

    def __init__(self, atoms: Atoms, nocase: bool) -> None:
        self._atoms = atoms
        self._flags = re.DOTALL | (re.IGNORECASE if nocase else 0)
        self._extended = any(isinstance(atom, Extended) for atom in atoms)
        self._reverse: Pattern | None = None
        self._nocase = nocase
        if not self._extended:
            self._build()

    def _build(self) -> None:
        segments: list[list[str]] = [[]]
        for atom in self._atoms:
            if atom == STAR:
                if len(segments) == 1 or segments[-1]:
                    segments.append([])
            else:
                segments[-1].append(atom)  # type: ignore[arg-type]  # none is extended: such patterns are not built
        fixed = ["".join(segment) for segment in segments]
        head = fixed[0] + "".join(f"(?>.*?{segment})" for segment in fixed[1:-1])
        last = fixed[-1]
        self._has_star = len(fixed) > 1
        longest = f"{head}.*{last}" if self._has_star else head
        shortest = f"{head}.*?{last}" if self._has_star else head
        self._full = re.compile(rf"(?:{longest})\Z", self._flags)
        self._longest = re.compile(longest, self._flags)
        self._shortest = re.compile(shortest, self._flags)
        self._head = re.compile(fixed[0], self._flags)

    @property
    def _reversed(self) -> Pattern:
        if self._reverse is None:
            self._reverse = Pattern(_reverse_atoms(self._atoms), self._nocase)
        return self._reverse

    def matches(self, text: str) -> bool:
        """Whether the whole text matches."""
        if not self._extended:
            return self._full.match(text) is not None
        return bool(self._run(text, 0) >> len(text) & 1)

    def prefix(self, text: str, longest: bool) -> int | None:
        """Return the length of the longest or shortest matching prefix; None when none matches."""
        if not self._extended:
            match = (self._longest if longest else self._shortest).match(text)
            return match.end() if match else None
        reached = self._run(text, 0)
        return _highest(reached, longest) if reached else None

    def suffix(self, text: str, longest: bool) -> int | None:
        """Return the length of the longest or shortest matching suffix; None when none matches."""
        return self._reversed.prefix(text[::-1], longest)

    def find(self, text: str, start: int) -> tuple[int, int] | None:
        """The leftmost match at or after ``start``, as long as can be."""
        if not self._extended:
            if not self._has_star:
                match = self._longest.search(text, start)
                return match.span() if match else None
            # Where the fixed head fits but the rest is not found, it is not found further right either.
            head = self._head.search(text, start)
            match = self._longest.match(text, head.start()) if head else None
            return match.span() if match else None
        for position in range(start, len(text) + 1):
            reached = self._run(text, position)
            if reached:
                return position, _highest(reached, True)
        return None

    def _run(self, text: str, start: int) -> int:
        if len(text) > MAX_EXTGLOB_CHARS:
            raise LimitExceeded(
                f"limit exceeded: an extended pattern on more than {MAX_EXTGLOB_CHARS} characters"
            )
        return _Run(text, self._flags).sequence(self._atoms, 1 << start)


class _Run:
    """One match of a text: bit n of a mask says that a match can end before character n."""

    def __init__(self, text: str, flags: int) -> None:
        self._text = text
        self._flags = flags
        self._all = (1 << (len(text) + 1)) - 1
        self._where: dict[str, int] = {}

    def sequence(self, atoms: Atoms, reached: int) -> int:
        for atom in atoms:
            if not reached:
                return 0
            if isinstance(atom, Extended):
                reached = self._group(atom, reached)
            elif atom == STAR:
                reached = self._all & ~((reached & -reached) - 1)
            else:
                reached = (reached & self._places(atom)) << 1
        return reached

    def _places(self, atom: str) -> int:
        mask = self._where.get(atom)
        if mask is None:
            one = re.compile(atom, self._flags).match
            bits = ["1" if one(character) else "0" for character in reversed(self._text)]
            mask = self._where[atom] = int("".join(bits) or "0", 2)
        return mask

    def _any(self, group: Extended, reached: int) -> int:
        result = 0
        for alternative in group.alternatives:
            result |= self.sequence(alternative, reached)
        return result

    def _group(self, group: Extended, reached: int) -> int:
        if group.kind == "!":
            return self._match_negated(group, reached)
        if group.kind == "@":
            return self._any(group, reached)
        if group.kind == "?":
            return reached | self._any(group, reached)
        total = reached if group.kind == "*" else 0
        fresh = reached
        while fresh:
            stepped = self._any(group, fresh)
            fresh = stepped & ~total
            total |= stepped
        return total

    def _match_negated(self, group: Extended, reached: int) -> int:
        result = 0
        while reached:
            lowest = reached & -reached
            result |= self._all & ~(lowest - 1) & ~self._any(group, lowest)
            reached ^= lowest
        return result


def _highest(mask: int, longest: bool) -> int:
    return (mask if longest else mask & -mask).bit_length() - 1


def _reverse_atoms(atoms: Atoms) -> Atoms:
    return tuple(
        Extended(atom.kind, tuple(_reverse_atoms(alternative) for alternative in atom.alternatives))
        if isinstance(atom, Extended)
        else atom
        for atom in reversed(atoms)
    )


@lru_cache(maxsize=2048)
def compile_pattern(pattern: str, extglob: bool = False, nocase: bool = False) -> Pattern:
    """Compile a glob; a bracket that is never closed is an ordinary character."""
    atoms, _ = _parse(pattern, 0, extglob, 0)
    return Pattern(tuple(atoms), nocase)


def _parse(pattern: str, position: int, extglob: bool, depth: int) -> tuple[list[Atom], int]:
    """Atoms up to the end, or inside a group up to ``|`` or ``)``."""
    atoms: list[Atom] = []
    while position < len(pattern):
        character = pattern[position]
        if depth and character in "|)":
            break
        if extglob and character in "?*+@!" and pattern.startswith("(", position + 1):
            group, after = _parse_group(pattern, position, depth)
            if group is not None:
                atoms.append(group)
                position = after
                continue
        if character == "*":
            atoms.append(STAR)
        elif character == "?":
            atoms.append(".")
        elif character == "[":
            bracket, after = bracket_expression(pattern, position)
            atoms.append(bracket)
            position = after
            continue
        elif character == "\\" and position + 1 < len(pattern):
            position += 1
            atoms.append(re.escape(pattern[position]))
        else:
            atoms.append(re.escape(character))
        position += 1
    return atoms, position


def _parse_group(pattern: str, position: int, depth: int) -> tuple[Extended | None, int]:
    if depth >= MAX_EXTGLOB_DEPTH:
        raise LimitExceeded(f"limit exceeded: patterns nested deeper than {MAX_EXTGLOB_DEPTH} levels")
    kind = pattern[position]
    alternatives: list[Atoms] = []
    position += 2
    while True:
        atoms, position = _parse(pattern, position, True, depth + 1)
        if position >= len(pattern):
            return None, 0
        alternatives.append(tuple(atoms))
        position += 1
        if pattern[position - 1] == ")":
            return Extended(kind, tuple(alternatives)), position


def bracket_expression(pattern: str, position: int) -> tuple[str, int]:
    """The regular expression of ``[...]`` at the position, and where it ends."""
    start = position
    position += 1
    negated = pattern[position : position + 1] in ("!", "^")
    position += negated
    pieces: list[str] = []
    first = True
    while True:
        if position >= len(pattern):
            return re.escape("["), start + 1
        character = pattern[position]
        if character == "]" and not first:
            position += 1
            break
        first = False
        if pattern.startswith("[:", position) and (end := pattern.find(":]", position + 2)) > 0:
            pieces.append(CLASSES.get(pattern[position + 2 : end], ""))
            position = end + 2
            continue
        low, position = _bracket_character(pattern, position)
        if pattern.startswith("-", position) and position + 1 < len(pattern) and pattern[position + 1] != "]":
            high, position = _bracket_character(pattern, position + 1)
            if low <= high:
                pieces.append(f"{re.escape(low)}-{re.escape(high)}")
        else:
            pieces.append(re.escape(low))
    body = "".join(pieces)
    if not body:
        return ("." if negated else NEVER), position
    return f"[{'^' if negated else ''}{body}]", position


def _bracket_character(pattern: str, position: int) -> tuple[str, int]:
    if pattern.startswith("\\", position) and position + 1 < len(pattern):
        return pattern[position + 1], position + 2
    for opener, closer in (("[.", ".]"), ("[=", "=]")):
        if (
            pattern.startswith(opener, position)
            and (end := pattern.find(closer, position + 2)) == position + 3
        ):
            return pattern[position + 2], end + 2
    return pattern[position], position + 1
