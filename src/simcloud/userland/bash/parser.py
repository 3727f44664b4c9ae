"""Parses source text to commands, one complete command line at a time.

Bash reads a line, runs it, and only then reads on: a mistake on line 5 does not keep lines 1 to 4 from
running, and an option set on one line changes how the next one is read. So the parser returns one
unit at a time. It is a recursive descent over the source characters, written to fail where bash's own
grammar fails, with the token bash would name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from simcloud.userland.bash.condition_parser import ConditionParser
from simcloud.userland.bash.syntax import (
    AndOr,
    ArithmeticCommand,
    ArithmeticFor,
    Assignment,
    Case,
    CaseClause,
    Command,
    Compound,
    Conditional,
    Element,
    For,
    FunctionDefinition,
    Group,
    If,
    Pipeline,
    Redirect,
    Sequence,
    Simple,
    Subshell,
    While,
    Word,
)
from simcloud.userland.bash.word_parts import ShellSyntaxError, finish_word
from simcloud.userland.bash.words import WordReader

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
_FUNCTION_HEAD = re.compile(r"[ \t]*\([ \t]*\)")
CLOSERS: Final = frozenset(("then", "elif", "else", "fi", "do", "done", "esac", "}"))
DECLARATIONS: Final = frozenset(("declare", "typeset", "local", "export", "readonly", "alias"))


class Parser(WordReader):
    """Parses commands from one source text. ``next_unit`` returns the next complete command line."""

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
        """The end of an alias that ends in a blank: the word after it may be an alias too."""

    def next_unit(self) -> Sequence | None:
        """The commands of the next complete line; None at the end of the text."""
        while True:
            token = self.peek()
            if token == "":
                self._read_here_documents()
                return None
            if token != "\n":
                break
            self._take(token)
        start = self.position
        sequence = self._sequence_items(stop_at_newline=True)
        token = self.peek()
        if token == "\n":
            self._take(token)
        elif token != "":
            raise self.syntax_error()
        else:
            self._read_here_documents()
        sequence.text = self.source[start : self.position].rstrip("\n")
        return sequence

    # -- lists ---------------------------------------------------------------------------------

    def _sequence_items(self, stop_at_newline: bool) -> Sequence:
        start = self.position
        items: list[tuple[Command, bool]] = []
        while True:
            command = self._and_or()
            token = self.peek()
            items.append((command, token == "&"))
            if token in (";", "&"):
                self._take(token)
            elif token != "\n" or stop_at_newline:
                break
            if stop_at_newline:
                if self.peek() in ("\n", ""):
                    break
            else:
                self._skip_newlines()
            if self.peek() in ("", ")", ";;", ";&", ";;&") or (self._peek_reserved() in CLOSERS):
                break
        return Sequence(items, self.source[start : self.position].rstrip(" \t\n;"))

    def substitution_body(self) -> Sequence:
        """The commands up to the closing parenthesis."""
        self.enter()
        outer, self._pending = self._pending, []
        try:
            self._skip_newlines()
            empty = self.peek() == ")"
            sequence = Sequence([]) if empty else self._sequence_items(stop_at_newline=False)
            if self.peek() == "":
                raise self.missing_closer(")", self.last_line())
            if self.peek() != ")":
                raise self.syntax_error()
        except ShellSyntaxError as error:
            if error.message.endswith("unexpected end of file"):
                raise self.missing_closer(")", self.last_line()) from None
            error.in_substitution = not error.at_end
            raise
        self.position += 1
        self._pending = outer
        self.depth -= 1
        return sequence

    def _and_or(self) -> Command:
        first = self._pipeline()
        rest: list[tuple[str, Command]] = []
        while (token := self.peek()) in ("&&", "||"):
            self._take(token)
            self._skip_newlines()
            rest.append((token, self._pipeline()))
        return AndOr(first, rest) if rest else first

    def _pipeline(self) -> Command:
        negated = timed = posix_time = False
        while True:
            word = self._peek_reserved()
            if word == "!":
                negated = not negated
            elif word == "time":
                timed = True
            else:
                break
            self.position += len(word)
            if timed and word == "time" and self.peek() == "word" and self._word_text() == "-p":
                self.position += 2
                posix_time = True
        if (negated or timed) and self.peek() in ("\n", ";", "&", ""):
            return Pipeline([], negated, timed, posix_time)
        commands = [self._command()]
        joins: list[bool] = []
        while (token := self.peek()) in ("|", "|&"):
            self._take(token)
            joins.append(token == "|&")
            self._skip_newlines()
            if self._peek_reserved() in ("!", "time"):
                commands.append(self._pipeline())
            else:
                commands.append(self._command())
        if len(commands) == 1 and not negated and not timed:
            return commands[0]
        return Pipeline(commands, negated, timed, posix_time, joins)

    # -- commands ------------------------------------------------------------------------------

    def _command(self) -> Command:
        token = self.peek()
        line = self.line_at(self.position)
        if token == "(":
            return self._with_redirects(self._parenthesis(line))
        if token == "word":
            if self.aliases and self._expand_alias():
                return self._command()
            word = self._peek_reserved()
            if word:
                return self._read_reserved_command(word, line)
            return self._simple(line)
        if token in REDIRECTS:
            return self._simple(line)
        raise self.syntax_error()

    # -- simple commands -----------------------------------------------------------------------

    def _simple(self, line: int) -> Command:
        assignments: list[Assignment] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        declares = False
        while True:
            if 0 < len(words) + len(redirects) <= 2 and not assignments:
                # Bash numbers a command when it has seen the token after its first word.
                line = self.line_at(self.position)
            redirect = self._redirect()
            if redirect is not None:
                redirects.append(redirect)
                continue
            token = self.peek()
            if token == "(" and words:
                if len(words) == 1 and not assignments and not redirects:
                    return self._short_function(line, words[0])
                raise self.syntax_error()
            if token != "word":
                break
            if (not words or declares) and (assignment := self._assignment()) is not None:
                if not words:
                    assignments.append(assignment)
                    continue
                word = Word([], assignment.text, assignment=assignment)
            else:
                if words and self.aliases and self._alias_goes_on == self._blanks_before():
                    self._expand_alias()
                word = self.read_word()
                if not words:
                    declares = word.literal in DECLARATIONS
            words.append(word)
        if not (assignments or words or redirects):
            raise self.syntax_error()
        command = Simple(line, assignments, words, redirects)
        if words and all(word.literal is not None and word.assignment is None for word in words):
            command.argv = [word.literal or "" for word in words]
        return command

    def _short_function(self, line: int, name: Word) -> FunctionDefinition:
        self.position += 1
        if self.peek() != ")":
            raise self._within_line()
        self.position += 1
        return self._function_body(line, name.text)

    # -- compound commands ----------------------------------------------------------------------

    def _compound_list(self) -> Sequence:
        """At least one command, over as many lines as it takes."""
        self._skip_newlines()
        return self._sequence_items(stop_at_newline=False)

    def _read_reserved_command(self, word: str, line: int) -> Command:
        reader = _READERS.get(word)
        if reader is None:
            raise self.syntax_error()
        self.position += len(word)
        self.enter()
        command = reader(self, line)
        self.depth -= 1
        return self._with_redirects(command)

    def _with_redirects(self, command: Compound) -> Command:
        while (redirect := self._redirect()) is not None:
            command.redirects.append(redirect)
        return command

    def _parenthesis(self, line: int) -> Compound:
        start = self.position
        if self.source.startswith("((", start):
            expression = self.arithmetic_text(start + 2)
            if expression is not None:
                return ArithmeticCommand(line, expression)
        self.position = start + 1
        self.enter()
        body = self._compound_list()
        self.depth -= 1
        if self.peek() != ")":
            raise self.syntax_error()
        self.position += 1
        return Subshell(line, body)

    def _group(self, line: int) -> Group:
        body = self._compound_list()
        self._expect_reserved("}")
        return Group(line, body)

    def _if(self, line: int) -> If:
        branches: list[tuple[Sequence, Sequence]] = []
        otherwise: Sequence | None = None
        while True:
            condition = self._compound_list()
            self._expect_reserved("then")
            branches.append((condition, self._compound_list()))
            word = self._peek_reserved()
            if word not in ("elif", "else", "fi"):
                raise self.syntax_error()
            self.position += len(word)
            if word == "elif":
                continue
            if word == "else":
                otherwise = self._compound_list()
                self._expect_reserved("fi")
            return If(line, branches, otherwise)

    def _while(self, line: int, until: bool = False) -> While:
        condition = self._compound_list()
        return While(line, condition, self._do_body(), until)

    def _until(self, line: int) -> While:
        return self._while(line, until=True)

    def _do_body(self) -> Sequence:
        if self._peek_reserved() == "{":
            self.position += 1
            body = self._compound_list()
            self._expect_reserved("}")
            return body
        self._expect_reserved("do")
        body = self._compound_list()
        self._expect_reserved("done")
        return body

    def _for(self, line: int) -> Compound:
        if self.peek() == "(" and self.source.startswith("((", self.position):
            return self._arithmetic_for(line)
        if self.peek() != "word":
            raise self._within_line()
        name = self.read_word().text
        words: list[Word] | None = None
        self._skip_newlines()
        if self._peek_reserved() == "in":
            self.position += 2
            words = []
            while self.peek() == "word":
                words.append(self.read_word())
            if self.peek() not in (";", "\n"):
                raise self.syntax_error()
            self._take(self.peek())
            self._skip_newlines()
        elif self.peek() == ";":
            self._take(";")
            self._skip_newlines()
        return For(line, name, words, self._do_body())

    def _arithmetic_for(self, line: int) -> ArithmeticFor:
        start = self.position
        if self.arithmetic_text(start + 2) is None:
            raise self._error_near("(", start)
        text = self.source[start + 2 : self.position - 2]
        pieces = text.split(";")
        if len(pieces) != 3:
            wanted = "arithmetic expression required" if len(pieces) < 3 else "`;' unexpected"
            raise ShellSyntaxError(f"syntax error: {wanted}", line, f"\0syntax error: `(({text}))'")
        start_at, test, step = (self.expression_word(piece) for piece in pieces)
        if self.peek() == ";":
            self._take(";")
        self._skip_newlines()
        return ArithmeticFor(line, start_at, test, step, self._do_body())

    def _case(self, line: int) -> Case:
        if self.peek() != "word":
            raise self._within_line()
        subject = self.read_word()
        self._skip_newlines()
        self._expect_reserved("in")
        clauses: list[CaseClause] = []
        self._skip_newlines()
        while self._peek_reserved() != "esac":
            clauses.append(self._case_clause())
            self._skip_newlines()
        self.position += 4
        return Case(line, subject, clauses)

    def _case_clause(self) -> CaseClause:
        self._accept("(")
        patterns = []
        while True:
            if self.peek() != "word":
                raise self.syntax_error()
            patterns.append(self.read_word())
            if not self._accept("|"):
                break
        if self.peek() != ")":
            raise self._within_line()
        self.position += 1
        self._skip_newlines()
        if self.peek() in (";;", ";&", ";;&") or self._peek_reserved() == "esac":
            body = Sequence([])
        else:
            body = self._compound_list()
        token = self.peek()
        if token in (";;", ";&", ";;&"):
            self._take(token)
            return CaseClause(patterns, body, token)
        if self._peek_reserved() != "esac":
            raise self.syntax_error()
        return CaseClause(patterns, body, ";;")

    def _function(self, line: int) -> FunctionDefinition:
        if self.peek() != "word":
            raise self._within_line()
        name = self.read_word().text
        head = _FUNCTION_HEAD.match(self.source, self.position)
        if head:
            self.position = head.end()
        return self._function_body(line, name)

    def _function_body(self, line: int, name: str) -> FunctionDefinition:
        self._skip_newlines()
        token = self.peek()
        word = self._peek_reserved() if token == "word" else ""
        if token != "(" and (word not in _READERS or word == "function"):
            raise self.syntax_error()
        return FunctionDefinition(line, name, self._command())

    def _conditional(self, line: int) -> Conditional:
        return Conditional(line, ConditionParser(self).parse())

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
            parts = self.read_unquoted(" \t\n;&|()<>", self.extglob)
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
                error = self.missing_closer(")", self.line_at(opened_at))
                error.status = 1
                raise error
            if token != "word":
                error = self.syntax_error()
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
        """Return the start of the blanks before the position, or the end of an alias's text."""
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

    def _peek_reserved(self) -> str:
        """The reserved word at the position, if there is one."""
        self.peek()
        match = _RESERVED_HERE.match(self.source, self.position)
        return match[0] if match and match[0] in RESERVED else ""

    def _expect_reserved(self, word: str) -> None:
        if self._peek_reserved() != word:
            raise self.syntax_error()
        self.position += len(word)

    def syntax_error(self) -> ShellSyntaxError:
        """The error for the token at the position."""
        token = self.peek()
        position = self.position
        if token == "" and not self._open:
            # A command that lacks its last word is ended by the newline bash adds to the text.
            return self._error_near("newline", position)
        if token == "":
            return ShellSyntaxError("syntax error: unexpected end of file", self.last_line())
        if token == "\n":
            return self._error_near("newline", position)
        if token == "word":
            number = _NUMBER_REDIRECT.match(self.source, position)
            token = number[0] if number else self._word_text()
        return self._error_near(token, position)

    def _within_line(self) -> ShellSyntaxError:
        """The error for a token that had to stand on the same line."""
        self._open = False
        try:
            return self.syntax_error()
        finally:
            self._open = True

    def _error_near(self, token: str, position: int) -> ShellSyntaxError:
        return ShellSyntaxError(
            f"syntax error near unexpected token `{token}'", self.line_at(position), self.line_text(position)
        )

    def _word_text(self) -> str:
        start = self.position
        text = self.read_word().text
        self.position = start
        return text or self.source[start : start + 1]


_READERS: Final[dict[str, Callable[[Parser, int], Compound]]] = {
    "{": Parser._group,
    "if": Parser._if,
    "while": Parser._while,
    "until": Parser._until,
    "for": Parser._for,
    "case": Parser._case,
    "function": Parser._function,
    "[[": Parser._conditional,
}


def _unquote(text: str) -> str:
    """A here-document's delimiter without its quotes."""
    if not re.search(r"[\\'\"]", text):
        return text
    pieces = re.findall(r"\\(.)|'([^']*)'|\"([^\"]*)\"|([^\\'\"]+)", text, re.DOTALL)
    return "".join("".join(piece) for piece in pieces)
