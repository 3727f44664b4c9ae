"""Compiles the tree of a program to the operations that the machine runs.

Every expression is compiled with its continuation: ``compile(node, then, scope)`` returns the operation that
evaluates ``node`` and continues with ``then``. Names are resolved here; unused functions are not compiled. The
``forms_…`` modules implement the kinds of expressions, which they register with ``form``.

A state is (value, frame, stack, path). The stack is a linked list of tuples. The path is ``None`` unless paths are
being followed; then it is the list of keys so far and the value they lead to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from simcloud.userland.jq.direct import OPERATOR_NAMES, NativeCall, direct
from simcloud.userland.jq.errors import CompileErrors
from simcloud.userland.jq.functions import NATIVES
from simcloud.userland.jq.functions.prelude import PRELUDE, definition
from simcloud.userland.jq.machine import (
    BACK,
    BACK_FRAME,
    DEPTH,
    MAX_DEPTH,
    UP,
    Frame,
    Machine,
    Op,
    State,
)
from simcloud.userland.jq.parser import add_location
from simcloud.userland.jq.run import Run, too_much
from simcloud.userland.jq.scope import Code, Function, Order, Parameter, Scope, Variable, frame_getter
from simcloud.userland.jq.tree import (
    Bind,
    Call,
    Literal,
    Node,
    Value,
    Variable as VariableNode,
    VariablePattern,
)

MAX_NESTING: Final = 128

Form = Callable[["Compiler", Any, Op, Scope], Op]
FORMS: dict[type, Form] = {}
SPECIAL: dict[tuple[str, int], Form] = {}


def form(kind: type) -> Callable[[Form], Form]:
    """Register how a kind of expression is compiled."""

    def register(make: Form) -> Form:
        FORMS[kind] = make
        return make

    return register


def special(name: str, arity: int) -> Callable[[Form], Form]:
    """Register how a call is compiled that is more than a function of its arguments."""

    def register(make: Form) -> Form:
        SPECIAL[name, arity] = make
        return make

    return register


def return_(value: Value, frame: Frame, stack: Any, path: Any) -> State:
    """The end of a function: go on where it was called."""
    return frame[BACK], value, frame[BACK_FRAME], stack, path


class Compiler:
    """Compiles one program for one machine."""

    def __init__(self, machine: Machine, source: bytes, constants: dict[str, Value]) -> None:
        self.machine = machine
        self.run: Run = machine.run
        self.push = machine.forks.append
        self.pop = machine.forks.pop
        self._complaints: dict[Order, str] = {}
        self._source = source
        self._constants = constants
        self._prelude: dict[tuple[str, int], Function] = {}
        self._root = Scope(Code(-1))
        self._waiting: list[tuple[Function, Code]] = []
        self._nesting = 0

    def program(self, tree: Node) -> tuple[Op, Frame]:
        """The operation a program starts with, and its frame. Raises ``CompileErrors``."""
        code = Code(0)
        entry = self.compile(tree, self.machine.emit, Scope(code))
        while self._waiting:
            self._compile_function(*self._waiting.pop())
        if self._complaints:
            raise CompileErrors([text for _, text in sorted(self._complaints.items())])
        code.blank[DEPTH] = 0
        return entry, code.blank

    def compile(self, node: Node, then: Op, scope: Scope) -> Op:
        """Return the operation that evaluates a node and continues with ``then``."""
        self._enter()
        made = FORMS[type(node)](self, node, then, scope)
        self._nesting -= 1
        return made

    def direct(self, node: Node, scope: Scope) -> Callable[[Value, Frame], Value] | None:
        """The node as a plain function, if it is sure to have one result."""
        self._enter()
        made = direct(self, node, scope)
        self._nesting -= 1
        return made

    def _enter(self) -> None:
        """Refuse what would need more of Python's own stack than there surely is."""
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise CompileErrors([f"the program is nested more than {MAX_NESTING} deep"])

    def aside(self, node: Node, then: Op, scope: Scope) -> Op:
        """Work a node out beside the value, which waits on the stack as (value, path, stack)."""
        body = self.compile(node, then, scope)

        def op(value: Value, frame: Frame, stack: Any, path: Any) -> State:
            return body, value, frame, (value, path, stack), None

        return op

    # -- names -------------------------------------------------------------------------------------------

    def variable(self, node: VariableNode, scope: Scope) -> Variable | Literal:
        """Resolve a variable: a slot, or a constant from the command line."""
        found = scope.variables.get(node.name)
        if found is not None:
            return found
        if node.name in self._constants:
            return Literal(self._constants[node.name])
        self._complain(f"${node.name} is not defined", node.at, scope)
        return Literal(None)

    def native(self, node: Call, scope: Scope) -> NativeCall | None:
        """The Python function a call means, if it means one."""
        key = node.name, len(node.arguments)
        if key in scope.functions or key not in NATIVES:
            return None
        if node.name not in OPERATOR_NAMES:
            return NativeCall(NATIVES[key], list(node.arguments))
        return self._chain(node, scope)

    def _chain(self, node: Call, scope: Scope) -> NativeCall:
        """``a + b - c`` as one call, so that a long chain is not a deep tree."""
        names: list[str] = []
        operands: list[Node] = []
        rest: Node = node
        while (
            isinstance(rest, Call) and rest.name in OPERATOR_NAMES and (rest.name, 2) not in scope.functions
        ):
            names.append(rest.name)
            operands.append(rest.arguments[1])
            rest = rest.arguments[0]
        operands.append(rest)
        functions = [NATIVES[name, 2] for name in reversed(names)]
        if len(functions) == 1:
            return NativeCall(functions[0], operands[::-1])

        def chain(run: Run, value: Value, first: Value, *others: Value) -> Value:
            for function, other in zip(functions, others, strict=True):
                first = function(run, value, first, other)
            return first

        return NativeCall(chain, operands[::-1])

    def _complain(self, message: str, at: int, scope: Scope) -> None:
        """Note a mistake: a function's own come first, then those of functions inside it."""
        self._complaints[*scope.order, (0, at, 0)] = add_location(message, self._source, max(at, 0))

    # -- calls -------------------------------------------------------------------------------------------

    def call(self, node: Call, then: Op, scope: Scope) -> Op:
        """A call of a function written in jq, or of a parameter."""
        key = node.name, len(node.arguments)
        function = scope.functions.get(key)
        if function is None and key in SPECIAL:
            return SPECIAL[key](self, node, then, scope)
        if isinstance(function, Parameter):
            return self._call_parameter(function, then, scope)
        if function is None:
            function = self._from_prelude(key)
        if function is None:
            self._complain(f"{node.name}/{len(node.arguments)} is not defined", node.at, scope)
            return then
        makers = [
            self.closure(argument, scope.argument(node.at, number))
            for number, argument in enumerate(node.arguments)
        ]
        code = self._code_of(function)
        hops = scope.hops(function.scope.code)
        return self._call_code(code, hops, makers, then)

    def _from_prelude(self, key: tuple[str, int]) -> Function | None:
        if key not in self._prelude and key in PRELUDE:
            self._prelude[key] = Function(definition(*key), self._root)
        return self._prelude.get(key)

    def _code_of(self, function: Function) -> Code:
        """The code of a function; what it does is compiled later, once it has been used."""
        if function.code is None:
            function.code = Code(function.scope.code.level + 1)
            self._waiting.append((function, function.code))
        return function.code

    def _compile_function(self, function: Function, code: Code) -> None:
        meaning = function.definition
        scope = function.scope.argument(-1, 0).inside(code)
        scope = scope.with_function(meaning.name, len(meaning.parameters), function)
        for parameter in meaning.parameters:
            scope = scope.with_function(parameter.removeprefix("$"), 0, Parameter(code, code.new_slot()))
        body = meaning.body
        for parameter in reversed(meaning.parameters):
            if parameter.startswith("$"):
                name = parameter[1:]
                body = Bind(Call(name, ()), (VariablePattern(name),), body)
        code.entry = self.compile(body, return_, scope)

    def closure(self, node: Node, scope: Scope) -> Callable[[Frame], Any]:
        """Compile the argument of a call: code and its frame."""
        if isinstance(node, Call) and not node.arguments:
            passed = scope.functions.get((node.name, 0))
            if isinstance(passed, Parameter):
                up, slot = frame_getter(scope.hops(passed.code)), passed.slot
                return lambda frame: up(frame)[slot]
        code = Code(scope.code.level + 1)
        code.entry = self.compile(node, return_, scope.inside(code))
        return lambda frame: (code, frame)

    def _call_parameter(self, parameter: Parameter, then: Op, scope: Scope) -> Op:
        up, slot = frame_getter(scope.hops(parameter.code)), parameter.slot
        tail = then is return_

        def op(value: Value, frame: Frame, stack: Any, path: Any) -> State:
            code, home = up(frame)[slot]
            new = code.blank.copy()
            new[UP] = home
            if tail:
                new[1:4] = frame[1:4]
            else:
                depth = frame[DEPTH] + 1
                if depth > MAX_DEPTH:
                    raise too_much(f"calls nested more than {MAX_DEPTH} deep")
                new[1:4] = then, frame, depth
            return code.entry, value, new, stack, path

        return op

    def _call_code(self, code: Code, hops: int, makers: list[Callable[[Frame], Any]], then: Op) -> Op:
        up = frame_getter(hops)
        tail = then is return_
        in_prelude = code.level == 0
        slots = list(enumerate(makers, UP + 4))

        def op(value: Value, frame: Frame, stack: Any, path: Any) -> State:
            new = code.blank.copy()
            if not in_prelude:
                new[UP] = up(frame)
            if tail:
                new[1:4] = frame[1:4]
            else:
                depth = frame[DEPTH] + 1
                if depth > MAX_DEPTH:
                    raise too_much(f"calls nested more than {MAX_DEPTH} deep")
                new[1:4] = then, frame, depth
            for slot, make in slots:
                new[slot] = make(frame)
            return code.entry, value, new, stack, path

        return op
