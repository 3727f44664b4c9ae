"""Runs a Go template over data.

Bounded by counts: of steps, of characters printed, of templates inside each other; a template can loop over
a large number or call itself.
"""

from __future__ import annotations

from typing import Any, NoReturn

from msgspec import Struct

from simcloud.golang.formatting import Int, sprint, type_name
from simcloud.golang.quoting import quote
from simcloud.golang.template.functions import (
    CONSTANTS,
    MISSING,
    CallError,
    Function,
    GoObject,
    absent,
    truth,
)
from simcloud.golang.template.library import Library, Spent
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

MOST_STEPS = 500_000
MOST_CHARACTERS = 16_000_000
DEEPEST = 100
"""Templates, branches and parentheses inside each other."""

_NOTHING: Any = object()
"""No value comes down the pipe."""


class _Jump(Exception):
    pass


class _Given(Struct, frozen=True):
    """The arguments of a call."""

    dot: Any
    rest: list[Node]
    final: Any

    def __bool__(self) -> bool:
        return bool(self.rest) or self.final is not _NOTHING


_NONE_GIVEN = _Given(None, [], _NOTHING)


class Run:
    """One execution; ``printed`` is its output so far."""

    def __init__(self, library: Library, name: str, spent: Spent | None = None) -> None:
        self._library = library
        self._root = name
        self._name = name
        self._node: Node | None = None
        self._variables: list[tuple[str, Any, bool]] = []
        self._boxed: bool = False
        self._spent = spent or Spent()
        self._parts: list[str] = []

    @property
    def printed(self) -> str:
        """The output until now."""
        return "".join(self._parts)

    def execute(self, data: Any) -> None:
        """Run the template. TemplateError where it fails."""
        self._variables = [("$", data, False)]
        self._walk(data, self._library.templates[self._root].nodes)

    def _fail(self, message: str) -> NoReturn:
        if self._node is None:
            raise TemplateError(f"template: {self._name}: {message}")
        body = self._library.templates[self._name]
        before = body.text[: self._node.place]
        column = len(before[before.rfind("\n") + 1 :].encode("utf-8", "surrogateescape"))
        raise TemplateError(
            f"template: {body.source}:{before.count(chr(10)) + 1}:{column}: "
            f"executing {quote(self._name)} at <{self._node}>: {message}"
        )

    def _write(self, text: str) -> None:
        self._count(len(text))
        self._parts.append(text)

    def _count(self, characters: int) -> None:
        self._spent.characters += characters
        if self._spent.characters > MOST_CHARACTERS:
            self._fail(f"the template prints more than {MOST_CHARACTERS} characters")

    def _walk(self, dot: Any, node: Node) -> None:
        self._node = node
        self._spent.steps += 1
        if self._spent.steps > MOST_STEPS:
            self._fail(f"the template takes more than {MOST_STEPS} steps")
        if isinstance(node, ListNode):
            for child in node.nodes:
                self._walk(dot, child)
        elif isinstance(node, TextNode):
            self._write(node.text)
        elif isinstance(node, ActionNode):
            value = self._pipeline(dot, node.pipe)
            if not node.pipe.declared:
                self._node = node
                self._write("<no value>" if absent(value) else sprint(value))
        elif isinstance(node, (BranchNode, TemplateNode)):
            self._deeper()
            if isinstance(node, BranchNode):
                self._branch(dot, node)
            else:
                self._template(dot, node)
            self._spent.depth -= 1
        elif isinstance(node, WordNode):
            raise _Jump(node.word)

    def _deeper(self) -> None:
        self._spent.depth += 1
        if self._spent.depth > DEEPEST:
            self._fail(f"exceeded maximum template depth ({DEEPEST})")

    def _branch(self, dot: Any, node: BranchNode) -> None:
        mark = len(self._variables)
        boxed = self._boxed
        if node.word == "range":
            self._range(dot, node)
        else:
            value = self._pipeline(dot, node.pipe)
            if truth(value):
                if node.word == "with":
                    self._boxed = False
                self._walk(value if node.word == "with" else dot, node.body)
            elif node.otherwise is not None:
                self._walk(dot, node.otherwise)
        self._boxed = boxed
        del self._variables[mark:]

    def _range(self, dot: Any, node: BranchNode) -> None:
        value = self._pipeline(dot, node.pipe)
        boxed = True
        if isinstance(value, (bool, float, str)):
            self._fail(f"range can't iterate over {sprint(value)}")
        if isinstance(value, int):
            boxed = False
            if value > MOST_STEPS:
                self._fail(f"the template takes more than {MOST_STEPS} steps")
            pairs = [(Int(number), Int(number)) for number in range(value)]
        elif isinstance(value, dict):
            pairs = [(name, value[name]) for name in sorted(value)]
        else:
            pairs = [] if absent(value) else [(Int(place), item) for place, item in enumerate(value)]
        if not pairs and node.otherwise is not None:
            self._walk(dot, node.otherwise)
        mark, depth = len(self._variables), self._spent.depth
        for place, item in pairs:
            del self._variables[mark:]
            self._spent.depth = depth
            self._loop_variables(node.pipe, place, item, mark, boxed)
            self._boxed = boxed
            try:
                self._walk(item, node.body)
            except _Jump as jump:
                if jump.args[0] == "break":
                    break
        self._spent.depth = depth

    def _loop_variables(self, pipe: PipeNode, place: Any, one: Any, mark: int, boxed: bool) -> None:
        names = [declared.names[0] for declared in pipe.declared]
        held = [one] if len(names) == 1 else [place, one]
        for name, value in zip(names, held, strict=False):
            if pipe.assigns:
                self._assign(name, value, boxed)
            else:
                self._variables.append((name, value, boxed and value is one))

    def _template(self, dot: Any, node: TemplateNode) -> None:
        body = self._library.templates.get(node.name)
        if body is None:
            self._fail(f"template {quote(node.name)} not defined")
        value = MISSING if node.pipe is None else self._pipeline(dot, node.pipe)
        kept = self._variables, self._name, self._boxed
        self._variables, self._name, self._boxed = [("$", value, False)], node.name, False
        self._walk(value, body.nodes)
        self._variables, self._name, self._boxed = kept

    def _assign(self, name: str, value: Any, boxed: bool) -> None:
        for place in range(len(self._variables) - 1, -1, -1):
            if self._variables[place][0] == name:
                self._variables[place] = (name, value, boxed)
                return
        self._fail(f"undefined variable: {name}")

    def _pipeline(self, dot: Any, pipe: PipeNode) -> Any:
        self._node = pipe
        value = _NOTHING
        for command in pipe.commands:
            value = self._command(dot, command, value)
            if value is None:
                value = MISSING
        if len(pipe.declared) == 1 or not pipe.declared:
            for declared in pipe.declared:
                if pipe.assigns:
                    self._assign(declared.names[0], value, False)
                else:
                    self._variables.append((declared.names[0], value, False))
        return value

    def _command(self, dot: Any, command: CommandNode, final: Any) -> Any:
        first = command.arguments[0]
        rest = command.arguments[1:]
        if isinstance(first, IdentifierNode):
            self._node = first
            return self._call(dot, first.name, command, rest, final)
        given = _Given(dot, rest, final)
        if isinstance(first, FieldNode):
            self._node = first
            return self._fields(dot, self._boxed, first.names, given)
        if isinstance(first, ChainNode):
            return self._chain(dot, first, given)
        if isinstance(first, VariableNode):
            return self._variable(first, given)
        self._node = first
        if given:
            shown = f"({first})" if isinstance(first, PipeNode) else str(first)
            self._fail(f"can't give argument to non-function {shown}")
        if isinstance(first, NilNode):
            self._fail("nil is not a command")
        return self._argument(dot, first)

    def _argument(self, dot: Any, node: Node) -> Any:
        self._node = node
        if isinstance(node, Constant):
            value = node.value
            if isinstance(value, int) and not isinstance(value, bool):
                if not -(2**63) <= value < 2**63:
                    self._fail(f"{node} overflows int")
                return Int(value)
            return value
        if isinstance(node, DotNode):
            return dot
        if isinstance(node, NilNode):
            return None
        if isinstance(node, FieldNode):
            return self._fields(dot, self._boxed, node.names, _NONE_GIVEN)
        if isinstance(node, VariableNode):
            return self._variable(node, _NONE_GIVEN)
        if isinstance(node, PipeNode):
            self._deeper()
            value = self._pipeline(dot, node)
            self._spent.depth -= 1
            return value
        if isinstance(node, ChainNode):
            return self._chain(dot, node, _NONE_GIVEN)
        if isinstance(node, IdentifierNode):
            return self._call(dot, node.name, node, [], _NOTHING)
        self._fail(f"can't handle assignment of {node} to empty interface argument")

    def _variable(self, node: VariableNode, given: _Given) -> Any:
        self._node = node
        value, boxed = next(
            (held, boxed) for name, held, boxed in reversed(self._variables) if name == node.names[0]
        )
        if len(node.names) == 1:
            if given:
                self._fail(f"can't give argument to non-function {node}")
            return value
        return self._fields(value, boxed, node.names[1:], given)

    def _chain(self, dot: Any, node: ChainNode, given: _Given) -> Any:
        self._node = node
        if isinstance(node.inner, NilNode):
            self._fail(f"indirection through explicit nil in {node}")
        inner = self._argument(dot, node.inner)
        self._node = node
        return self._fields(inner, False, node.names, given)

    def _fields(self, value: Any, boxed: bool, names: list[str], given: _Given) -> Any:
        node = self._node
        for place, name in enumerate(names):
            last = place == len(names) - 1
            if isinstance(value, GoObject) and (method := value.go_method(name)) is not None:
                assert node is not None
                value, boxed = self._invoke(name, method, node, given if last else _NONE_GIVEN), False
            else:
                value, boxed = self._field(value, boxed, name, last and bool(given)), True
            if value is MISSING and not last and self._library.missing_key == "default":
                return MISSING
        return value

    def _field(self, value: Any, boxed: bool, name: str, given: bool) -> Any:
        if value is MISSING:
            if self._library.missing_key == "default":
                return MISSING
            self._fail(f"nil data; no entry for key {quote(name)}")
        if value is None:
            self._fail(f"nil pointer evaluating interface {{}}.{name}")
        if isinstance(value, GoObject) and not isinstance(value, dict) and name in value.go_fields():
            return value.go_fields()[name]
        if not isinstance(value, dict):
            kind = "interface {}" if boxed else type_name(value)
            self._fail(f"can't evaluate field {name} in type {kind}")
        if given:
            self._fail(f"{name} is not a method but has arguments")
        if name in value:
            return value[name]
        if self._library.missing_key == "error":
            self._fail(f"map has no entry for key {quote(name)}")
        return MISSING if self._library.missing_key == "default" else None

    def _call(self, dot: Any, name: str, node: Node, rest: list[Node], final: Any) -> Any:
        function = self._library.functions[name]
        if name in ("and", "or") and (rest or final is not _NOTHING):
            return self._until(dot, name == "or", rest, final)
        return self._invoke(name, function, node, _Given(dot, rest, final))

    def _invoke(self, name: str, function: Function, node: Node, given: _Given) -> Any:
        rest, final = given.rest, given.final
        count = len(rest) + (final is not _NOTHING)
        if function.most is None and count < function.least:
            self._fail(f"wrong number of args for {name}: want at least {function.least} got {count}")
        if function.most is not None and not function.least <= count <= function.most:
            self._fail(f"wrong number of args for {name}: want {function.least} got {count}")
        values = [
            self._check_argument(argument, given.dot, wanted)
            if (wanted := function.argument_type(place))
            else self._argument(given.dot, argument)
            for place, argument in enumerate(rest)
        ]
        if final is not _NOTHING:
            if wanted := function.argument_type(len(rest)):
                self._check_type(final, wanted)
            values.append(final)
        self._spent.steps += len(values)
        try:
            if name == "call":
                raise CallError(f"non-function {rest[0] if rest else ''} of type {type_name(values[0])}")
            return self._charge_result(function.call(*values))
        except CallError as error:
            self._node = node
            self._fail(f"error calling {name}: {error}")

    def _charge_result(self, value: Any) -> Any:
        """Count a function's result against the limit, since variables can make it grow, and return it."""
        if isinstance(value, (str, list)):
            self._count(len(value))
        return value

    def _until(self, dot: Any, wanted: bool, rest: list[Node], final: Any) -> Any:
        value = _NOTHING
        for argument in rest:
            value = self._argument(dot, argument)
            if truth(value) == wanted:
                return value
        return value if final is _NOTHING else final

    def _check_argument(self, node: Node, dot: Any, wanted: str) -> Any:
        if isinstance(node, (Constant, NilNode)):
            self._node = node
            if isinstance(node, NilNode):
                self._fail(f"cannot assign nil to {wanted}")
            named = CONSTANTS.get(wanted)
            if named is None:
                self._fail(f"can't handle {node} for arg of type {wanted}")
            if not isinstance(node.value, named[1]) or (wanted != "bool" and isinstance(node.value, bool)):
                self._fail(f"expected {named[0]}; found {node}")
            return float(node.value) if wanted == "float64" else self._argument(dot, node)
        value = self._argument(dot, node)
        self._check_type(value, wanted)
        return value

    def _check_type(self, value: Any, wanted: str) -> None:
        if value is MISSING:
            self._fail(f"invalid value; expected {wanted}")
        if value is None:
            self._fail(f"wrong type for value; expected {wanted}; got interface {{}}")
        found = type_name(value)
        if found != wanted:
            self._fail(f"wrong type for value; expected {wanted}; got {found}")
