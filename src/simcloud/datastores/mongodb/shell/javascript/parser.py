"""The parser: from tokens to the syntax tree of a script."""

from __future__ import annotations

from functools import partial
from typing import Final

from simcloud.datastores.mongodb.shell.javascript import syntax as js
from simcloud.datastores.mongodb.shell.javascript.error_messages import ErrorMessages
from simcloud.datastores.mongodb.shell.javascript.token_stream import MAX_CHAIN, TokenStream
from simcloud.datastores.mongodb.shell.javascript.tokens import Lexer, SyntaxFailure
from simcloud.sim import call_deep

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


def parse(source: js.Source, messages: ErrorMessages) -> js.Script:
    """Parse a script. Raise ``SyntaxFailure``."""
    parser = _Parser(source, Lexer(source.text, messages).tokens(), messages)
    body = call_deep(parser.statements_until, "")
    return js.Script(body, parser.declared, source)


class _Parser(TokenStream):
    no_in = False
    """Inside the head of a ``for``, where ``in`` is not an operator."""

    # -- statements ----------------------------------------------------------------------------

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
                for name in js.names_in(target):
                    if name in lexical:
                        raise SyntaxFailure(self.messages.duplicate_name(lexical[name], name), target.at)
                    lexical[name] = statement.kind

    def statement(self) -> js.Node:
        return self.descend(self._statement)

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
                self.declared.extend(js.names_in(target))
            value = self.assignment() if self.accept("=") else None
            bindings.append((target, value))
            if not self.accept(","):
                return js.Declare(at, kind, bindings)

    def _read_function(self) -> js.Node:
        at = self.token.at
        function = self.function()
        if not function.name:
            raise SyntaxFailure(self.messages.missing("name", "", "(", "sign"), function.at)
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
            kind, target = "", as_pattern(first.value, self.messages)
        else:
            self.reject_token()
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
                    self.reject_token()
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

    # -- expressions ---------------------------------------------------------------------------

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
        return self.descend(self._assignment)

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
            left = as_pattern(left, self.messages)
        elif not isinstance(left, (js.Name, js.Member)):
            raise SyntaxFailure(self.messages.bad_target(), at)
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
            right = self.descend(partial(self._binary, level - (op == "**")))
            left = js.Logical(at, op, left, right) if op in _LOGICAL else js.Binary(at, op, left, right)

    def _unary(self) -> js.Node:
        token = self.token
        if token.text in _PREFIXES and token.kind in ("sign", "keyword"):
            self.advance()
            return js.Unary(token.at, token.text, self.descend(self._unary))
        if token.kind == "sign" and token.text in ("++", "--"):
            self.advance()
            return js.Update(token.at, token.text, True, self._update_target(self.descend(self._unary)))
        if token.kind == "name" and token.text == "await" and self.peek().kind in ("name", "keyword"):
            self.advance()  # every call waits for its answer already
            return self.descend(self._unary)
        value = self._postfix()
        after = self.token
        if after.kind == "sign" and after.text in ("++", "--") and not after.newline_before:
            self.advance()
            return js.Update(token.at, after.text, False, self._update_target(value))
        return value

    def _update_target(self, value: js.Node) -> js.Node:
        if not isinstance(value, (js.Name, js.Member)):
            raise SyntaxFailure(self.messages.bad_target(), value.at)
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
                raise SyntaxFailure(self.messages.too_deep(), token.at)
            if token.kind == "template":
                self.reject_token()
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
                self.messages.missing("name", "after . operator", token.text, token.kind),
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
        """Parse the arguments of a call, with their parentheses."""
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
        callee = self.descend(self._new) if self.at_word("new") else self.primary()
        callee = self._calls(callee, start, calls=False)
        return js.New(at, callee, self.arguments() if self.at_sign("(") else [])

    # -- primary expressions -------------------------------------------------------------------

    def primary(self) -> js.Node:
        """Parse a literal, a name, or an expression in brackets."""
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
        self.reject_token()

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
        self.reject_token()

    def _template(self) -> js.Node:
        token = self.advance()
        parts: list[js.Node] = []
        for tokens in token.parts:
            outer = self.tokens, self.position
            self.tokens, self.position = tokens, 0
            parts.append(self.expression())
            if self.token.kind != "end":
                self.reject_token()
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
            if self.accept("="):  # only valid in a pattern; anything else raises an error later
                value = js.Default(token.at, value, self.assignment())
            return js.Property(token.at, "value", key, value)
        self.expect(":", "after property id")
        return js.Property(token.at, "value", key, self.assignment())

    def property_key(self) -> js.Node:
        """Parse the name of a property: a word, a string, a number or ``[computed]``."""
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
            self.messages.missing("invalid property id", "", token.text, token.kind),
            token.at,
            incomplete=token.kind == "end",
        )

    # -- functions -----------------------------------------------------------------------------

    def function(self) -> js.Function:
        """Read a function expression or declaration."""
        start = self.expect("function").at
        name = self.name() if self.token.kind == "name" else ""
        return self._rest(start, name)

    def method(self, key: js.Node) -> js.Function:
        """Read the parameters and the body of a method."""
        name = str(key.value) if isinstance(key, js.Literal) else ""
        return self._rest(key.at, name)

    def _rest(self, start: int, name: str) -> js.Function:
        params = self._parameters()
        return self._with_body(start, name, params, arrow=False)

    def _parameters(self) -> list[js.Node]:
        self.expect("(", "before formal parameters")
        found: list[js.Node] = []
        while not self.at_sign(")"):
            found.append(self._parameter())
            if not self.at_sign(")"):
                self.expect("," if self.at_sign(",") else ")", "after formal parameters")
        self.advance()
        return found

    def _parameter(self) -> js.Node:
        at = self.token.at
        if self.accept("..."):
            return js.Spread(at, self.binding_target())
        target = self.binding_target()
        if self.accept("="):
            return js.Default(at, target, self.assignment())
        return target

    def binding_target(self) -> js.Node:
        """Parse a name or a pattern that is declared."""
        if self.at_sign("[") or self.at_sign("{"):
            return as_pattern(self.primary(), self.messages)
        token = self.token
        if token.kind != "name":
            incomplete = token.kind == "end"
            raise SyntaxFailure(self.messages.no_variable_name(), token.at, incomplete=incomplete)
        return js.Name(token.at, self.name())

    def _with_body(self, start: int, name: str, params: list[js.Node], *, arrow: bool) -> js.Function:
        outer, self.declared = self.declared, []
        no_in, self.no_in = self.no_in, self.no_in and arrow and not self.at_sign("{")
        if arrow and not self.at_sign("{"):
            at = self.token.at
            body: list[js.Node] = [js.Return(at, self.assignment())]
        else:
            self.expect("{", "before function body")
            body = self.descend(lambda: self.statements_until("}"))
            self.expect("}", "after function body")
        declared, self.declared = self.declared, outer
        self.no_in = no_in
        text = self.source.text[start : self.tokens[self.position - 1].end]
        return js.Function(start, name, params, body, text, arrow, declared)

    def arrow_function(self) -> js.Node | None:
        """Read an arrow function, if one comes next."""
        start = self.token.at
        skip = 1 if self.token.text == "async" and self._parameters_at(1) else 0
        if not self._parameters_at(skip):
            return None
        self.position += skip
        if self.token.kind == "name":
            params: list[js.Node] = [js.Name(self.token.at, self.name())]
        else:
            params = self._parameters()
        self.expect("=>")
        return self._with_body(start, "", params, arrow=True)

    def _parameters_at(self, offset: int) -> bool:
        first = self.peek(offset)
        if first.kind == "name":
            after = self.peek(offset + 1)
            return after.kind == "sign" and after.text == "=>" and self.token.kind == "name"
        if first.kind != "sign" or first.text != "(":
            return False
        depth, index = 0, self.position + offset
        while index < len(self.tokens):
            token = self.tokens[index]
            if token.kind == "sign":
                depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.text, 0)
                if depth == 0:
                    after = self.tokens[min(index + 1, len(self.tokens) - 1)]
                    return after.kind == "sign" and after.text == "=>"
            index += 1
        return False


def as_pattern(node: js.Node, messages: ErrorMessages) -> js.Node:
    """Convert an expression to the target of an assignment."""
    match node:
        case js.Name() | js.Member() | js.ArrayPattern() | js.ObjectPattern() | js.Default():
            return node
        case js.Assign(at, "=", target, value):
            return js.Default(at, target, value)
        case js.Spread(at, value):
            return js.Spread(at, as_pattern(value, messages))
        case js.ArrayLiteral(at, items):
            return js.ArrayPattern(at, [item and as_pattern(item, messages) for item in items])
        case js.ObjectLiteral(at, entries):
            return js.ObjectPattern(at, [_entry(entry, messages) for entry in entries])
    raise SyntaxFailure(messages.bad_target(), node.at)


def _entry(entry: js.Property | js.Spread, messages: ErrorMessages) -> js.Property | js.Spread:
    if isinstance(entry, js.Spread):
        return js.Spread(entry.at, as_pattern(entry.value, messages))
    if entry.kind != "value":
        raise SyntaxFailure(messages.bad_target(), entry.at)
    return js.Property(entry.at, "value", entry.key, as_pattern(entry.value, messages))
