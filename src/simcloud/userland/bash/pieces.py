"""The small pieces of command lines: tokens, reserved words, redirections, here-documents, assignments, aliases.

What commands are made of these is for ``compound_parser.py`` and ``parser.py`` to say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from simcloud.userland.bash.syntax import Assignment, Element, Redirect, Word
from simcloud.userland.bash.test_parser import TestReader
from simcloud.userland.bash.word_parts import ShellSyntaxError, finish_word

OPERATOR: Final = re.compile(
    r"&&|\|\||;;&|;;|;&|;|\|&|\||&>>|&>|&|<<<|<<-|<<|<&|<>|<(?!\()|>>|>&|>\||>(?!\()|\(|\)|\n"
)
REDIRECTS: Final = frozenset(("<", ">", ">>", ">|", "<>", "<&", ">&", "&>", "&>>", "<<", "<<-", "<<<"))
RESERVED: Final = frozenset(
    (
        "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "for", "case", "esac", "in",
        "function", "time", "{", "}", "!", "[[", "]]",
    )
)  # fmt: skip
_SKIP = re.compile(r"(?:[ \t]|\\\n)*(?:#[^\n]*)?")
_RESERVED_HERE = re.compile(r"(?:[a-z]+|[{}!]|\[\[|\]\])(?=[ \t\n;&|()<>]|\\\n|\Z)")
_NUMBER_REDIRECT = re.compile(r"(?:([0-9]{1,9})|\{([A-Za-z_][A-Za-z0-9_]*(?:\[[^]\n]*\])?)\})(?=[<>])")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?=|\[)")
_ALIAS_WORD = re.compile(r"[^ \t\n;&|()<>\\'\"$`]+(?=[ \t\n;&|()<>]|\Z)")


class PieceReader(TestReader):
    """Reads the pieces of commands from one source text."""

    def __init__(
        self,
        source: str,
        first_line: int = 1,
        extglob: bool = False,
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(source, first_line, extglob)
        self.aliases = aliases
        self.warnings: list[tuple[int, str]] = []
        self._open = True
        """Whether what is being read may go on over the end of a line."""
        self._pending: list[tuple[Redirect, int]] = []
        self._alias_guard: dict[str, int] = {}
        self._alias_goes_on = -1
        """Where an alias that ends in a blank ended: the word after it may be an alias too."""

    # -- tokens --------------------------------------------------------------------------------

    def peek(self) -> str:
        """The operator at the position, "word", or "" at the end. Blanks and comments are passed over."""
        match = _SKIP.match(self.source, self.position)
        assert match is not None
        self.position = match.end()
        if self.position >= self.end:
            return ""
        operator = OPERATOR.match(self.source, self.position)
        return operator[0] if operator else "word"

    def _take(self, token: str) -> None:
        self.position += len(token)
        if token == "\n" and self._pending:
            self._read_here_documents()

    def _accept(self, token: str) -> bool:
        if self.peek() == token:
            self._take(token)
            return True
        return False

    def _skip_newlines(self) -> None:
        while self.peek() == "\n":
            self._take("\n")

    def _reserved(self) -> str:
        """The reserved word at the position, if there is one."""
        self.peek()
        match = _RESERVED_HERE.match(self.source, self.position)
        return match[0] if match and match[0] in RESERVED else ""

    def _expect_reserved(self, word: str) -> None:
        if self._reserved() != word:
            raise self.unexpected()
        self.position += len(word)

    def unexpected(self) -> ShellSyntaxError:
        """The error for the token at the position."""
        token = self.peek()
        position = self.position
        if token == "" and not self._open:
            # A command that lacks its last word is ended by the newline bash adds to the text.
            return self._near("newline", position)
        if token == "":
            return ShellSyntaxError("syntax error: unexpected end of file", self.last_line())
        if token == "\n":
            return self._near("newline", position)
        if token == "word":
            number = _NUMBER_REDIRECT.match(self.source, position)
            token = number[0] if number else self._word_text()
        return self._near(token, position)

    def _within_line(self) -> ShellSyntaxError:
        """The error for a token that had to stand on the same line."""
        self._open = False
        try:
            return self.unexpected()
        finally:
            self._open = True

    def _near(self, token: str, position: int) -> ShellSyntaxError:
        return ShellSyntaxError(
            f"syntax error near unexpected token `{token}'", self.line_at(position), self.line_text(position)
        )

    def _word_text(self) -> str:
        start = self.position
        text = self.read_word().text
        self.position = start
        return text or self.source[start : start + 1]

    # -- assignments and aliases ---------------------------------------------------------------

    def _assignment(self) -> Assignment | None:
        start = self.position
        match = _ASSIGNMENT.match(self.source, start)
        if match is None:
            return None
        subscript = None
        self.position = match.end()
        operator = match[2]
        if operator == "[":
            self.position -= 1
            subscript = self.subscript()
            after = re.compile(r"\+?=").match(self.source, self.position)
            if after is None:
                self.position = start
                return None
            operator = after[0]
            self.position = after.end()
        assignment = Assignment(match[1], None, subscript, operator == "+=")
        if self.source.startswith("(", self.position):
            assignment.elements = self._array_elements(start)
        else:
            value_at = self.position
            parts = self.unquoted_parts(" \t\n;&|()<>", self.extglob)
            assignment.value = finish_word(parts, self.source[value_at : self.position], assignment=True)
        assignment.text = self.source[start : self.position]
        return assignment

    def _array_elements(self, start: int) -> list[Element]:
        opened_at = self.position
        self.position += 1
        elements: list[Element] = []
        self.enter()
        while True:
            self._skip_newlines()
            token = self.peek()
            if token == ")":
                break
            if token == "":
                error = self.unmatched(")", self.line_at(opened_at))
                error.status = 1
                raise error
            if token != "word":
                error = self.unexpected()
                error.status = 1
                raise error
            elements.append(self._array_element())
        self.depth -= 1
        self.position += 1
        return elements

    def _array_element(self) -> Element:
        start = self.position
        if self.source[start] == "[":
            try:
                subscript = self.subscript()
            except ShellSyntaxError:
                subscript = None
            after = re.compile(r"\+?=").match(self.source, self.position)
            if subscript is not None and after is not None:
                self.position = after.end()
                value = self.read_word(assignment=True)
                return Element(value, subscript, after[0] == "+=")
            self.position = start
        return Element(self.read_word())

    def _blanks_before(self) -> int:
        """Where the blanks before the position end or begin: right behind an alias's text."""
        position = self.position
        while position > 0 and position != self._alias_goes_on and self.source[position - 1] in " \t":
            position -= 1
        return position

    def _expand_alias(self) -> bool:
        """Replace the alias at the position by its text, once per place."""
        match = _ALIAS_WORD.match(self.source, self.position)
        if match is None or self.aliases is None or match[0] not in self.aliases:
            return False
        name = match[0]
        if self._alias_guard.get(name, -1) >= self.position:
            return False
        text = self.aliases[name]
        self.source = self.source[: self.position] + text + self.source[match.end() :]
        self.end = len(self.source)
        self._newlines = None
        for guarded in self._alias_guard:
            self._alias_guard[guarded] += len(text) - len(name)
        self._alias_guard[name] = self.position + len(text)
        self._alias_goes_on = self.position + len(text) if text.endswith((" ", "\t")) else -1
        return True

    # -- redirections --------------------------------------------------------------------------

    def _redirect(self) -> Redirect | None:
        token = self.peek()
        fd: int | None = None
        variable = ""
        start = self.position
        if token == "word":
            match = _NUMBER_REDIRECT.match(self.source, start)
            if match is None:
                return None
            self.position = match.end()
            token = self.peek()
            if token not in REDIRECTS:
                self.position = start
                return None
            fd = int(match[1]) if match[1] else None
            variable = match[2] or ""
        if token not in REDIRECTS:
            return None
        self._take(token)
        if self.peek() != "word":
            raise self._within_line()
        line = self.line_at(self.position)
        redirect = Redirect(token, self.read_word(), fd, variable, line=line)
        if token in ("<<", "<<-"):
            target = redirect.target
            redirect.delimiter = _unquote(target.text)
            self._pending.append((redirect, line))
        return redirect

    def _read_here_documents(self) -> None:
        pending, self._pending = self._pending, []
        for redirect, line in pending:
            body_line = self.line_at(self.position)
            lines: list[str] = []
            found = False
            while self.position < self.end:
                newline = self.source.find("\n", self.position)
                text = self.source[self.position : newline if newline >= 0 else self.end]
                self.position = newline + 1 if newline >= 0 else self.end
                if redirect.operator == "<<-":
                    text = text.lstrip("\t")
                if text == redirect.delimiter:
                    found = True
                    break
                lines.append(text + "\n")
            if not found:
                wanted = (
                    f"here-document at line {line} delimited by end-of-file (wanted `{redirect.delimiter}')"
                )
                self.warnings.append((self.last_line() - 1, wanted))
            body = "".join(lines)
            if redirect.target.text != redirect.delimiter:
                redirect.here_text = Word([], body, literal=body)
            else:
                redirect.here_text = self.here_text(body, body_line)


def _unquote(text: str) -> str:
    """A here-document's delimiter without its quotes."""
    if not re.search(r"[\\'\"]", text):
        return text
    pieces = re.findall(r"\\(.)|'([^']*)'|\"([^\"]*)\"|([^\\'\"]+)", text, re.DOTALL)
    return "".join("".join(piece) for piece in pieces)
