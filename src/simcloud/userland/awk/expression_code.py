"""Compiles the expressions that never wait, with the variables, fields and assignments in them.

An expression is compiled to the kind of result that is wanted of it: a number, a text, a truth or any value.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final, TypeGuard, cast

from simcloud.userland.awk import tree, variables
from simcloud.userland.awk.arithmetic import ARITHMETIC, assignment_operation
from simcloud.userland.awk.code import (
    LEAVES_FUNCTION,
    Compiled,
    Frame,
    Kind,
    Run,
    Scope,
    Store,
    Unit,
    leave_rule,
)
from simcloud.userland.awk.errors import Fatal
from simcloud.userland.awk.fields import NO_FIELD
from simcloud.userland.awk.operands import change_array
from simcloud.userland.awk.patterns import Pattern, compile_pattern
from simcloud.userland.awk.runtime import ELEMENT_BYTES, SMALL_TEXT
from simcloud.userland.awk.values import (
    UNSET,
    UNSET_SCALAR,
    Array,
    Input,
    Value,
    looks_numeric,
    numeric,
    text_to_number,
    to_number,
    truth,
)
from simcloud.userland.awk.variables import WATCHED

RELATIONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}

Change = Callable[[Frame, float], float]
"""Computes the new number of a variable, element or field from the frame and the old number."""


class ExpressionCompiler:
    """Compiles expressions of one function or rule."""

    def __init__(self, unit: Unit, scope: Scope) -> None:
        self.unit = unit
        self.runtime = unit.runtime
        self.analysis = unit.analysis
        self.scope = scope

    # -- the four kinds of result --------------------------------------------------------------

    def number(self, node: tree.Expr) -> Run:
        """Return code for a number."""
        node = tree.strip_groups(node)
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
        """Return code for a string."""
        return self._as_text(node, self.runtime.to_text)

    def print_text(self, node: tree.Expr) -> Run:
        """Return code for the text that ``print`` writes for an expression."""
        return self._as_text(node, self.runtime.print_text)

    def _as_text(self, node: tree.Expr, to_text: Callable[[Value], str]) -> Run:
        node = tree.strip_groups(node)
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
        """Return code for a value of any type."""
        kind, run = self.natural(tree.strip_groups(node))
        if kind is Kind.TRUTH:
            return lambda frame: 1.0 if run(frame) else 0.0
        return run

    def truth(self, node: tree.Expr) -> Run:
        """Return code for True or False."""
        kind, run = self.natural(tree.strip_groups(node))
        if kind is Kind.TRUTH:
            return run
        if kind is Kind.NUMBER:
            return lambda frame: run(frame) != 0.0
        if kind is Kind.TEXT:
            return lambda frame: run(frame) != ""
        return lambda frame: truth(run(frame))

    def natural(self, node: tree.Expr) -> Compiled:
        """Return code for an expression, and the natural kind of its result."""
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
                return Kind.TEXT, self.concatenation(tree.list_concatenated(node))
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
                return lambda frame: pattern().matches_in(record.whole() if record.stale else record.text)
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
        """Return code that joins parts."""
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
        left_node, right_node = tree.strip_groups(node.left), tree.strip_groups(node.right)
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
        """Compile ``$n < 10`` and the like, a fast path for a common form."""
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
        node = tree.strip_groups(node)
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
            return pattern(frame).matches_in(searched) is not negated

        return run

    # -- names ---------------------------------------------------------------------------------

    def _use(self, name: str) -> tuple[str, str]:
        return (self.scope.function if name in self.scope.slots else "", name)

    def _holder(self, name: str) -> tuple[list[Any] | None, int]:
        """Return the list that holds a name's value (None: the frame) and its index."""
        if name in self.scope.slots:
            return None, self.scope.slots[name]
        return self.runtime.globals, self.unit.slots[name]

    def _may_hold_array(self, name: str) -> bool:
        use = self._use(name)
        return use in self.analysis.arrays or use in self.analysis.passed_arrays

    def _array_in_scalar_place(self, name: str) -> Fatal:
        origin = self.analysis.passed_arrays.get(self._use(name))
        shown = f"{name} (from {origin})" if origin else name
        return Fatal(f"attempt to use array `{shown}' in a scalar context")

    def read_name(self, node: tree.Name) -> Run:
        """Code for the value of a variable."""
        name = node.name
        holder, slot = self._holder(name)
        if holder is not None and slot == variables.NF:
            record = self.runtime.record
            return lambda frame: float(len(record.split()))
        if not self._may_hold_array(name):
            if holder is None:
                return lambda frame: frame[slot]
            return lambda frame: holder[slot]

        def read_checked(frame: Frame) -> Value:
            place = frame if holder is None else holder
            value: Any = place[slot]
            if type(value) is dict:
                raise self._array_in_scalar_place(name)
            if value is UNSET:
                place[slot] = UNSET_SCALAR
            return cast(Value, value)

        return read_checked

    def _store_name(self, name: str) -> Store:
        holder, slot = self._holder(name)
        if holder is not None and name in WATCHED:
            watch = self.runtime.watch

            def store_watched(frame: Frame, value: Value) -> None:
                holder[slot] = value
                watch(name, value)

            return store_watched
        if self._may_hold_array(name):

            def store_checked(frame: Frame, value: Value) -> None:
                place = frame if holder is None else holder
                if type(place[slot]) is dict:
                    raise self._array_in_scalar_place(name)
                place[slot] = value

            return store_checked

        def store(frame: Frame, value: Value) -> None:
            (frame if holder is None else holder)[slot] = value

        return store

    # -- arrays --------------------------------------------------------------------------------

    def array(self, node: tree.Name | tree.Index) -> Run:
        """Return code for an array, which is created if it does not exist."""
        if isinstance(node, tree.Index):
            return self._element_array(node)
        name = node.name
        holder, slot = self._holder(name)
        if holder is not None and self.constant_array(node) is not None:
            fixed = self.constant_array(node)
            return lambda frame: fixed
        local = holder is None

        def find(frame: Frame) -> Array:
            place = frame if holder is None else holder
            found = place[slot]
            if type(found) is dict:
                return found
            if found is not UNSET:
                kind = "scalar parameter" if local else "scalar"
                raise Fatal(f"attempt to use {kind} `{name}' as an array")
            created: Array = {}
            place[slot] = created
            return created

        return find

    def constant_array(self, node: tree.Name | tree.Index) -> Array | None:
        """Return the array of a global name that is only ever used as an array, or None."""
        if isinstance(node, tree.Index) or node.name in self.scope.slots:
            return None
        use = ("", node.name)
        if use not in self.analysis.arrays or use in self.analysis.scalars:
            return None
        if node.name in variables.SLOTS and node.name not in variables.PREDEFINED_ARRAYS:
            return None
        slot = self.unit.slots[node.name]
        array = self.runtime.globals[slot]
        if not isinstance(array, dict):
            array = self.runtime.globals[slot] = {}
        return array

    def _element_array(self, node: tree.Index) -> Run:
        outer, key = self.array(node.array), self.key(node.subscripts)
        grow = self.grow

        def find(frame: Frame) -> Array:
            array, subscript = outer(frame), key(frame)
            found = array.get(subscript, UNSET)
            if type(found) is dict:
                return found
            if found is not UNSET:
                raise Fatal(f"attempt to use scalar `{element_name(node, subscript)}' as an array")
            created: Array = {}
            grow(array, subscript, created)
            return created

        return find

    def grow(self, array: Array, subscript: str, value: Any) -> None:
        """Store an element, paying for it if it is new."""
        if subscript not in array:
            self.runtime.pay(ELEMENT_BYTES + len(subscript))
        array[subscript] = value

    def key(self, subscripts: tuple[tree.Expr, ...]) -> Run:
        """Return code for the key of subscripts."""
        if len(subscripts) == 1:
            return self.text(subscripts[0])
        runtime = self.runtime
        parts = [self.text(subscript) for subscript in subscripts]
        return lambda frame: runtime.subscript_separator.join([part(frame) for part in parts])

    def read_element(self, node: tree.Index) -> Run:
        """Return code for the value of an element; reading an element creates it."""
        find, key, grow = self.array(node.array), self.key(node.subscripts), self.grow
        fixed = self.constant_array(node.array)
        if fixed is not None and not self.analysis.has_nested_arrays:

            def read(frame: Frame) -> Any:
                subscript = key(frame)
                value = fixed.get(subscript)
                if value is None:
                    value = UNSET
                    grow(fixed, subscript, value)
                return value

            return read

        def read_checked(frame: Frame) -> Any:
            array, subscript = find(frame), key(frame)
            value = array.get(subscript)
            if value is None:
                value = UNSET
                grow(array, subscript, value)
            elif type(value) is dict:
                raise array_element_as_scalar(node, subscript)
            return value

        return read_checked

    def _store_element(self, node: tree.Index) -> Store:
        find, key, grow = self.array(node.array), self.key(node.subscripts), self.grow
        nested = self.analysis.has_nested_arrays

        def store(frame: Frame, value: Value) -> None:
            array, subscript = find(frame), key(frame)
            if nested and type(array.get(subscript)) is dict:
                raise array_element_as_scalar(node, subscript)
            grow(array, subscript, value)

        return store

    # -- fields --------------------------------------------------------------------------------

    def field_number(self, node: tree.Field) -> Run:
        """Return code for the number of a field."""
        if isinstance(node.index, tree.Number):
            constant = self.runtime.field_number(node.index.value)
            return lambda frame: constant
        index, check = self.number(node.index), self.runtime.field_number
        return lambda frame: check(index(frame))

    def field_text(self, node: tree.Field) -> Run:
        """Code for the text of a field."""
        record = self.runtime.record
        if isinstance(node.index, tree.Number) and node.index.value >= 0:
            number = int(node.index.value)
            if number == 0:
                return lambda frame: record.whole() if record.stale else record.text
            place = number - 1

            def read(frame: Frame) -> str:
                fields = record.fields
                if fields is None:
                    fields = record.split()
                return fields[place] if place < len(fields) else ""

            return read
        which = self.field_number(node)
        return lambda frame: record.get(which(frame))

    def read_field(self, node: tree.Field) -> Run:
        """Code for the value of a field."""
        record = self.runtime.record
        if isinstance(node.index, tree.Number) and node.index.value > 0:
            number = int(node.index.value)

            def read(frame: Frame) -> Value:
                if record.values:
                    return record.value(number)
                fields = record.fields
                if fields is None:
                    fields = record.split()
                return Input(fields[number - 1]) if number <= len(fields) else NO_FIELD

            return read
        which = self.field_number(node)
        return lambda frame: record.value(which(frame))

    def _store_field(self, node: tree.Field) -> Store:
        which, record, to_text = self.field_number(node), self.runtime.record, self.runtime.to_text

        def store(frame: Frame, value: Value) -> None:
            record.assign(which(frame), value, to_text(value))

        return store

    # -- all of them ---------------------------------------------------------------------------

    def read(self, target: tree.Target) -> Run:
        """Code for the value of a variable, element or field."""
        if isinstance(target, tree.Name):
            return self.read_name(target)
        return self.read_element(target) if isinstance(target, tree.Index) else self.read_field(target)

    def store(self, target: tree.Target) -> Store:
        """Code that stores a value into a variable, element or field."""
        if isinstance(target, tree.Name):
            return self._store_name(target.name)
        return self._store_element(target) if isinstance(target, tree.Index) else self._store_field(target)

    def settle(self, target: tree.Target) -> tuple[tree.Target, list[tuple[int, Run]]]:
        """Return the target with its subscripts stored in the frame, and the code that stores them.

        For ``sub(/x/, "y", a[i++])``: the subscripts must be evaluated once, and used twice.
        """
        steps: list[tuple[int, Run]] = []

        def keep(subscript: tree.Expr) -> tree.Expr:
            if isinstance(subscript, tree.Number | tree.Text | tree.Temporary):
                return subscript
            slot = self.scope.keep()
            steps.append((slot, self.text(subscript)))
            return tree.Temporary(slot)

        if isinstance(target, tree.Field):
            if isinstance(target.index, tree.Number):
                return target, []
            slot = self.scope.keep()
            return tree.Field(tree.Temporary(slot)), [(slot, self.number(target.index))]
        return change_array(target, keep), steps

    # -- = -------------------------------------------------------------------------------------

    def assign(self, node: tree.Assign) -> Compiled:
        """Return code that assigns and returns the assigned value."""
        if node.operator:
            return Kind.NUMBER, self._update(node)
        parts = tree.list_concatenated(node.value)
        if len(parts) > 1 and parts[0] == node.target and _is_steady(node.target):
            return Kind.TEXT, self._append(node.target, parts[1:])
        value = self.value(node.value)
        if isinstance(node.target, tree.Name) and self._is_plain(node.target.name):
            return Kind.VALUE, self._assign_plain(node.target.name, value)
        store = self.store(node.target)

        def run(frame: Frame) -> Any:
            new = value(frame)
            store(frame, new)
            return new

        return Kind.VALUE, run

    def _is_plain(self, name: str) -> bool:
        watched = name in WATCHED and name not in self.scope.slots
        return not watched and not self._may_hold_array(name)

    def _assign_plain(self, name: str, value: Run) -> Run:
        holder, slot = self._holder(name)
        if holder is None:

            def assign_local(frame: Frame) -> Any:
                frame[slot] = new = value(frame)
                return new

            return assign_local

        def assign_global(frame: Frame) -> Any:
            holder[slot] = new = value(frame)
            return new

        return assign_global

    def _append(self, target: tree.Name | tree.Index, parts: list[tree.Expr]) -> Run:
        """Compile ``s = s x`` so that its time depends on ``x`` only, for programs that collect text.

        Python extends a string in place only without other references to it, so the variable is cleared meanwhile.
        """
        read, store = self.read(target), self.store(target)
        rest = self.concatenation(parts) if len(parts) > 1 else self.text(parts[0])
        to_text, pay = self.runtime.to_text, self.runtime.pay

        def run(frame: Frame) -> str:
            before = read(frame)
            added = rest(frame)
            text: str = before if type(before) is str else "".join((to_text(before),))
            del before
            store(frame, "")
            text += added
            if len(text) > SMALL_TEXT:
                pay(len(added))
            store(frame, text)
            return text

        return run

    # -- += and its kin ------------------------------------------------------------------------

    def _update(self, node: tree.Assign) -> Run:
        operation, amount = assignment_operation(node.operator), self.number(node.value)
        if isinstance(node.target, tree.Name) and self._is_plain(node.target.name):
            return self._update_plain(node.target.name, operation, amount)
        kept = self.scope.keep()
        change = self._change(node.target, lambda frame, old: operation(old, frame[kept]), gives_old=False)

        def run(frame: Frame) -> float:
            frame[kept] = amount(frame)
            result: float = change(frame)
            return result

        return run

    def _update_plain(self, name: str, operation: Callable[[float, float], float], amount: Run) -> Run:
        holder, slot = self._holder(name)

        def run(frame: Frame) -> float:
            right = amount(frame)
            place = frame if holder is None else holder
            value = place[slot]
            left = value if type(value) is float else to_number(value)
            place[slot] = new = operation(left, right)
            return new

        return run

    # -- ++ and -- -----------------------------------------------------------------------------

    def increment(self, node: tree.Increment) -> Run:
        """Return code that increments or decrements and returns the number before or after."""
        step = node.step
        if isinstance(node.target, tree.Name) and self._is_plain(node.target.name):
            return self._increment_plain(node.target.name, step, gives_old=not node.prefix)
        return self._change(node.target, lambda frame, old: old + step, gives_old=not node.prefix)

    def _increment_plain(self, name: str, step: float, *, gives_old: bool) -> Run:
        holder, slot = self._holder(name)

        def run(frame: Frame) -> float:
            place = frame if holder is None else holder
            value = place[slot]
            old = value if type(value) is float else to_number(value)
            place[slot] = new = old + step
            return old if gives_old else new

        return run

    def _change(self, target: tree.Target, change: Change, *, gives_old: bool) -> Run:
        """Return code that changes the number of a target and evaluates its subscripts only once."""
        if isinstance(target, tree.Name):
            return self._change_name(target, change, gives_old)
        if isinstance(target, tree.Index):
            return self._change_element(target, change, gives_old)
        which, record, to_text = self.field_number(target), self.runtime.record, self.runtime.to_text

        def run(frame: Frame) -> float:
            number = which(frame)
            old = to_number(record.value(number))
            new = change(frame, old)
            record.assign(number, new, to_text(new))
            return old if gives_old else new

        return run

    def _change_name(self, target: tree.Name, change: Change, gives_old: bool) -> Run:
        read, store = self.read_name(target), self.store(target)

        def run(frame: Frame) -> float:
            value = read(frame)
            old = value if type(value) is float else to_number(value)
            new = change(frame, old)
            store(frame, new)
            return old if gives_old else new

        return run

    def _change_element(self, target: tree.Index, change: Change, gives_old: bool) -> Run:
        find, key, grow = self.array(target.array), self.key(target.subscripts), self.grow

        def run(frame: Frame) -> float:
            array, subscript = find(frame), key(frame)
            value = array.get(subscript, UNSET)
            if type(value) is float:
                new = array[subscript] = change(frame, value)
                return value if gives_old else new
            if type(value) is dict:
                raise array_element_as_scalar(target, subscript)
            old = to_number(value)
            new = change(frame, old)
            grow(array, subscript, new)
            return old if gives_old else new

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
            return self._fail_undefined(node)
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

    def _fail_undefined(self, node: tree.Call) -> Run:
        def fail(frame: Frame) -> Any:
            raise Fatal(f"function `{node.name}' not defined", node.place)

        return fail

    def array_argument(self, node: tree.Builtin, place: int, ordinal: str) -> Run | None:
        """Code for an argument that must be an array; None if it was left out."""
        if place >= len(node.arguments):
            return None
        argument = tree.strip_groups(node.arguments[place])
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

    def builtin(self, node: tree.Builtin) -> Compiled:
        """Return code for a call of a built-in function that never waits."""
        return self.unit.builtins[node.name](self, node)


def _is_steady(target: tree.Target) -> TypeGuard[tree.Name | tree.Index]:
    """Whether evaluating a target twice gives the same target without side effects."""
    steady = (tree.Name, tree.Index, tree.Number, tree.Text, tree.Field, tree.Temporary)
    return not isinstance(target, tree.Field) and all(isinstance(part, steady) for part in tree.walk(target))


def element_name(node: tree.Index, subscript: str) -> str:
    """Format an element for messages."""
    base: tree.Name | tree.Index = node.array
    while isinstance(base, tree.Index):
        base = base.array
    return f'{base.name}["{subscript}"]'


def array_element_as_scalar(node: tree.Index, subscript: str) -> Fatal:
    """Return the error for an array element that is used as a value."""
    return Fatal(f"attempt to use array `{element_name(node, subscript)}' in a scalar context")
