"""From source text to commands, one complete command line at a time.

Bash reads, runs, and only then reads on: a mistake on line 5 does not keep lines 1 to 4 from
running, and an option set on one line changes how the next one is read. So the parser hands out one
unit at a time. It is a recursive descent over the source characters, written to fail where bash's own
grammar fails, with the token bash would name.
"""

from __future__ import annotations

from typing import Final

from simcloud.userland.bash.compound_parser import CompoundReader
from simcloud.userland.bash.pieces import REDIRECTS
from simcloud.userland.bash.syntax import (
    AndOr,
    Assignment,
    Command,
    FunctionDefinition,
    Pipeline,
    Redirect,
    Sequence,
    Simple,
    Word,
)
from simcloud.userland.bash.word_parts import ShellSyntaxError

CLOSERS: Final = frozenset(("then", "elif", "else", "fi", "do", "done", "esac", "}"))
DECLARATIONS: Final = frozenset(("declare", "typeset", "local", "export", "readonly", "alias"))


class Parser(CompoundReader):
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
