"""Commands that begin with a reserved word or a parenthesis: loops, choices, groups, functions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from simcloud.userland.bash.pieces import PieceReader
from simcloud.userland.bash.syntax import (
    ArithmeticCommand,
    ArithmeticFor,
    Case,
    CaseClause,
    Command,
    Compound,
    Conditional,
    For,
    FunctionDefinition,
    Group,
    If,
    Sequence,
    Subshell,
    While,
    Word,
)
from simcloud.userland.bash.word_parts import ShellSyntaxError

_FUNCTION_HEAD = re.compile(r"[ \t]*\([ \t]*\)")


class CompoundReader(PieceReader):
    """The part of the parser that reads compound commands."""

    def _command(self) -> Command:
        """The command at the position; the parser reads it."""
        raise NotImplementedError

    def _sequence_items(self, stop_at_newline: bool) -> Sequence:
        """One command or more, as a list; the parser reads them."""
        raise NotImplementedError

    def _compound_list(self) -> Sequence:
        """At least one command, over as many lines as it takes."""
        self._skip_newlines()
        return self._sequence_items(stop_at_newline=False)

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

    def _for(self, line: int) -> Compound:
        if self.peek() == "(" and self.source.startswith("((", self.position):
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
        return For(line, name, words, self._do_body())

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
        if token != "(" and (word not in _READERS or word == "function"):
            raise self.unexpected()
        return FunctionDefinition(line, name, self._command())

    def _conditional(self, line: int) -> Conditional:
        return Conditional(line, self.test_expression())


_READERS: Final[dict[str, Callable[[CompoundReader, int], Compound]]] = {
    "{": CompoundReader._group,
    "if": CompoundReader._if,
    "while": CompoundReader._while,
    "until": CompoundReader._until,
    "for": CompoundReader._for,
    "case": CompoundReader._case,
    "function": CompoundReader._function,
    "[[": CompoundReader._conditional,
}
