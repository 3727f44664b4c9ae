"""Parses a Go template, with Go's error messages."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import NoReturn

from simcloud.golang.quoting import quote, unquote
from simcloud.golang.template.lexer import Token, tokens
from simcloud.golang.template.nodes import (
    ActionNode,
    BranchNode,
    ChainNode,
    CommandNode,
    Constant,
    DotNode,
    FieldNode,
    IdentifierNode,
    ListNode,
    NilNode,
    Node,
    PipeNode,
    TemplateError,
    TemplateNode,
    TextNode,
    VariableNode,
    WordNode,
)

MOST_NESTED = 100
"""Branches and parentheses inside each other."""

_OPERANDS = frozenset(
    {"bool", "character", "dot", "field", "identifier", "number", "nil", "string", "variable", "("}
)


def parse(name: str, text: str, functions: Collection[str]) -> dict[str, ListNode]:
    """The templates of a text by their names. TemplateError if it is none."""
    parser = _Parser(name, text, functions)
    parser.templates[name] = parser.whole()
    return parser.templates


class _Parser:
    def __init__(self, name: str, text: str, functions: Collection[str]) -> None:
        self.templates: dict[str, ListNode] = {}
        self._name = name
        self._functions = functions
        self._tokens = list(tokens(text))
        self._at = 0
        self._variables = ["$"]
        self._ranges = 0
        self._action_line = 0
        self._nested = 0

    def whole(self) -> ListNode:
        root = ListNode(0)
        while self._peek().kind != "eof":
            if self._peek().kind == "left" and self._after_spaces(1).kind == "define":
                self._define()
                continue
            node = self._text_or_action()
            if isinstance(node, WordNode) and node.word in ("end", "else"):
                self._fail(f"unexpected {node}")
            root.nodes.append(node)
        return root

    def _peek(self) -> Token:
        return self._tokens[min(self._at, len(self._tokens) - 1)]

    def _next(self) -> Token:
        token = self._peek()
        self._at += 1
        return token

    def _after_spaces(self, ahead: int = 0) -> Token:
        place = self._at + ahead
        while place < len(self._tokens) - 1 and self._tokens[place].kind == "space":
            place += 1
        return self._tokens[min(place, len(self._tokens) - 1)]

    def _next_word(self) -> Token:
        while (token := self._next()).kind == "space":
            pass
        return token

    def _peek_word(self) -> Token:
        token = self._next_word()
        self._at -= 1
        return token

    def _fail(self, message: str) -> NoReturn:
        line = self._tokens[max(0, min(self._at, len(self._tokens)) - 1)].line
        raise TemplateError(f"template: {self._name}:{line}: {message}")

    def _fail_unexpected(self, token: Token, context: str) -> NoReturn:
        if token.kind != "error":
            self._fail(f"unexpected {token} in {context}")
        extra = ""
        if self._action_line not in (0, token.line):
            extra = f" in action started at {self._name}:{self._action_line}"
            if token.text.endswith(" action"):
                extra = extra.removeprefix(" in action")
        self._fail(f"{token}{extra}")

    def _expect(self, kind: str, context: str) -> Token:
        token = self._next_word()
        if token.kind != kind:
            self._fail_unexpected(token, context)
        return token

    def _nest(self, by: int) -> None:
        self._nested += by
        if self._nested > MOST_NESTED:
            self._fail(f"more than {MOST_NESTED} levels inside each other")

    def _define(self) -> None:
        self._next()
        self._next_word()
        name = self._template_name(self._next_word(), "define clause")
        self._expect("right", "define clause")
        self._keep(name, self._apart("define clause"))

    def _apart(self, context: str) -> ListNode:
        """The body of another template, which knows nothing of the one around it."""
        around = self._variables, self._ranges
        self._variables, self._ranges = ["$"], 0
        body, ending = self._items()
        if ending.word != "end":
            self._fail(f"unexpected {ending} in {context}")
        self._variables, self._ranges = around
        return body

    def _keep(self, name: str, body: ListNode) -> None:
        empty = all(isinstance(node, TextNode) and not node.text.strip() for node in body.nodes)
        if name not in self.templates or not empty:
            self.templates[name] = body

    def _items(self) -> tuple[ListNode, WordNode]:
        items = ListNode(self._peek_word().place)
        while self._peek_word().kind != "eof":
            node = self._text_or_action()
            if isinstance(node, WordNode) and node.word in ("end", "else"):
                return items, node
            items.nodes.append(node)
        self._at += 1
        self._fail("unexpected EOF")

    def _text_or_action(self) -> Node:
        token = self._next_word()
        if token.kind == "text":
            return TextNode(token.place, token.text)
        if token.kind == "left":
            self._action_line = token.line
            node = self._action()
            self._action_line = 0
            return node
        self._fail_unexpected(token, "input")

    def _action(self) -> Node:
        token = self._next_word()
        kind = token.kind
        if kind in ("if", "with", "range"):
            return self._branch(kind, token.place)
        if kind == "end":
            return WordNode(self._expect("right", "end").place, "end")
        if kind == "else":
            if self._peek_word().kind in ("if", "with"):
                return WordNode(self._peek_word().place, "else")
            return WordNode(self._expect("right", "else").place, "else")
        if kind in ("break", "continue"):
            return self._jump(token)
        if kind == "template":
            return self._template()
        if kind == "block":
            return self._block()
        self._at -= 1
        return ActionNode(self._peek().place, self._pipeline("command", "right"))

    def _jump(self, token: Token) -> Node:
        after = self._next_word()
        if after.kind != "right":
            self._fail_unexpected(after, "{{" + token.kind + "}}")
        if not self._ranges:
            self._fail("{{" + token.kind + "}} outside {{range}}")
        return WordNode(token.place, token.kind)

    def _branch(self, word: str, place: int) -> BranchNode:
        self._nest(1)
        known = len(self._variables)
        pipe = self._pipeline(word, "right")
        self._ranges += word == "range"
        body, ending = self._items()
        self._ranges -= word == "range"
        otherwise = None
        if ending.word == "else":
            if word in ("if", "with") and self._peek().kind == word:
                self._next()
                otherwise = ListNode(ending.place, [self._branch(word, ending.place)])
            else:
                otherwise, ending = self._items()
                if ending.word != "end":
                    self._fail(f"expected end; found {ending}")
        del self._variables[known:]
        self._nest(-1)
        return BranchNode(place, word, pipe, body, otherwise)

    def _template_name(self, token: Token, context: str) -> str:
        if token.kind != "string":
            self._fail_unexpected(token, context)
        return self._unquote(token)

    def _template(self) -> TemplateNode:
        token = self._next_word()
        name = self._template_name(token, "template clause")
        pipe = None
        if self._next_word().kind != "right":
            self._at -= 1
            pipe = self._pipeline("template clause", "right")
        return TemplateNode(token.place, name, quote(name), pipe)

    def _block(self) -> TemplateNode:
        token = self._next_word()
        name = self._template_name(token, "block clause")
        pipe = self._pipeline("block clause", "right")
        self._nest(1)
        self._keep(name, self._apart("block clause"))
        self._nest(-1)
        return TemplateNode(token.place, name, quote(name), pipe)

    def _pipeline(self, context: str, end: str) -> PipeNode:
        pipe = PipeNode(self._peek_word().place)
        self._declarations(pipe, context)
        while (token := self._next_word()).kind != end:
            if token.kind not in _OPERANDS:
                self._fail_unexpected(token, context)
            self._at -= 1
            pipe.commands.append(self._command())
        self._check(pipe, context)
        return pipe

    def _declarations(self, pipe: PipeNode, context: str) -> None:
        while (variable := self._peek_word()).kind == "variable":
            back = self._at
            self._next_word()
            after = self._peek_word()
            if after.kind in ("assign", "declare"):
                self._next_word()
                pipe.assigns = after.kind == "assign"
                pipe.declared.append(VariableNode(variable.place, [variable.text]))
                self._variables.append(variable.text)
                return
            if after.kind != "char" or after.text != ",":
                self._at = back
                return
            self._next_word()
            pipe.declared.append(VariableNode(variable.place, [variable.text]))
            self._variables.append(variable.text)
            if context != "range" or len(pipe.declared) > 1:
                self._fail(f"too many declarations in {context}")
            if self._peek_word().kind not in ("variable", "right", ")"):
                self._fail("range can only initialize variables")

    def _check(self, pipe: PipeNode, context: str) -> None:
        if not pipe.commands:
            self._fail(f"missing value for {context}")
        for stage, command in enumerate(pipe.commands[1:], 2):
            if isinstance(command.arguments[0], (Constant, DotNode, NilNode)):
                self._fail(f"non executable command in pipeline stage {stage}")

    def _command(self) -> CommandNode:
        command = CommandNode(self._peek_word().place)
        while True:
            self._peek_word()
            operand = self._operand()
            if operand is not None:
                command.arguments.append(operand)
            token = self._next()
            if token.kind == "space":
                continue
            if token.kind in ("right", ")"):
                self._at -= 1
            elif token.kind != "pipe":
                self._fail_unexpected(token, "operand")
            break
        if not command.arguments:
            self._fail("empty command")
        return command

    def _operand(self) -> Node | None:
        node = self._term()
        if node is None or self._peek().kind != "field":
            return node
        place = self._peek().place
        names = []
        while self._peek().kind == "field":
            names.append(self._next().text[1:])
        if isinstance(node, FieldNode):
            return FieldNode(place, node.names + names)
        if isinstance(node, VariableNode):
            return VariableNode(place, node.names + names)
        if isinstance(node, (Constant, NilNode, DotNode)):
            self._fail(f"unexpected . after term {quote(str(node))}")
        return ChainNode(place, node, names)

    def _term(self) -> Node | None:
        token = self._next_word()
        kind, text, place = token.kind, token.text, token.place
        if kind == "identifier":
            if text not in self._functions:
                self._fail(f"function {quote(text)} not defined")
            return IdentifierNode(place, text)
        if kind == "dot":
            return DotNode(place)
        if kind == "nil":
            return NilNode(place)
        if kind == "variable":
            if text not in self._variables:
                self._fail(f"undefined variable {quote(text)}")
            return VariableNode(place, [text])
        if kind == "field":
            return FieldNode(place, [text[1:]])
        if kind == "bool":
            return Constant(place, text == "true", text)
        if kind == "number":
            return Constant(place, self._number(text), text)
        if kind == "character":
            body = self._unquote(token)
            if len(body) != 1:
                self._fail(f"malformed character constant: {text}")
            return Constant(place, ord(body), text)
        if kind == "string":
            return Constant(place, self._unquote(token), text)
        if kind == "(":
            self._nest(1)
            pipe = self._pipeline("parenthesized pipeline", ")")
            self._nest(-1)
            return pipe
        self._at -= 1
        return None

    def _unquote(self, token: Token) -> str:
        if token.text.startswith("`"):
            return token.text[1:-1].replace("\r", "")
        try:
            return unquote(token.text[1:-1], token.text[0])
        except ValueError as error:
            if token.kind == "character":
                self._fail(f"malformed character constant: {token.text}")
            self._fail(str(error))

    def _number(self, text: str) -> int | float:
        plain = text.replace("_", "")
        try:
            digits = plain.lstrip("+-")
            if digits.isdigit() and digits.startswith("0"):
                return int(plain[: len(plain) - len(digits)] + str(int(digits, 8)))
            return int(plain, 0)
        except ValueError:
            pass
        try:
            number = float.fromhex(plain) if "0x" in plain.lower() else float(plain)
        except (ValueError, OverflowError):
            number = math.nan
        if math.isnan(number) or math.isinf(number) or text.endswith("i"):
            self._fail(f"illegal number syntax: {quote(text)}")
        return number
