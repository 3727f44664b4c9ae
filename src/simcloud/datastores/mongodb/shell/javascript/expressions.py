"""Reading expressions."""

from __future__ import annotations

from functools import partial
from typing import Final

from simcloud.datastores.mongodb.shell.javascript import syntax as js
from simcloud.datastores.mongodb.shell.javascript.reader import MAX_CHAIN, Reader
from simcloud.datastores.mongodb.shell.javascript.targets import as_pattern
from simcloud.datastores.mongodb.shell.javascript.tokens import SyntaxFailure

ASSIGNMENTS: Final = frozenset(
    ["=", "+=", "-=", "*=", "/=", "%=", "**=", "<<=", ">>=", ">>>=", "&=", "|=", "^="]
)
_LEVELS: Final = {
    "??": 1, "||": 2, "&&": 3, "|": 4, "^": 5, "&": 6, "==": 7, "!=": 7, "===": 7, "!==": 7,
    "<": 8, ">": 8, "<=": 8, ">=": 8, "instanceof": 8, "in": 8, "<<": 9, ">>": 9, ">>>": 9,
    "+": 10, "-": 10, "*": 11, "/": 11, "%": 11, "**": 12,
}  # fmt: skip
_LOGICAL = frozenset(("??", "||", "&&"))
_PREFIXES = frozenset(["!", "~", "+", "-", "typeof", "void", "delete"])


class ExpressionParser(Reader):
    """The half of the parser that reads expressions; ``functions.py`` adds functions."""

    no_in = False
    """Inside the head of a ``for``, where ``in`` is not an operator."""

    def expression(self) -> js.Node:
        """One or more expressions with commas between."""
        at = self.token.at
        first = self.assignment()
        if not self.at_sign(","):
            return first
        items = [first]
        while self.accept(","):
            items.append(self.assignment())
        return js.Comma(at, items)

    def assignment(self) -> js.Node:
        """One expression, up to a comma."""
        return self.nested(self._assignment)

    def _assignment(self) -> js.Node:
        arrow = self.arrow_function()
        if arrow is not None:
            return arrow
        at = self.token.at
        left = self._conditional()
        if self.token.kind != "sign" or self.token.text not in ASSIGNMENTS:
            return left
        op = self.advance().text
        if op == "=":
            left = as_pattern(left, self.words)
        elif not isinstance(left, (js.Name, js.Member)):
            raise SyntaxFailure(self.words.bad_target(), at)
        return js.Assign(at, op, left, self.assignment())

    def _conditional(self) -> js.Node:
        at = self.token.at
        test = self._binary(0)
        if not self.accept("?"):
            return test
        no_in, self.no_in = self.no_in, False
        then = self.assignment()
        self.no_in = no_in
        self.expect(":", "in conditional expression")
        return js.Conditional(at, test, then, self.assignment())

    def _binary(self, lowest: int) -> js.Node:
        at = self.token.at
        left = self._unary()
        while True:
            token = self.token
            level = _LEVELS.get(token.text, 0) if token.kind in ("sign", "keyword") else 0
            if level <= lowest or (token.text == "in" and self.no_in):
                return left
            op = self.advance().text
            right = self.nested(partial(self._binary, level - (op == "**")))
            left = js.Logical(at, op, left, right) if op in _LOGICAL else js.Binary(at, op, left, right)

    def _unary(self) -> js.Node:
        token = self.token
        if token.text in _PREFIXES and token.kind in ("sign", "keyword"):
            self.advance()
            return js.Unary(token.at, token.text, self.nested(self._unary))
        if token.kind == "sign" and token.text in ("++", "--"):
            self.advance()
            return js.Update(token.at, token.text, True, self._update_target(self.nested(self._unary)))
        if token.kind == "name" and token.text == "await" and self.peek().kind in ("name", "keyword"):
            self.advance()  # every call waits for its answer already
            return self.nested(self._unary)
        value = self._postfix()
        after = self.token
        if after.kind == "sign" and after.text in ("++", "--") and not after.newline_before:
            self.advance()
            return js.Update(token.at, after.text, False, self._update_target(value))
        return value

    def _update_target(self, value: js.Node) -> js.Node:
        if not isinstance(value, (js.Name, js.Member)):
            raise SyntaxFailure(self.words.bad_target(), value.at)
        return value

    def _postfix(self) -> js.Node:
        at = self.token.at
        value = self._new() if self.at_word("new") else self.primary()
        return self._calls(value, at, calls=True)

    def _calls(self, value: js.Node, at: int, *, calls: bool) -> js.Node:
        optional = False
        links = 0
        while True:
            token = self.token
            links += 1
            if links > MAX_CHAIN:
                raise SyntaxFailure(self.words.too_deep(), token.at)
            if token.kind == "template":
                self.unexpected()
            if token.kind != "sign":
                break
            if token.text == ".":
                self.advance()
                value = js.Member(at, value, self._property_name(), False)
            elif token.text == "?." and calls:
                self.advance()
                optional = True
                if self.at_sign("("):
                    value = js.Call(at, value, self.arguments(), True)
                elif self.accept("["):
                    value = js.Member(at, value, self._index(), True, True)
                else:
                    value = js.Member(at, value, self._property_name(), False, True)
            elif token.text == "[":
                self.advance()
                value = js.Member(at, value, self._index(), True)
            elif token.text == "(" and calls:
                value = js.Call(at, value, self.arguments())
            else:
                break
        return js.Chain(at, value) if optional else value

    def _property_name(self) -> js.Literal:
        token = self.token
        if token.kind not in ("name", "keyword"):
            raise SyntaxFailure(
                self.words.missing("name", "after . operator", token.text, token.kind),
                token.at,
                incomplete=token.kind == "end",
            )
        self.advance()
        return js.Literal(token.at, token.text)

    def _index(self) -> js.Node:
        no_in, self.no_in = self.no_in, False
        key = self.expression()
        self.no_in = no_in
        self.expect("]", "in index expression")
        return key

    def arguments(self) -> list[js.Node]:
        """The arguments of a call, with their parentheses."""
        self.expect("(")
        no_in, self.no_in = self.no_in, False
        found: list[js.Node] = []
        while not self.at_sign(")"):
            found.append(self._spread() if self.at_sign("...") else self.assignment())
            if not self.at_sign(")"):
                self.expect("," if self.at_sign(",") else ")", "after argument list")
        self.no_in = no_in
        self.advance()
        return found

    def _spread(self) -> js.Spread:
        at = self.advance().at
        return js.Spread(at, self.assignment())

    def _new(self) -> js.Node:
        at = self.advance().at
        start = self.token.at
        callee = self.nested(self._new) if self.at_word("new") else self.primary()
        callee = self._calls(callee, start, calls=False)
        return js.New(at, callee, self.arguments() if self.at_sign("(") else [])

    # -- what stands alone ---------------------------------------------------------------------

    def primary(self) -> js.Node:
        """A literal, a name, or anything in brackets."""
        token = self.token
        if token.kind == "name":
            if token.text == "async" and self.peek().text == "function" and not self.peek().newline_before:
                self.advance()
                return self.function()
            self.advance()
            return js.Name(token.at, token.text)
        if token.kind == "number":
            self.advance()
            return js.Literal(token.at, token.number)
        if token.kind == "string":
            self.advance()
            return js.Literal(token.at, token.text)
        if token.kind == "template":
            return self._template()
        if token.kind == "regex":
            self.advance()
            return js.RegexLiteral(token.at, token.text, token.texts[0])
        if token.kind == "keyword":
            return self._keyword()
        if token.text == "(":
            self.advance()
            no_in, self.no_in = self.no_in, False
            inner = self.expression()
            self.no_in = no_in
            self.expect(")", "in parenthetical")
            return inner
        if token.text == "[":
            return self._array()
        if token.text == "{":
            return self._object()
        self.unexpected()

    def _keyword(self) -> js.Node:
        token = self.token
        match token.text:
            case "this":
                self.advance()
                return js.This(token.at)
            case "null" | "true" | "false":
                self.advance()
                return js.Literal(token.at, {"null": None, "true": True, "false": False}[token.text])
            case "function":
                return self.function()
        self.unexpected()

    def _template(self) -> js.Node:
        token = self.advance()
        parts: list[js.Node] = []
        for tokens in token.parts:
            outer = self.tokens, self.position
            self.tokens, self.position = tokens, 0
            parts.append(self.expression())
            if self.token.kind != "end":
                self.unexpected()
            self.tokens, self.position = outer
        return js.Template(token.at, token.texts, parts)

    def _array(self) -> js.Node:
        at = self.advance().at
        no_in, self.no_in = self.no_in, False
        items: list[js.Node | None] = []
        while not self.at_sign("]"):
            if self.accept(","):
                items.append(None)
                continue
            items.append(self._spread() if self.at_sign("...") else self.assignment())
            if not self.at_sign("]"):
                self.expect("," if self.at_sign(",") else "]", "after element list")
        self.no_in = no_in
        self.advance()
        return js.ArrayLiteral(at, items)

    def _object(self) -> js.Node:
        at = self.advance().at
        no_in, self.no_in = self.no_in, False
        entries: list[js.Property | js.Spread] = []
        while not self.at_sign("}"):
            entries.append(self._spread() if self.at_sign("...") else self._entry())
            if not self.at_sign("}"):
                self.expect("," if self.at_sign(",") else "}", "after property list")
        self.no_in = no_in
        self.advance()
        return js.ObjectLiteral(at, entries)

    def _entry(self) -> js.Property:
        token, after = self.token, self.peek()
        ends = after.kind == "sign" and after.text in (",", "}", ":", "(", "=")
        if token.kind == "name" and token.text == "async" and not ends:
            self.advance()
            key = self.property_key()
            return js.Property(token.at, "method", key, self.method(key))
        key = self.property_key()
        if self.at_sign("("):
            return js.Property(token.at, "method", key, self.method(key))
        if token.kind == "name" and not self.at_sign(":"):
            value: js.Node = js.Name(token.at, token.text)
            if self.accept("="):  # only a pattern may hold this; what is no pattern will complain
                value = js.Default(token.at, value, self.assignment())
            return js.Property(token.at, "value", key, value)
        self.expect(":", "after property id")
        return js.Property(token.at, "value", key, self.assignment())

    def property_key(self) -> js.Node:
        """The name of a property: a word, a string, a number or ``[computed]``."""
        token = self.token
        if token.kind in ("name", "keyword", "string"):
            self.advance()
            return js.Literal(token.at, token.text)
        if token.kind == "number":
            self.advance()
            return js.Literal(token.at, token.number)
        if self.accept("["):
            return self._index()
        raise SyntaxFailure(
            self.words.missing("invalid property id", "", token.text, token.kind),
            token.at,
            incomplete=token.kind == "end",
        )

    # -- in functions.py -----------------------------------------------------------------------

    def arrow_function(self) -> js.Node | None:
        """An arrow function, if one comes next."""
        raise NotImplementedError

    def function(self) -> js.Function:
        """A function expression or declaration."""
        raise NotImplementedError

    def method(self, key: js.Node) -> js.Function:
        """A method's parameters and body."""
        raise NotImplementedError
