"""Reading ``${...}``: which parameter, which operator, which operands.

What cannot be understood is no syntax error: bash complains about it only when it comes to expanding it.
"""

from __future__ import annotations

import re
from typing import Protocol

from simcloud.userland.bash.syntax import BadSubstitution, Literal, Parameter, Part, Quoted, Word
from simcloud.userland.bash.word_parts import NAME, ShellSyntaxError, finish_word

_PARAMETER_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-]")
_NOT_INDIRECT = ("}", ":", "-", "=", "?", "+", "#", "%", "/", "")
"""What follows the ``!`` of ``${!}`` and ``${!:-x}``, where it is itself the parameter."""


class WordReader(Protocol):
    """What reading an expansion needs of the reader of words around it."""

    source: str
    end: int
    position: int

    def line_at(self, position: int) -> int:
        """The number of the line a position is in."""

    def unmatched(self, closer: str, line: int) -> ShellSyntaxError:
        """The text ended inside quotes or brackets."""

    def read_until(self, stops: str, extglob: bool = True) -> Word:
        """A word up to one of the stop characters (left in place); blanks belong to it."""

    def unquoted_parts(
        self, stops: str, extglob: bool, brackets: bool = False, regex: bool = False
    ) -> list[Part]:
        """Parts up to an unquoted stop character or the end of the text."""

    def quoted_parts(self, stop: str) -> list[Part]:
        """Parts as inside double quotes, up to a stop character or the end."""

    def dollar(self, quoted: bool) -> Part:
        """Whatever the ``$`` at the position begins."""

    def backquoted(self, quoted: bool) -> Part:
        """A stretch in backquotes."""

    def matching(self, start: int, opening: str, closing: str) -> int:
        """Where the bracket that was opened before ``start`` closes."""

    def next_is(self, character: str) -> bool:
        """Whether that character stands at the position."""

    def subscript(self) -> Word:
        """``[...]`` at the position, brackets inside it paired."""


def read_braced(reader: WordReader, quoted: bool) -> Part:
    """The parameter expansion at the position, which is at ``${``."""
    start = reader.position
    reader.position = start + 2
    try:
        part = _parameter(reader, quoted)
    except ShellSyntaxError as error:
        if not error.message.startswith("unexpected EOF"):
            raise
        part = None
    if part is not None and reader.next_is("}"):
        reader.position += 1
        part.text = reader.source[start : reader.position]
        return part
    try:
        reader.position = reader.matching(start + 2, "{", "}") + 1
    except ShellSyntaxError:
        raise reader.unmatched("}", reader.line_at(start)) from None
    return BadSubstitution(reader.source[start : reader.position])


def _parameter(reader: WordReader, quoted: bool) -> Parameter | None:
    source = reader.source
    head = source[reader.position : reader.position + 1]
    following = source[reader.position + 1 : reader.position + 2]
    length = head == "#" and following != "}" and _is_length(reader)
    indirect = head == "!" and (
        following not in _NOT_INDIRECT or source.startswith("#}", reader.position + 1)
    )
    if length or indirect:
        reader.position += 1
    match = _PARAMETER_NAME.match(source, reader.position)
    if match is None:
        return None
    reader.position = match.end()
    part = Parameter(match[0], "", indirect=indirect)
    if reader.next_is("[") and NAME.match(match[0]):
        part.subscript = reader.subscript()
        if not part.subscript.text:
            return None
    if length:
        part.operator = "length"
    else:
        _operator(reader, part, quoted)
    return part


def _is_length(reader: WordReader) -> bool:
    match = _PARAMETER_NAME.match(reader.source, reader.position + 1)
    if match is None:
        return False
    after = reader.source[match.end() : match.end() + 1]
    return after == "}" or (after == "[" and NAME.match(match[0]) is not None)


def _operator(reader: WordReader, part: Parameter, quoted: bool) -> None:
    two = reader.source[reader.position : reader.position + 2]
    one = two[:1]
    if one in ("}", ""):
        return
    if part.indirect and two in ("*}", "@}"):
        part.operator, part.indirect = "names" + one, False
        reader.position += 1
    elif two in (":-", ":=", ":?", ":+"):
        part.operator = two
        reader.position += 2
        part.first = _default_word(reader, quoted)
    elif one in "-=?+":
        part.operator = one
        reader.position += 1
        part.first = _default_word(reader, quoted)
    elif one == ":":
        part.operator = ":"
        reader.position += 1
        part.first = _offset_word(reader)
        if reader.next_is(":"):
            reader.position += 1
            part.second = _offset_word(reader)
    elif one in "#%^,~":
        part.operator = two if two == one + one else one
        reader.position += len(part.operator)
        part.first = reader.read_until("}")
    elif one == "/":
        _replacement(reader, part)
    elif one == "@" and reader.source[reader.position + 2 : reader.position + 3] == "}":
        part.operator = "@" + two[1:]
        reader.position += 2


def _replacement(reader: WordReader, part: Parameter) -> None:
    two = reader.source[reader.position : reader.position + 2]
    part.operator = two if two in ("//", "/#", "/%") else "/"
    reader.position += len(part.operator)
    start = reader.position
    first: list[Part] = []
    if part.operator == "//" and reader.next_is("/"):  # what is to be replaced is never nothing
        first.append(Literal("/"))
        reader.position += 1
    first.extend(reader.unquoted_parts("/}", True))
    part.first = finish_word(first, reader.source[start : reader.position])
    if reader.next_is("/"):
        reader.position += 1
        part.second = reader.read_until("}", extglob=False)


def _default_word(reader: WordReader, quoted: bool) -> Word:
    if not quoted:
        return reader.read_until("}", extglob=False)
    start = reader.position
    parts = reader.quoted_parts("}")
    if reader.position >= reader.end:
        raise reader.unmatched("}", reader.line_at(start))
    return finish_word(parts, reader.source[start : reader.position])


def _offset_word(reader: WordReader) -> Word:
    """An offset or a length: an expression up to ``:`` or ``}`` outside of brackets and ``?:``."""
    start = reader.position
    questions = brackets = 0
    parts: list[Part] = []
    while reader.position < reader.end:
        character = reader.source[reader.position]
        if (character == ":" and not questions and not brackets) or (character == "}" and not brackets):
            break
        if character == "$":
            parts.append(reader.dollar(quoted=True))
            continue
        if character == "`":
            parts.append(reader.backquoted(quoted=False))
            continue
        questions += (character == "?") - (character == ":")
        brackets += (character in "([{") - (character in ")]}")
        if character != '"':
            parts.append(Quoted(character))
        reader.position += 1
    return finish_word(parts, reader.source[start : reader.position])
