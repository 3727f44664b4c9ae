"""Reads words: quotes, dollars, ``${...}``, backquotes, subscripts, here-document texts.

Words are read straight from the source characters. ``Parser`` extends the class with the structure of commands, because
a word may hold a command substitution, which is parsed in place, as in bash.

A ``${...}`` that cannot be parsed is no syntax error: bash reports it only when it expands it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

from simcloud.userland.bash.escapes import decode_ansi_c
from simcloud.userland.bash.syntax import (
    Arithmetic,
    Backquoted,
    BadSubstitution,
    DoubleQuoted,
    Literal,
    Parameter,
    Part,
    ProcessSubstitution,
    Quoted,
    Sequence,
    Substitution,
    Word,
)
from simcloud.userland.bash.word_parts import NAME, ShellSyntaxError, finish_word

MAX_SOURCE_CHARS: Final = 1024 * 1024
MAX_NESTING: Final = 60
"""Deeper nesting than any script has; it keeps the parser far from Python's own limit."""

_DOLLAR_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]")
_PARAMETER_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-]")
_NOT_INDIRECT = ("}", ":", "-", "=", "?", "+", "#", "%", "/", "")
"""Characters after the ``!`` of ``${!}`` and ``${!:-x}``, where it is itself the parameter."""
_PLAIN_QUOTED = re.compile(r"[^\\$`\"}]+")
_PLAIN_TEXT = re.compile(r"[^\\$`]+")
_BACKQUOTE_ESCAPE = re.compile(r"\\([$`\\])")
_BACKQUOTE_ESCAPE_QUOTED = re.compile(r"\\([$`\\\"])")

BLANK: Final = " \t\n"
WORD_END: Final = " \t\n;&|()<>"
EXTGLOB: Final = "?*+@!"


class WordReader:
    """Reads words and their parts at a position of a source text."""

    def __init__(self, source: str, first_line: int = 1, extglob: bool = False) -> None:
        if len(source) > MAX_SOURCE_CHARS:
            raise ShellSyntaxError(
                f"limit exceeded: a script of more than {MAX_SOURCE_CHARS} bytes", first_line
            )
        self.source = source
        self.end = len(source)
        self.position = 0
        self.first_line = first_line
        self.extglob = extglob
        self.depth = 0
        self._newlines: list[int] | None = None

    # -- places and errors ---------------------------------------------------------------------

    def line_at(self, position: int) -> int:
        """The number of the line a position is in."""
        if self._newlines is None:
            self._newlines = [match.start() for match in re.finditer("\n", self.source)]
        return self.first_line + bisect_right(self._newlines, position - 1)

    def line_text(self, position: int) -> str:
        """The whole line a position is in."""
        start = self.source.rfind("\n", 0, position) + 1
        end = self.source.find("\n", position)
        return self.source[start : end if end >= 0 else self.end]

    def last_line(self) -> int:
        """The line number bash gives to the end of the text."""
        lines = self.source.count("\n") + (0 if self.source.endswith("\n") else 1)
        return self.first_line + lines

    def missing_closer(self, closer: str, line: int) -> ShellSyntaxError:
        """Return the error for a text that ends inside quotes or brackets."""
        return ShellSyntaxError(f"unexpected EOF while looking for matching `{closer}'", line)

    def enter(self) -> None:
        """Enter a nesting level; the limit keeps hostile input from exhausting the stack."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise ShellSyntaxError(
                f"limit exceeded: nested deeper than {MAX_NESTING} levels", self.line_at(self.position)
            )

    def substitution_body(self) -> Sequence:
        """The commands up to the closing parenthesis; the parser reads them."""
        raise NotImplementedError

    # -- unquoted text -------------------------------------------------------------------------

    def read_word(self, assignment: bool = False) -> Word:
        """The word at the position, up to a blank or an operator."""
        start = self.position
        parts = self.read_unquoted(WORD_END, self.extglob)
        return finish_word(parts, self.source[start : self.position], assignment)

    def read_until(self, stops: str, extglob: bool = True) -> Word:
        """A word up to one of the stop characters (left in place); blanks belong to it."""
        start = self.position
        parts = self.read_unquoted(stops, extglob)
        if self.position >= self.end:
            raise self.missing_closer("}" if "}" in stops else stops[-1], self.line_at(start))
        return finish_word(parts, self.source[start : self.position])

    def read_unquoted(
        self, stops: str, extglob: bool, brackets: bool = False, regex: bool = False
    ) -> list[Part]:
        """Read parts up to an unquoted stop character or the end of the text."""
        source, end = self.source, self.end
        parts: list[Part] = []
        plain = _plain_run(stops, extglob)
        is_word = stops == WORD_END
        open_brackets = 0
        while self.position < end:
            match = plain.match(source, self.position)
            if match:
                parts.append(Literal(match[0]))
                self.position = match.end()
                if self.position >= end:
                    break
            character = source[self.position]
            following = source[self.position + 1 : self.position + 2]
            if brackets and character in "[]":
                if character == "]" and open_brackets == 0:
                    break
                open_brackets += 1 if character == "[" else -1
            elif character in "<>" and following == "(" and is_word and not regex:
                parts.append(self._process_substitution(character))
                continue
            elif regex and character == "(":
                self._read_bracketed(parts, "(", stops, regex=True)
                continue
            elif character in stops and not (regex and character in "|<>;&"):
                break
            elif extglob and character in EXTGLOB and following == "(":
                self._read_bracketed(parts, character + "(", stops)
                continue
            if character == "\\":
                self._backslash(parts)
            elif character == "'":
                parts.append(self._single_quoted())
            elif character == '"':
                parts.append(self._double_quoted())
            elif character == "$":
                parts.append(self.dollar(quoted=False))
            elif character == "`":
                parts.append(self.read_backquoted(quoted=False))
            else:
                parts.append(Literal(character))
                self.position += 1
        return parts

    def _read_bracketed(self, parts: list[Part], opening: str, stops: str, regex: bool = False) -> None:
        """Read a parenthesised part of a word: an extended glob or a group of a regular expression."""
        start = self.position
        parts.append(Literal(opening))
        self.position += len(opening)
        self.enter()
        while True:
            parts.extend(self.read_unquoted(")(", not regex, regex=False))
            if self.position >= self.end:
                raise self.missing_closer(")", self.line_at(start))
            if self.source[self.position] == ")":
                break
            self._read_bracketed(parts, "(", stops, regex)
        parts.append(Literal(")"))
        self.position += 1
        self.depth -= 1

    def _backslash(self, parts: list[Part]) -> None:
        following = self.source[self.position + 1 : self.position + 2]
        if following == "":
            parts.append(Quoted("\\"))
        elif following != "\n":
            parts.append(Quoted(following))
        self.position += 2

    def _single_quoted(self) -> Quoted:
        start = self.position
        closing = self.source.find("'", start + 1)
        if closing < 0:
            raise self.missing_closer("'", self.line_at(start))
        self.position = closing + 1
        return Quoted(self.source[start + 1 : closing])

    def _double_quoted(self) -> DoubleQuoted | Quoted:
        start = self.position
        self.position += 1
        self.enter()
        parts = self.read_quoted('"')
        self.depth -= 1
        if self.position >= self.end:
            raise self.missing_closer('"', self.line_at(start))
        self.position += 1
        texts = [part.text for part in parts if isinstance(part, Quoted)]
        if len(texts) == len(parts):
            return Quoted("".join(texts))
        return DoubleQuoted(parts)

    # -- quoted text ---------------------------------------------------------------------------

    def read_quoted(self, stop: str) -> list[Part]:
        """Read parts as inside double quotes, up to ``"`` or ``}`` (left in place) or, for "", the end."""
        source, end = self.source, self.end
        parts: list[Part] = []
        escapable = '$`\\"\n' + stop if stop else "$`\\\n"
        plain = _PLAIN_QUOTED if stop else _PLAIN_TEXT
        while self.position < end:
            match = plain.match(source, self.position)
            if match:
                parts.append(Quoted(match[0]))
                self.position = match.end()
                if self.position >= end:
                    break
            character = source[self.position]
            if character == stop:
                break
            if character == "\\":
                following = source[self.position + 1 : self.position + 2]
                if following and following in escapable:
                    if following != "\n":
                        parts.append(Quoted(following))
                    self.position += 2
                else:
                    parts.append(Quoted("\\"))
                    self.position += 1
            elif character == "$":
                parts.append(self.dollar(quoted=True))
            elif character == "`":
                parts.append(self.read_backquoted(quoted=stop == '"'))
            elif character == '"' and stop == "}":
                parts.append(self._double_quoted())
            else:
                parts.append(Quoted(character))
                self.position += 1
        return parts

    # -- dollars -------------------------------------------------------------------------------

    def dollar(self, quoted: bool) -> Part:
        """Read the expansion that the ``$`` at the position begins."""
        start = self.position
        following = self.source[start + 1 : start + 2]
        match = _DOLLAR_NAME.match(self.source, start + 1)
        if match:
            self.position = match.end()
            return Parameter(match[0], "$" + match[0])
        if following == "{":
            self.enter()
            part = _read_braced(self, quoted)
            self.depth -= 1
            return part
        if following == "(":
            if self.source.startswith("((", start + 1):
                self.matching(start + 2, "(", ")")
                expression = self.arithmetic_text(start + 3)
                if expression is not None:
                    return Arithmetic(expression)
            self.position = start + 2
            return Substitution(self.substitution_body())
        if following == "[":
            closing = self.matching(start + 2, "[", "]")
            expression = self.expression_word(self.source[start + 2 : closing])
            self.position = closing + 1
            return Arithmetic(expression)
        if following == "'" and not quoted:
            return self._ansi_quoted()
        self.position += 1
        if following == '"' and not quoted:
            return self._double_quoted()
        return Quoted("$") if quoted else Literal("$")

    def arithmetic_text(self, start: int) -> Word | None:
        """The expression from ``start`` up to ``))``; None when the brackets do not close that way."""
        closing = self.matching(start, "(", ")")
        if self.source[closing + 1 : closing + 2] != ")":
            if closing + 1 >= self.end:
                raise self.missing_closer(")", self.line_at(start))
            return None
        self.position = closing + 2
        return self.expression_word(self.source[start:closing])

    def expression_word(self, text: str) -> Word:
        """An arithmetic expression with its expansions; double quotes in it vanish."""
        if not any(character in text for character in '$`\\"'):
            return Word([Quoted(text)] if text else [], text, literal=text)
        reader = type(self)(text, self.line_at(self.position), self.extglob)
        reader.depth = self.depth
        reader.enter()
        parts: list[Part] = []
        while reader.position < reader.end:
            parts.extend(reader.read_quoted('"'))
            reader.position += 1
        return finish_word(parts, text)

    def matching(self, start: int, opening: str, closing: str) -> int:
        """Return the position of the closing bracket; quotes and expansions are skipped."""
        source, position, depth = self.source, start, 1
        while position < self.end:
            character = source[position]
            if character == "\\":
                position += 1
            elif character == "'":
                position = source.find("'", position + 1)
                if position < 0:
                    break
            elif character in '"`':
                position = self._skip_quoted(position, character)
            elif character == opening:
                depth += 1
            elif character == closing:
                depth -= 1
                if depth == 0:
                    return position
            position += 1
        raise self.missing_closer(closing, self.line_at(start))

    def _skip_quoted(self, start: int, quote: str) -> int:
        position = start + 1
        while position < self.end and self.source[position] != quote:
            position += 2 if self.source[position] == "\\" else 1
        if position >= self.end:
            raise self.missing_closer(quote, self.line_at(start))
        return position

    def _ansi_quoted(self) -> Quoted:
        start = self.position + 2
        position = start
        while position < self.end and self.source[position] != "'":
            position += 2 if self.source[position] == "\\" else 1
        if position >= self.end:
            raise self.missing_closer("'", self.line_at(start))
        self.position = position + 1
        return Quoted(decode_ansi_c(self.source[start:position]))

    def read_backquoted(self, quoted: bool) -> Backquoted:
        """Read a command in backquotes; its backslashes are resolved, and it is parsed when it runs."""
        start = self.position
        closing = self._skip_quoted(start, "`")
        self.position = closing + 1
        escape = _BACKQUOTE_ESCAPE_QUOTED if quoted else _BACKQUOTE_ESCAPE
        return Backquoted(escape.sub(r"\1", self.source[start + 1 : closing]), self.line_at(start))

    def _process_substitution(self, direction: str) -> ProcessSubstitution:
        self.position += 2
        return ProcessSubstitution(direction, self.substitution_body())

    # -- subscripts ----------------------------------------------------------------------------

    def next_is(self, character: str) -> bool:
        """Whether that character stands at the position."""
        return self.source.startswith(character, self.position)

    def subscript(self) -> Word:
        """``[...]`` at the position, brackets inside it paired."""
        start = self.position
        self.position += 1
        parts = self.read_unquoted("]", False, brackets=True)
        if self.position >= self.end:
            raise self.missing_closer("]", self.line_at(start))
        word = finish_word(parts, self.source[start + 1 : self.position])
        self.position += 1
        return word

    # -- here-documents ------------------------------------------------------------------------

    def here_text(self, text: str, line: int) -> Word:
        """The body of an unquoted here-document: expansions, but quotes stand for themselves."""
        reader = type(self)(text, line, self.extglob)
        reader.depth = self.depth
        return finish_word(reader.read_quoted(""), text)


_RUNS: dict[tuple[str, bool], re.Pattern[str]] = {}


def _plain_run(stops: str, extglob: bool) -> re.Pattern[str]:
    """A pattern for the characters that need no attention before these stops."""
    pattern = _RUNS.get((stops, extglob))
    if pattern is None:
        special = stops + "\\'\"$`" + ("[]" if "]" in stops else "") + "<>(" + (EXTGLOB if extglob else "")
        pattern = _RUNS[stops, extglob] = re.compile("[^" + re.escape(special) + "]+")
    return pattern


# -- ${...} ------------------------------------------------------------------------------------


def _read_braced(reader: WordReader, quoted: bool) -> Part:
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
        raise reader.missing_closer("}", reader.line_at(start)) from None
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
    first.extend(reader.read_unquoted("/}", True))
    part.first = finish_word(first, reader.source[start : reader.position])
    if reader.next_is("/"):
        reader.position += 1
        part.second = reader.read_until("}", extglob=False)


def _default_word(reader: WordReader, quoted: bool) -> Word:
    if not quoted:
        return reader.read_until("}", extglob=False)
    start = reader.position
    parts = reader.read_quoted("}")
    if reader.position >= reader.end:
        raise reader.missing_closer("}", reader.line_at(start))
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
            parts.append(reader.read_backquoted(quoted=False))
            continue
        questions += (character == "?") - (character == ":")
        brackets += (character in "([{") - (character in ")]}")
        if character != '"':
            parts.append(Quoted(character))
        reader.position += 1
    return finish_word(parts, reader.source[start : reader.position])
