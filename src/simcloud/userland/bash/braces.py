"""Brace expansion: ``{a,b}``, ``{1..5}``, ``{a..e..2}``, nested and mixed.

It happens before every other expansion and is independent of them: the word's other parts pass through unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from simcloud.userland.bash.syntax import Literal, Part, Word
from simcloud.userland.bash.word_parts import finish_word

MAX_WORDS: Final = 100_000
_SEQUENCE = re.compile(
    r"([-+]?\d+)\.\.([-+]?\d+)(?:\.\.([-+]?\d+))?\Z|([A-Za-z])\.\.([A-Za-z])(?:\.\.([-+]?\d+))?\Z"
)

Piece = str | Part
"""One unquoted character, or a part that braces do not look into."""
Pieces = list[Piece]


class TooManyWords(Exception):
    """A brace expansion would exceed the limit of words."""


def expand_braces(word: Word, spend: Callable[[int], None]) -> list[Word]:
    """The words a word with braces stands for."""
    if not word.has_braces:
        return [word]
    pieces: Pieces = []
    for part in word.parts:
        if isinstance(part, Literal):
            pieces.extend(part.text)
        else:
            pieces.append(part)
    expanded = _expand(pieces, spend, 0)
    if len(expanded) == 1 and expanded[0] == pieces:
        return [word]
    # A brace can leave an empty word behind, which disappears unless it was quoted.
    return [_word(result) for result in expanded if result]


def _word(pieces: Pieces) -> Word:
    parts: list[Part] = [Literal(piece) if isinstance(piece, str) else piece for piece in pieces]
    word = finish_word(parts, "")
    if word.has_braces:
        word.has_braces = False
    return word


def _expand(pieces: Pieces, spend: Callable[[int], None], depth: int) -> list[Pieces]:
    results: list[Pieces] = [[]]
    position = 0
    while position < len(pieces):
        if pieces[position] == "{":
            alternatives, after = _alternatives(pieces, position, spend, depth)
            if alternatives is not None:
                if len(results) * len(alternatives) > MAX_WORDS:
                    raise TooManyWords
                results = [result + alternative for result in results for alternative in alternatives]
                spend(len(results))
                position = after
                continue
        piece = pieces[position]
        for result in results:
            result.append(piece)
        position += 1
    return results


def _alternatives(
    pieces: Pieces, start: int, spend: Callable[[int], None], depth: int
) -> tuple[list[Pieces] | None, int]:
    """Return the alternatives of the brace at ``start`` and its end; None when it is a plain character."""
    level, position = 0, start
    commas: list[int] = []
    for position in range(start, len(pieces)):
        piece = pieces[position]
        if piece == "{":
            level += 1
        elif piece == "}":
            level -= 1
            if level == 0:
                break
        elif piece == "," and level == 1:
            commas.append(position)
    else:
        return None, start
    if depth > 30:
        return None, start
    if not commas:
        return _sequence(pieces[start + 1 : position], spend), position + 1
    alternatives: list[Pieces] = []
    for left, right in zip([start, *commas], [*commas, position], strict=True):
        alternatives.extend(_expand(pieces[left + 1 : right], spend, depth + 1))
    return alternatives, position + 1


def _sequence(inside: Pieces, spend: Callable[[int], None]) -> list[Pieces] | None:
    if not all(isinstance(piece, str) for piece in inside):
        return None
    match = _SEQUENCE.match("".join(piece for piece in inside if isinstance(piece, str)))
    if match is None:
        return None
    if match[4]:
        first, last, step = ord(match[4]), ord(match[5]), int(match[6] or 1)
    else:
        first, last, step = int(match[1]), int(match[2]), int(match[3] or 1)
    step = abs(step) or 1
    count = abs(last - first) // step + 1
    if count > MAX_WORDS:
        raise TooManyWords
    spend(count)
    values = range(first, last + (1 if last >= first else -1), step if last >= first else -step)
    if match[4]:
        return [[chr(value)] for value in values]
    width = max(len(match[1]), len(match[2])) if _is_padded(match[1]) or _is_padded(match[2]) else 0
    return [list(f"{value:0{width}d}") for value in values]


def _is_padded(number: str) -> bool:
    digits = number.lstrip("-+")
    return len(digits) > 1 and digits[0] == "0"
