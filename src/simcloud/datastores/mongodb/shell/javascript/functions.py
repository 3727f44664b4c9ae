"""Reading functions and arrows."""

from __future__ import annotations

from simcloud.datastores.mongodb.shell.javascript import syntax as js
from simcloud.datastores.mongodb.shell.javascript.expressions import ExpressionParser
from simcloud.datastores.mongodb.shell.javascript.targets import as_pattern
from simcloud.datastores.mongodb.shell.javascript.tokens import SyntaxFailure


class FunctionParser(ExpressionParser):
    """The part of the parser that reads everything with a body of its own."""

    def function(self) -> js.Function:
        start = self.expect("function").at
        name = self.name() if self.token.kind == "name" else ""
        return self._rest(start, name)

    def method(self, key: js.Node) -> js.Function:
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
        """A name or a pattern that is being declared."""
        if self.at_sign("[") or self.at_sign("{"):
            return as_pattern(self.primary(), self.words)
        token = self.token
        if token.kind != "name":
            incomplete = token.kind == "end"
            raise SyntaxFailure(self.words.no_variable_name(), token.at, incomplete=incomplete)
        return js.Name(token.at, self.name())

    def _with_body(self, start: int, name: str, params: list[js.Node], *, arrow: bool) -> js.Function:
        outer, self.declared = self.declared, []
        no_in, self.no_in = self.no_in, self.no_in and arrow and not self.at_sign("{")
        if arrow and not self.at_sign("{"):
            at = self.token.at
            body: list[js.Node] = [js.Return(at, self.assignment())]
        else:
            self.expect("{", "before function body")
            body = self.nested(lambda: self.statements_until("}"))
            self.expect("}", "after function body")
        declared, self.declared = self.declared, outer
        self.no_in = no_in
        text = self.source.text[start : self.tokens[self.position - 1].end]
        return js.Function(start, name, params, body, text, arrow, declared)

    def arrow_function(self) -> js.Node | None:
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

    def statements_until(self, closing: str) -> list[js.Node]:
        """The statements up to a closing sign, or to the end."""
        raise NotImplementedError
