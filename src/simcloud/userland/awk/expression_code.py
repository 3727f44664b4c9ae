"""Compiled expressions: those that never wait."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final, NoReturn

from simcloud.userland.awk import tree
from simcloud.userland.awk.arithmetic import ARITHMETIC
from simcloud.userland.awk.assignment_code import AssignmentCompiler, chain_of
from simcloud.userland.awk.code import Frame, Kind, Run
from simcloud.userland.awk.control import EXIT, NEXT, NEXTFILE, Unwind
from simcloud.userland.awk.errors import Fatal
from simcloud.userland.awk.patterns import Pattern, compile_pattern
from simcloud.userland.awk.runtime import SMALL_TEXT, Runtime
from simcloud.userland.awk.values import (
    UNSET,
    Value,
    looks_numeric,
    numeric,
    text_to_number,
    truth,
)

RELATIONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}


class ExpressionCompiler(AssignmentCompiler):
    """Compiles expressions to the kind of result that is wanted."""

    # -- the four kinds of result --------------------------------------------------------------

    def number(self, node: tree.Expr) -> Run:
        """Code that gives a number."""
        node = bare(node)
        if isinstance(node, tree.Field):
            text = self.field_text(node)
            return lambda frame: text_to_number(text(frame))
        kind, run = self.natural(node)
        if kind is Kind.NUMBER:
            return run
        if kind is Kind.TRUTH:
            return lambda frame: 1.0 if run(frame) else 0.0
        if kind is Kind.TEXT:
            return lambda frame: text_to_number(run(frame))

        def convert(frame: Frame) -> float:
            value = run(frame)
            return value if type(value) is float else text_to_number(value)

        return convert

    def text(self, node: tree.Expr) -> Run:
        """Code that gives a string."""
        return self._as_text(node, self.runtime.to_text)

    def shown(self, node: tree.Expr) -> Run:
        """Code for what ``print`` shows of an expression."""
        return self._as_text(node, self.runtime.shown)

    def _as_text(self, node: tree.Expr, to_text: Callable[[Value], str]) -> Run:
        node = bare(node)
        if isinstance(node, tree.Field):
            return self.field_text(node)
        if isinstance(node, tree.Number) and node.value.is_integer():
            constant = to_text(node.value)
            return lambda frame: constant
        kind, run = self.natural(node)
        if kind is Kind.TEXT:
            return run
        if kind is Kind.TRUTH:
            return lambda frame: "1" if run(frame) else "0"

        def convert(frame: Frame) -> str:
            value = run(frame)
            return value if isinstance(value, str) else to_text(value)

        return convert

    def value(self, node: tree.Expr) -> Run:
        """Code for a value of whatever type."""
        kind, run = self.natural(bare(node))
        if kind is Kind.TRUTH:
            return lambda frame: 1.0 if run(frame) else 0.0
        return run

    def truth(self, node: tree.Expr) -> Run:
        """Code that gives True or False."""
        kind, run = self.natural(bare(node))
        if kind is Kind.TRUTH:
            return run
        if kind is Kind.NUMBER:
            return lambda frame: run(frame) != 0.0
        if kind is Kind.TEXT:
            return lambda frame: run(frame) != ""
        return lambda frame: truth(run(frame))

    def natural(self, node: tree.Expr) -> tuple[Kind, Run]:
        """Code for an expression, and the kind of result it gives by its nature."""
        match node:
            case tree.Number() | tree.Text():
                constant = node.value
                return (Kind.NUMBER if isinstance(node, tree.Number) else Kind.TEXT), lambda frame: constant
            case tree.Temporary():
                slot = node.slot
                return Kind.VALUE, lambda frame: frame[slot]
            case tree.Group():
                return self.natural(node.inner)
            case tree.Name() | tree.Index() | tree.Field():
                return Kind.VALUE, self.read(node)
            case tree.Assign():
                return self.assign(node)
            case tree.Increment():
                return Kind.NUMBER, self.increment(node)
            case tree.Conditional():
                condition, yes, no = self.truth(node.condition), self.value(node.yes), self.value(node.no)
                return Kind.VALUE, lambda frame: yes(frame) if condition(frame) else no(frame)
            case tree.Concat():
                return Kind.TEXT, self.concatenation(chain_of(node))
            case tree.Binary():
                return Kind.NUMBER, self._binary(node)
            case tree.Sign():
                operand = self.number(node.operand)
                return Kind.NUMBER, operand if node.operator == "+" else lambda frame: -operand(frame)
            case tree.Call():
                return Kind.VALUE, self.call(node)
            case tree.Builtin():
                return self.builtin(node)
        return Kind.TRUTH, self._condition(node)

    def _condition(self, node: tree.Expr) -> Run:
        match node:
            case tree.Regex():
                pattern, record = self.literal_pattern(node), self.runtime.record
                return lambda frame: pattern().found_in(record.whole() if record.stale else record.text)
            case tree.Logical():
                left, right = self.truth(node.left), self.truth(node.right)
                if node.operator == "&&":
                    return lambda frame: left(frame) and right(frame)
                return lambda frame: left(frame) or right(frame)
            case tree.Not():
                operand = self.truth(node.operand)
                return lambda frame: not operand(frame)
            case tree.Match():
                return self._match(node)
            case tree.Compare():
                return self._compare(node)
            case tree.Member():
                key, array = self.key(node.subscripts), self.array(node.array)
                return lambda frame: key(frame) in array(frame)
        raise AssertionError(f"{type(node).__name__} waits and is not compiled here")

    # -- arithmetic ----------------------------------------------------------------------------

    def _binary(self, node: tree.Binary) -> Run:
        left, right = self.number(node.left), self.number(node.right)
        match node.operator:
            case "+":
                return lambda frame: left(frame) + right(frame)
            case "-":
                return lambda frame: left(frame) - right(frame)
            case "*":
                return lambda frame: left(frame) * right(frame)
        operation = ARITHMETIC[node.operator]
        return lambda frame: operation(left(frame), right(frame))

    # -- strings -------------------------------------------------------------------------------

    def concatenation(self, parts: list[tree.Expr]) -> Run:
        """Code that joins parts."""
        runs = [self.text(part) for part in parts]
        pay = self.runtime.pay

        def join(frame: Frame) -> str:
            joined = "".join([run(frame) for run in runs])
            if len(joined) > SMALL_TEXT:
                pay(len(joined))
            return joined

        if len(runs) != 2:
            return join
        first, second = runs

        def join_two(frame: Frame) -> str:
            joined: str = first(frame) + second(frame)
            if len(joined) > SMALL_TEXT:
                pay(len(joined))
            return joined

        return join_two

    # -- comparing and matching ----------------------------------------------------------------

    def _compare(self, node: tree.Compare) -> Run:
        relation = RELATIONS[node.operator]
        runtime = self.runtime
        left_node, right_node = bare(node.left), bare(node.right)
        if isinstance(right_node, tree.Text) or isinstance(left_node, tree.Text):
            left_text, right_text = self.text(left_node), self.text(right_node)

            def compare_texts(frame: Frame) -> bool:
                left, right = left_text(frame), right_text(frame)
                if runtime.ignore_case:
                    left, right = left.lower(), right.lower()
                return relation(left, right)

            return compare_texts
        if isinstance(right_node, tree.Number) and isinstance(left_node, tree.Field):
            return self._compare_field(left_node, relation, right_node.value)
        left_value, right_value = self.value(left_node), self.value(right_node)

        def compare(frame: Frame) -> bool:
            left, right = left_value(frame), right_value(frame)
            if type(left) is float and type(right) is float:
                return relation(left, right)
            left_number = numeric(left)
            if left_number is not None:
                right_number = numeric(right)
                if right_number is not None:
                    return relation(left_number, right_number)
            left, right = runtime.to_text(left), runtime.to_text(right)
            if runtime.ignore_case:
                left, right = left.lower(), right.lower()
            return relation(left, right)

        return compare

    def _compare_field(self, node: tree.Field, relation: Callable[[Any, Any], bool], constant: float) -> Run:
        """``$n < 10`` and the like, of which programs are full."""
        runtime, record, which = self.runtime, self.runtime.record, self.field_number(node)

        def compare(frame: Frame) -> bool:
            place = which(frame) - 1
            fields = record.fields or record.split()
            if record.values or not 0 <= place < len(fields):
                value = record.value(place + 1)
                number = numeric(value)
            else:
                value = fields[place]
                number = looks_numeric(value)
            if number is not None:
                return relation(number, constant)
            return relation(value, runtime.to_text(constant))

        return compare

    def literal_pattern(self, node: tree.Regex) -> Callable[[], Pattern]:
        """The compiled pattern of a regular expression in the program's text."""
        runtime, source = self.runtime, node.source
        strict = compile_pattern(source, runtime.locale)

        def current() -> Pattern:
            return runtime.pattern(source) if runtime.ignore_case else strict

        return current

    def pattern(self, node: tree.Expr, place: str) -> Callable[[Frame], Pattern]:
        """Code for the pattern that an operand of ``~`` or an argument stands for."""
        node = bare(node)
        if isinstance(node, tree.Regex):
            literal = self.literal_pattern(node)
            return lambda frame: literal()
        source, compiled = self.text(node), self.runtime.pattern
        return lambda frame: compiled(source(frame), place)

    def _match(self, node: tree.Match) -> Run:
        text, pattern = self.text(node.left), self.pattern(node.right, node.place)
        negated = node.negated

        def run(frame: Frame) -> bool:
            searched = text(frame)
            return pattern(frame).found_in(searched) is not negated

        return run

    # -- functions -----------------------------------------------------------------------------

    def argument(self, node: tree.Expr, wants_array: bool) -> Run:
        """Code for an argument: arrays are passed as they are, everything else by value."""
        if isinstance(node, tree.Name) and (wants_array or self._may_hold_array(node.name)):
            holder, slot = self._holder(node.name)
            find = self.array(node)

            def give(frame: Frame) -> Any:
                value = (frame if holder is None else holder)[slot]
                return find(frame) if wants_array and value is UNSET else value

            return give
        if isinstance(node, tree.Index) and self.analysis.has_nested_arrays:
            if wants_array:
                return self.array(node)
            find, key = self.array(node.array), self.key(node.subscripts)
            return lambda frame: find(frame).setdefault(key(frame), UNSET)
        return self.value(node)

    def call_frame(self, node: tree.Call) -> Run:
        """Code for the frame of a call, with the arguments in it."""
        code = self.unit.functions[node.name]
        arguments = [
            self.argument(argument, code.takes_arrays[place] if place < len(code.takes_arrays) else False)
            for place, argument in enumerate(node.arguments)
        ]
        count, scope = len(code.parameters), code.scope

        def prepare(frame: Frame) -> Frame:
            given = [argument(frame) for argument in arguments]
            inner = scope.frame()
            inner[1 : 1 + min(len(given), count)] = given[:count]
            return inner

        return prepare

    def call(self, node: tree.Call) -> Run:
        """Code for a call of one of the program's functions."""
        code = self.unit.functions.get(node.name)
        if code is None:
            return self._undefined_call(node)
        prepare, runtime = self.call_frame(node), self.runtime

        def run(frame: Frame) -> Any:
            inner = prepare(frame)
            runtime.enter_call()
            try:
                signal = code.body(inner)
            finally:
                runtime.leave_call()
            if signal in LEAVES_FUNCTION:
                leave_rule(signal, runtime)
            return inner[0]

        return run

    def _undefined_call(self, node: tree.Call) -> Run:
        def fail(frame: Frame) -> Any:
            raise Fatal(f"function `{node.name}' not defined", node.place)

        return fail

    def array_argument(self, node: tree.Builtin, place: int, ordinal: str) -> Run | None:
        """Code for an argument that must be an array; None if it was left out."""
        if place >= len(node.arguments):
            return None
        argument = bare(node.arguments[place])
        complaint = f"{node.name}: {ordinal} argument is not an array"

        def fail(frame: Frame) -> Any:
            raise Fatal(complaint)

        if not isinstance(argument, tree.Name | tree.Index):
            return fail
        array = self.array(argument)
        if isinstance(argument, tree.Index):
            return array
        holder, slot = self._holder(argument.name)

        def find(frame: Frame) -> Any:
            found = (frame if holder is None else holder)[slot]
            if type(found) is not dict and found is not UNSET:
                raise Fatal(complaint)
            return array(frame)

        return find

    def builtin(self, node: tree.Builtin) -> tuple[Kind, Run]:
        """Code for a call of one of the language's functions."""
        raise NotImplementedError


LEAVES_FUNCTION: Final = frozenset((NEXT, NEXTFILE, EXIT))


def leave_rule(signal: int, runtime: Runtime) -> NoReturn:
    """Leave the rule that called the function in which the signal was given."""
    if signal != EXIT and runtime.rule_kind != "record":
        word = "next" if signal == NEXT else "nextfile"
        raise Fatal(f"`{word}' cannot be called from a `{runtime.rule_kind}' rule")
    raise Unwind(signal)


def bare(node: tree.Expr) -> tree.Expr:
    """The expression inside parentheses."""
    while isinstance(node, tree.Group):
        node = node.inner
    return node
