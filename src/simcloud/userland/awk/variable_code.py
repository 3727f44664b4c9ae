"""Compiled access to variables, array elements and fields."""

from __future__ import annotations

from typing import Any, cast

from simcloud.userland.awk import tree, variables
from simcloud.userland.awk.code import Frame, Run, Scope, Store, Unit
from simcloud.userland.awk.errors import Fatal
from simcloud.userland.awk.fields import NO_FIELD
from simcloud.userland.awk.operands import change_array
from simcloud.userland.awk.runtime import ELEMENT_BYTES
from simcloud.userland.awk.values import UNSET, UNSET_SCALAR, Array, Input, Value
from simcloud.userland.awk.variables import WATCHED


class VariableCompiler:
    """Compiles what stands for a place: to read it, to find it as an array, to store into it."""

    def __init__(self, unit: Unit, scope: Scope) -> None:
        self.unit = unit
        self.runtime = unit.runtime
        self.analysis = unit.analysis
        self.scope = scope

    # Given by the compiler of expressions, which builds on this one.
    def number(self, node: tree.Expr) -> Run:
        """Code that gives a number."""
        raise NotImplementedError

    def text(self, node: tree.Expr) -> Run:
        """Code that gives a string."""
        raise NotImplementedError

    # -- names ---------------------------------------------------------------------------------

    def _use(self, name: str) -> tuple[str, str]:
        return (self.scope.function if name in self.scope.slots else "", name)

    def _holder(self, name: str) -> tuple[list[Any] | None, int]:
        """The list a name's value is in (None: the frame) and its place there."""
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
        """Code for an array itself; one that is not there yet comes into being."""
        if isinstance(node, tree.Index):
            return self._nested_array(node)
        name = node.name
        holder, slot = self._holder(name)
        if holder is not None and self.fixed_array(node) is not None:
            fixed = self.fixed_array(node)
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

    def fixed_array(self, node: tree.Name | tree.Index) -> Array | None:
        """The array of a global name that is never anything else."""
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

    def _nested_array(self, node: tree.Index) -> Run:
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
        """Code for the string that subscripts make."""
        if len(subscripts) == 1:
            return self.text(subscripts[0])
        runtime = self.runtime
        parts = [self.text(subscript) for subscript in subscripts]
        return lambda frame: runtime.subscript_separator.join([part(frame) for part in parts])

    def read_element(self, node: tree.Index) -> Run:
        """Code for the value of an element; looking at one makes it exist."""
        find, key, grow = self.array(node.array), self.key(node.subscripts), self.grow
        fixed = self.fixed_array(node.array)
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
        """Code for which field is meant."""
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
        """The same target with its subscripts kept in the frame, and the code that puts them there.

        For ``sub(/x/, "y", a[i++])``: the subscripts must be worked out once, and used twice.
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


def element_name(node: tree.Index, subscript: str) -> str:
    """An element as messages show it."""
    base: tree.Name | tree.Index = node.array
    while isinstance(base, tree.Index):
        base = base.array
    return f'{base.name}["{subscript}"]'


def array_element_as_scalar(node: tree.Index, subscript: str) -> Fatal:
    """An element that is an array was used as a value."""
    return Fatal(f"attempt to use array `{element_name(node, subscript)}' in a scalar context")
