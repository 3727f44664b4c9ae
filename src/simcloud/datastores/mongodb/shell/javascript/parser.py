"""Reading statements, and whole scripts."""

from __future__ import annotations

import sys

from simcloud.datastores.mongodb.shell.javascript import syntax as js
from simcloud.datastores.mongodb.shell.javascript.functions import FunctionParser
from simcloud.datastores.mongodb.shell.javascript.targets import as_pattern, names_in
from simcloud.datastores.mongodb.shell.javascript.tokens import Lexer, SyntaxFailure
from simcloud.datastores.mongodb.shell.javascript.words import Words
from simcloud.userland.awk.flat import PYTHON_FRAMES


def parse(source: js.Source, words: Words) -> js.Script:
    """Read a script; raises ``SyntaxFailure``."""
    parser = _Parser(source, Lexer(source.text, words).tokens(), words)
    usual_limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(usual_limit, PYTHON_FRAMES))
    try:
        body = parser.statements_until("")
    finally:
        sys.setrecursionlimit(usual_limit)
    return js.Script(body, parser.declared, source)


class _Parser(FunctionParser):
    def statements_until(self, closing: str) -> list[js.Node]:
        found: list[js.Node] = []
        lexical: dict[str, str] = {}
        while True:
            if self.token.kind == "end":
                if closing:
                    self.expect(closing, "in compound statement")
                return found
            if closing and self.at_sign(closing):
                return found
            statement = self.statement()
            self._check_declared_once(statement, lexical)
            found.append(statement)

    def _check_declared_once(self, statement: js.Node, lexical: dict[str, str]) -> None:
        if isinstance(statement, js.Declare) and statement.kind != "var":
            for target, _ in statement.bindings:
                for name in names_in(target):
                    if name in lexical:
                        raise SyntaxFailure(self.words.redeclared(lexical[name], name), target.at)
                    lexical[name] = statement.kind

    def statement(self) -> js.Node:
        return self.nested(self._statement)

    def _statement(self) -> js.Node:
        token = self.token
        if token.kind == "sign":
            if token.text == "{":
                return self._block()
            if token.text == ";":
                self.advance()
                return js.Empty(token.at)
        if token.kind == "keyword":
            read = getattr(self, f"_read_{token.text}", None)
            if read is not None:
                statement: js.Node = read()
                return statement
        if token.kind == "name":
            if self._at_let():
                return self._declaration("let")
            if token.text == "async" and self.peek().text == "function" and not self.peek().newline_before:
                self.advance()
                return self._read_function()
        value = self.expression()
        self.end_statement()
        return js.Expression(token.at, value)

    def _at_let(self) -> bool:
        after = self.peek()
        return self.token.text == "let" and (after.kind == "name" or after.text in ("[", "{"))

    def _block(self) -> js.Block:
        at = self.expect("{").at
        body = self.statements_until("}")
        self.expect("}", "in compound statement")
        return js.Block(at, body)

    # -- declarations --------------------------------------------------------------------------

    def _read_var(self) -> js.Node:
        return self._declaration("var")

    def _read_const(self) -> js.Node:
        return self._declaration("const")

    def _declaration(self, kind: str) -> js.Node:
        declared = self._bindings(kind)
        self.end_statement()
        return declared

    def _bindings(self, kind: str) -> js.Declare:
        at = self.advance().at
        bindings: list[tuple[js.Node, js.Node | None]] = []
        while True:
            target = self.binding_target()
            if kind == "var":
                self.declared.extend(names_in(target))
            value = self.assignment() if self.accept("=") else None
            bindings.append((target, value))
            if not self.accept(","):
                return js.Declare(at, kind, bindings)

    def _read_function(self) -> js.Node:
        at = self.token.at
        function = self.function()
        if not function.name:
            raise SyntaxFailure(self.words.missing("name", "", "(", "sign"), function.at)
        return js.DeclareFunction(at, function)

    # -- choices and loops ---------------------------------------------------------------------

    def _condition(self) -> js.Node:
        self.expect("(", "before condition")
        test = self.expression()
        self.expect(")", "after condition")
        return test

    def _read_if(self) -> js.Node:
        at = self.advance().at
        test = self._condition()
        then = self.statement()
        otherwise = self.statement() if self.accept("else") else None
        return js.If(at, test, then, otherwise)

    def _read_while(self) -> js.Node:
        at = self.advance().at
        return js.While(at, self._condition(), self.statement())

    def _read_do(self) -> js.Node:
        at = self.advance().at
        body = self.statement()
        self.expect("while", "after do-loop body")
        test = self._condition()
        self.accept(";")
        return js.DoWhile(at, body, test)

    def _read_for(self) -> js.Node:
        at = self.advance().at
        self.accept("await")
        self.expect("(", "after for")
        first = self._for_head()
        if self.at_word("of") or self.at_word("in"):
            return self._for_each(at, first)
        self.expect(";", "after for-loop initializer")
        test = None if self.at_sign(";") else self.expression()
        self.expect(";", "after for-loop condition")
        step = None if self.at_sign(")") else self.expression()
        self.expect(")", "after for-loop control")
        return js.For(at, first, test, step, self.statement())

    def _for_head(self) -> js.Node | None:
        if self.at_sign(";"):
            return None
        self.no_in = True
        try:
            if self.at_word("var") or self.at_word("const") or self._at_let():
                return self._bindings(self.token.text)
            return js.Expression(self.token.at, self.expression())
        finally:
            self.no_in = False

    def _for_each(self, at: int, first: js.Node | None) -> js.Node:
        over = self.advance().text
        if isinstance(first, js.Declare) and len(first.bindings) == 1:
            kind, target = first.kind, first.bindings[0][0]
        elif isinstance(first, js.Expression):
            kind, target = "", as_pattern(first.value, self.words)
        else:
            self.unexpected()
        items = self.expression()
        self.expect(")", "after for-loop control")
        return js.ForEach(at, kind, target, over, items, self.statement())

    def _read_switch(self) -> js.Node:
        at = self.advance().at
        value = self._condition()
        self.expect("{", "before switch body")
        cases: list[tuple[js.Node | None, list[js.Node]]] = []
        while not self.accept("}"):
            if self.accept("default"):
                test = None
            else:
                self.expect("case")
                test = self.expression()
            self.expect(":", "after case label")
            body: list[js.Node] = []
            while not (self.at_word("case") or self.at_word("default") or self.at_sign("}")):
                if self.token.kind == "end":
                    self.unexpected()
                body.append(self.statement())
            cases.append((test, body))
        return js.Switch(at, value, cases)

    # -- leaving -------------------------------------------------------------------------------

    def _ends_here(self) -> bool:
        token = self.token
        return token.kind == "end" or token.newline_before or token.text in (";", "}")

    def _read_return(self) -> js.Node:
        at = self.advance().at
        value = None if self._ends_here() else self.expression()
        self.end_statement()
        return js.Return(at, value)

    def _read_break(self) -> js.Node:
        token = self.advance()
        self.end_statement()
        return js.Jump(token.at, token.text)

    _read_continue = _read_break

    def _read_throw(self) -> js.Node:
        at = self.advance().at
        value = self.expression()
        self.end_statement()
        return js.Throw(at, value)

    def _read_try(self) -> js.Node:
        at = self.advance().at
        block = self._block()
        param = handler = finalizer = None
        if self.accept("catch"):
            if self.accept("("):
                param = self.binding_target()
                self.expect(")", "after catch")
            handler = self._block()
        if self.accept("finally"):
            finalizer = self._block()
        if handler is None and finalizer is None:
            self.expect("catch", "or finally after try")
        return js.Try(at, block, param, handler, finalizer)
