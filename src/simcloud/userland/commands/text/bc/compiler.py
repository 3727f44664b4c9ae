"""From the text of a ``bc`` program to instructions for its stack machine.

A line is compiled and then run as a whole; a definition only becomes known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

from simcloud.userland.commands.text.bc.code import Code, Function, Instruction, emit_expression
from simcloud.userland.commands.text.bc.expressions import ExpressionParser
from simcloud.userland.commands.text.bc.lexer import BcSyntaxError, Lexer, Token

_MAX_DEPTH = 60


@dataclass
class _Loop:
    breaks: list[Instruction] = field(default_factory=list)
    continues: list[Instruction] = field(default_factory=list)
    is_for: bool = False


class QuitProgram(Exception):
    """``quit`` was read: the program ends there, whether or not it would have been reached."""


class Compiler:
    """Compiles one top-level line after the other."""

    def __init__(self, lexer: Lexer, define: Callable[[str, Function], None]) -> None:
        self._lexer = lexer
        self._define = define
        self._code = Code()
        self._loops: list[_Loop] = []
        self._depth = 0
        self._keyword_line = 1

    def next_line(self) -> Code | None:
        """The code of the next line, None at the end. Raises ``BcSyntaxError`` and is then past that line."""
        self._code, self._loops, self._depth = Code(), [], 0
        if self._lexer.peek().kind == "end":
            return None
        if self._lexer.peek().text == "define":
            self._definition()
            return self._code
        self._statements(("\n",))
        self._expect("\n")
        return self._code

    # -- tokens --------------------------------------------------------------------------------

    def _accept(self, *texts: str) -> str:
        token = self._lexer.peek()
        if token.kind in ("symbol", "word") and token.text in texts:
            self._lexer.take()
            return token.text
        return ""

    def _expect(self, text: str) -> None:
        if not self._accept(text):
            self._fail()

    def _fail(self, message: str = "syntax error") -> NoReturn:
        raise BcSyntaxError(message, self._lexer.line_at_peek())

    def _name(self) -> str:
        token = self._lexer.peek()
        if token.kind != "name":
            self._fail()
        return self._lexer.take().text

    def _skip_newlines(self) -> None:
        while self._accept("\n"):
            pass

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            self._fail("program too deeply nested")

    # -- statements ----------------------------------------------------------------------------

    def _statements(self, ends: tuple[str, ...]) -> None:
        """Statements up to one of these tokens, which stays."""
        while True:
            while self._accept(";") or ("\n" not in ends and self._accept("\n")):
                pass
            if self._lexer.peek().text in ends and self._lexer.peek().kind == "symbol":
                return
            self._statement()
            token = self._lexer.peek()
            separators = (";", *ends) if "\n" in ends else (";", "\n", *ends)
            if token.kind != "symbol" or token.text not in separators:
                self._fail()

    def _statement(self) -> None:
        self._enter()
        token = self._lexer.peek()
        if token.kind == "string":
            self._lexer.take()
            self._code.add("text", len(token.text) + 2, token.text)
        elif token.kind == "word" and token.text not in (
            "length",
            "sqrt",
            "scale",
            "ibase",
            "obase",
            "last",
            "read",
        ):
            self._keyword(token)
        elif self._accept("{"):
            self._statements(("}",))
            self._expect("}")
        else:
            prints = self._expression()
            self._code.add("show" if prints else "drop", 1)
        self._depth -= 1

    def _keyword(self, token: Token) -> None:
        handlers: dict[str, Callable[[], None]] = {
            "if": self._if,
            "while": self._while,
            "for": self._for,
            "break": self._break,
            "continue": self._continue,
            "return": self._return,
            "print": self._print,
            "quit": self._quit,
            "halt": self._halt,
        }
        handler = handlers.get(token.text)
        if handler is None:
            self._fail()
        self._keyword_line = self._lexer.line
        self._lexer.take()
        handler()

    def _quit(self) -> None:
        raise QuitProgram

    def _halt(self) -> None:
        self._code.add("halt", 1)

    def _condition(self) -> None:
        self._expect("(")
        self._expression()
        self._expect(")")

    def _if(self) -> None:
        self._condition()
        skip = self._code.add("jump if zero", 3)
        self._skip_newlines()
        self._statement()
        if self._lexer.peek().text == "else":
            self._lexer.take()
            end = self._code.add("jump", 3)
            skip.argument = len(self._code.instructions)
            self._skip_newlines()
            self._statement()
            end.argument = len(self._code.instructions)
        else:
            skip.argument = len(self._code.instructions)

    def _while(self) -> None:
        start = len(self._code.instructions)
        self._condition()
        leave = self._code.add("jump if zero", 3)
        loop = _Loop(breaks=[leave])
        self._body(loop)
        self._code.add("jump", 3, start)
        self._close(loop, start)

    def _for(self) -> None:
        self._expect("(")
        if self._lexer.peek().text != ";":
            self._expression()
            self._code.add("drop", 1)
        self._expect(";")
        test = len(self._code.instructions)
        if self._lexer.peek().text != ";":
            self._expression()
        else:
            self._code.add("constant", 1, "1")
        self._expect(";")
        enter = self._code.add("jump if not zero", 3)
        leave = self._code.add("jump", 3)
        step = len(self._code.instructions)
        if self._lexer.peek().text != ")":
            self._expression()
            self._code.add("drop", 1)
        self._expect(")")
        self._code.add("jump", 3, test)
        enter.argument = len(self._code.instructions)
        loop = _Loop(breaks=[leave], is_for=True)
        self._body(loop)
        self._code.add("jump", 3, step)
        self._close(loop, step)

    def _body(self, loop: _Loop) -> None:
        self._loops.append(loop)
        self._skip_newlines()
        self._statement()
        self._loops.pop()

    def _close(self, loop: _Loop, again: int) -> None:
        for instruction in loop.breaks:
            instruction.argument = len(self._code.instructions)
        for instruction in loop.continues:
            instruction.argument = again

    def _break(self) -> None:
        if not self._loops:
            raise BcSyntaxError("Break outside a for/while", self._keyword_line)
        self._loops[-1].breaks.append(self._code.add("jump", 3))

    def _continue(self) -> None:
        loop = next((loop for loop in reversed(self._loops) if loop.is_for), None)
        if loop is None:
            raise BcSyntaxError("Continue outside a for", self._keyword_line)
        loop.continues.append(self._code.add("jump", 3))

    def _return(self) -> None:
        if self._code.name == "(main)":
            self._lexer.skip_line()
            raise BcSyntaxError("Return outside of a function.", self._lexer.line, skipped=True)
        if self._lexer.peek().text in (";", "\n", "}"):
            self._code.add("constant", 1, "0")
        else:
            self._expression()
        self._code.add("return", 1)

    def _print(self) -> None:
        while True:
            token = self._lexer.peek()
            if token.kind == "string":
                self._lexer.take()
                self._code.add("escaped text", len(token.text) + 2, token.text)
            else:
                self._expression()
                self._code.add("show inline", 1)
            if not self._accept(","):
                return

    def _definition(self) -> None:
        self._lexer.take()
        is_void = bool(self._lexer.peek().text == "void" and self._lexer.take())
        name = self._name()
        self._expect("(")
        parameters = self._variables(")")
        self._expect(")")
        self._skip_newlines()
        self._expect("{")
        self._skip_newlines()
        self._code = Code(name)
        variables: list[str] = []
        while self._lexer.peek().text == "auto":
            self._lexer.take()
            variables += self._variables(";")
            if not self._accept(";", "\n"):
                self._fail()
            self._skip_newlines()
        self._statements(("}",))
        self._expect("}")
        self._code.add("constant", 1, "0")
        self._code.add("return", 1)
        self._define(name, Function(parameters, variables, self._code, is_void))
        self._code = Code()
        self._accept("\n")

    def _variables(self, end: str) -> list[str]:
        found: list[str] = []
        while self._lexer.peek().text != end:
            name = self._name()
            if self._accept("["):
                self._expect("]")
                name += "[]"
            found.append(name)
            if not self._accept(","):
                break
        return found

    # -- expressions ---------------------------------------------------------------------------

    def _expression(self) -> bool:
        """Compile an expression; whether a statement of just this would show its value."""
        node = ExpressionParser(self._lexer).parse()
        if node.kind == "array":
            self._fail()
        emit_expression(self._code, node)
        return node.prints
