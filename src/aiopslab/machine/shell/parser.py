"""From source text to commands, one complete command line at a time.

Bash reads, runs, and only then reads on: a mistake on line 5 does not keep lines 1 to 4 from
running, and an option set on one line changes how the next one is read. So the parser hands out one
unit at a time. It is a recursive descent over the source characters, written to fail where bash's own
grammar fails, with the token bash would name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from aiopslab.machine.shell.pieces import REDIRECTS, PieceReader
from aiopslab.machine.shell.syntax import (
    AndOr,
    ArithmeticCommand,
    ArithmeticFor,
    Assignment,
    Case,
    CaseClause,
    Command,
    Compound,
    Conditional,
    Coprocess,
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
from aiopslab.machine.shell.wordparts import NAME, ShellSyntaxError

CLOSERS: Final = frozenset(("then", "elif", "else", "fi", "do", "done", "esac", "}"))
DECLARATIONS: Final = frozenset(("declare", "typeset", "local", "export", "readonly", "alias"))
_FUNCTION_HEAD = re.compile(r"[ \t]*\([ \t]*\)")


class Parser(PieceReader):
    """Reads commands from one source text. ``next_unit`` gives the next complete command line."""

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
            raise self.unexpected()
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
            if self.peek() in ("", ")", ";;", ";&", ";;&") or (self._reserved() in CLOSERS):
                break
        return Sequence(items, self.source[start : self.position].rstrip(" \t\n;"))

    def _compound_list(self) -> Sequence:
        """At least one command, over as many lines as it takes."""
        self._skip_newlines()
        return self._sequence_items(stop_at_newline=False)

    def substitution_body(self) -> Sequence:
        """The commands up to the closing parenthesis."""
        self.enter()
        outer, self._pending = self._pending, []
        try:
            self._skip_newlines()
            empty = self.peek() == ")"
            sequence = Sequence([]) if empty else self._sequence_items(stop_at_newline=False)
            if self.peek() == "":
                raise self.unmatched(")", self.last_line())
            if self.peek() != ")":
                raise self.unexpected()
        except ShellSyntaxError as error:
            if error.message.endswith("unexpected end of file"):
                raise self.unmatched(")", self.last_line()) from None
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
            word = self._reserved()
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
            if self._reserved() in ("!", "time"):
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
            word = self._reserved()
            if word:
                return self._reserved_command(word, line)
            return self._simple(line)
        if token in REDIRECTS:
            return self._simple(line)
        raise self.unexpected()

    def _reserved_command(self, word: str, line: int) -> Command:
        reader = _READERS.get(word)
        if reader is None:
            raise self.unexpected()
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
            raise self.unexpected()
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
            word = self._reserved()
            if word not in ("elif", "else", "fi"):
                raise self.unexpected()
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
        if self._reserved() == "{":
            self.position += 1
            body = self._compound_list()
            self._expect_reserved("}")
            return body
        self._expect_reserved("do")
        body = self._compound_list()
        self._expect_reserved("done")
        return body

    def _for(self, line: int, select: bool = False) -> Compound:
        if not select and self.peek() == "(" and self.source.startswith("((", self.position):
            return self._arithmetic_for(line)
        if self.peek() != "word":
            raise self._within_line()
        name = self.read_word().text
        words: list[Word] | None = None
        self._skip_newlines()
        if self._reserved() == "in":
            self.position += 2
            words = []
            while self.peek() == "word":
                words.append(self.read_word())
            if self.peek() not in (";", "\n"):
                raise self.unexpected()
            self._take(self.peek())
            self._skip_newlines()
        elif self.peek() == ";":
            self._take(";")
            self._skip_newlines()
        return For(line, name, words, self._do_body(), select)

    def _select(self, line: int) -> Compound:
        return self._for(line, select=True)

    def _arithmetic_for(self, line: int) -> ArithmeticFor:
        start = self.position
        if self.arithmetic_text(start + 2) is None:
            raise self._near("(", start)
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
        while self._reserved() != "esac":
            clauses.append(self._case_clause())
            self._skip_newlines()
        self.position += 4
        return Case(line, subject, clauses)

    def _case_clause(self) -> CaseClause:
        self._accept("(")
        patterns = []
        while True:
            if self.peek() != "word":
                raise self.unexpected()
            patterns.append(self.read_word())
            if not self._accept("|"):
                break
        if self.peek() != ")":
            raise self._within_line()
        self.position += 1
        self._skip_newlines()
        if self.peek() in (";;", ";&", ";;&") or self._reserved() == "esac":
            body = Sequence([])
        else:
            body = self._compound_list()
        token = self.peek()
        if token in (";;", ";&", ";;&"):
            self._take(token)
            return CaseClause(patterns, body, token)
        if self._reserved() != "esac":
            raise self.unexpected()
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
        word = self._reserved() if token == "word" else ""
        if token != "(" and (word not in _READERS or word in ("function", "coproc")):
            raise self.unexpected()
        return FunctionDefinition(line, name, self._command())

    def _coproc(self, line: int) -> Coprocess:
        if self.peek() not in ("word", "(") and self.peek() not in REDIRECTS:
            raise self._within_line()
        name = "COPROC"
        start = self.position
        match = NAME.match(self.source, start)
        if self._reserved() == "" and match:
            self.position = match.end()
            if self.peek() == "(" or self._reserved() in _READERS:
                name = match[0]
            else:
                self.position = start
        return Coprocess(line, name, self._command())

    def _conditional(self, line: int) -> Conditional:
        return Conditional(line, self.test_expression())

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
                raise self.unexpected()
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
            raise self.unexpected()
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


_READERS: Final[dict[str, Callable[[Parser, int], Compound]]] = {
    "{": Parser._group,
    "if": Parser._if,
    "while": Parser._while,
    "until": Parser._until,
    "for": Parser._for,
    "select": Parser._select,
    "case": Parser._case,
    "function": Parser._function,
    "coproc": Parser._coproc,
    "[[": Parser._conditional,
}
