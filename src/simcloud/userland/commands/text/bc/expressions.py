"""Expressions of ``bc``. Assignment binds tighter than comparison, and a minus sign tighter than a power."""

from __future__ import annotations

from dataclasses import dataclass, field

from simcloud.userland.commands.text.bc.lexer import BcSyntaxError, Lexer

_RELATIONS = ("==", "!=", "<", "<=", ">", ">=")
_ASSIGNMENTS = ("=", "+=", "-=", "*=", "/=", "%=", "^=")
_SPECIAL_VARIABLES = ("ibase", "obase", "scale", "last")
_PLACES = ("variable", "element")
_MAX_DEPTH = 60


@dataclass
class Node:
    """A part of an expression: its kind, a name or operator, and the parts it is made of."""

    kind: str
    name: str = ""
    parts: list[Node] = field(default_factory=list)

    @property
    def prints(self) -> bool:
        """Whether a statement of just this shows its value."""
        return self.kind != "assign"


class ExpressionParser:
    """Reads one expression from a lexer."""

    def __init__(self, lexer: Lexer) -> None:
        self._lexer = lexer
        self._depth = 0

    def parse(self) -> Node:
        """A whole expression."""
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise BcSyntaxError("program too deeply nested", self._lexer.line_at_peek())
        node = self._or()
        self._depth -= 1
        return node

    def _accept(self, *texts: str) -> str:
        token = self._lexer.peek()
        if token.kind == "symbol" and token.text in texts:
            return self._lexer.take().text
        return ""

    def _expect(self, text: str) -> None:
        if not self._accept(text):
            raise BcSyntaxError("syntax error", self._lexer.line_at_peek())

    def _or(self) -> Node:
        node = self._and()
        while self._accept("||"):
            node = Node("or", "", [node, self._and()])
        return node

    def _and(self) -> Node:
        node = self._not()
        while self._accept("&&"):
            node = Node("and", "", [node, self._not()])
        return node

    def _not(self) -> Node:
        count = 0
        while self._accept("!"):
            count += 1
        node = self._relation()
        for _ in range(count):
            node = Node("not", "", [node])
        return node

    def _relation(self) -> Node:
        node = self._assignment()
        while operator := self._accept(*_RELATIONS):
            node = Node("compare", operator, [node, self._assignment()])
        return node

    def _assignment(self) -> Node:
        node = self._sum()
        if node.kind in _PLACES and (operator := self._accept(*_ASSIGNMENTS)):
            self._depth += 1
            if self._depth > _MAX_DEPTH:
                raise BcSyntaxError("program too deeply nested", self._lexer.line_at_peek())
            node = Node("assign", operator, [node, self._assignment()])
            self._depth -= 1
        return node

    def _sum(self) -> Node:
        node = self._product()
        while operator := self._accept("+", "-"):
            node = Node("calculate", operator, [node, self._product()])
        return node

    def _product(self) -> Node:
        node = self._power()
        while operator := self._accept("*", "/", "%"):
            node = Node("calculate", operator, [node, self._power()])
        return node

    def _power(self) -> Node:
        operands = [self._sign()]
        while self._accept("^"):
            operands.append(self._sign())
        node = operands.pop()
        while operands:
            node = Node("calculate", "^", [operands.pop(), node])
        return node

    def _sign(self) -> Node:
        count = 0
        while self._accept("-"):
            count += 1
        node = self._stepped()
        for _ in range(count):
            node = Node("negate", "", [node])
        return node

    def _stepped(self) -> Node:
        """A place that is increased or decreased before or after, or anything else."""
        if step := self._accept("++", "--"):
            if self._lexer.peek().kind == "number":
                raise BcSyntaxError("syntax error", self._lexer.line_at_peek())
            node = self._primary()
            if node.kind not in _PLACES:
                raise BcSyntaxError("syntax error", self._lexer.line_at_peek())
            return Node("step before", step, [node])
        node = self._primary()
        if node.kind in _PLACES and (step := self._accept("++", "--")):
            return Node("step after", step, [node])
        return node

    def _primary(self) -> Node:
        token = self._lexer.peek()
        if token.kind == "number":
            self._lexer.take()
            whole, point, fraction = token.text.partition(".")
            text = whole.lstrip("0") + (point + fraction if fraction else "")
            return Node("number", text or "0")
        if self._accept("("):
            node = Node("group", "", [self.parse()])
            self._expect(")")
            return node
        if self._accept("."):
            return Node("variable", "last")
        if token.kind == "name":
            return self._named(self._lexer.take().text)
        if token.kind == "word" and token.text in ("length", "sqrt", "read", *_SPECIAL_VARIABLES):
            self._lexer.take()
            return self._reserved(token.text)
        raise BcSyntaxError("syntax error", self._lexer.line_at_peek())

    def _reserved(self, word: str) -> Node:
        if word in _SPECIAL_VARIABLES and not (word == "scale" and self._lexer.peek().text == "("):
            return Node("variable", word)
        self._expect("(")
        parts = [] if word == "read" else [self.parse()]
        self._expect(")")
        return Node("builtin", word, parts)

    def _named(self, name: str) -> Node:
        if self._accept("["):
            if self._accept("]"):
                return Node("array", name)
            node = Node("element", name, [self.parse()])
            self._expect("]")
            return node
        if not self._accept("("):
            return Node("variable", name)
        arguments: list[Node] = []
        while not self._accept(")"):
            arguments.append(self.parse())
            if not self._accept(","):
                self._expect(")")
                break
        return Node("call", name, arguments)
