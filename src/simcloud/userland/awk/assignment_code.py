"""Compiled assignments. The right-hand side is worked out before the place it goes to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeGuard

from simcloud.userland.awk import tree
from simcloud.userland.awk.arithmetic import ARITHMETIC
from simcloud.userland.awk.code import Frame, Kind, Run
from simcloud.userland.awk.errors import Fatal
from simcloud.userland.awk.runtime import SMALL_TEXT
from simcloud.userland.awk.values import UNSET, to_number
from simcloud.userland.awk.variable_code import VariableCompiler, array_element_as_scalar
from simcloud.userland.awk.variables import WATCHED

Change = Callable[[Frame, float], float]
"""The new number of a place, given the frame and the old one."""


class AssignmentCompiler(VariableCompiler):
    """Compiles ``=``, ``+=`` and its kin, ``++`` and ``--``."""

    def value(self, node: tree.Expr) -> Run:
        """Code for a value of whatever type."""
        raise NotImplementedError

    def concatenation(self, parts: list[tree.Expr]) -> Run:
        """Code that joins parts."""
        raise NotImplementedError

    # -- = -------------------------------------------------------------------------------------

    def assign(self, node: tree.Assign) -> tuple[Kind, Run]:
        """Code that assigns and gives what was assigned."""
        if node.operator:
            return Kind.NUMBER, self._update(node)
        parts = chain_of(node.value)
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
        """``s = s x``, in time that depends on ``x`` only, as programs that collect text need it.

        Python extends a string in place when nobody else holds it: so the place lets go of it meanwhile.
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
        operation, amount = _operation(node.operator), self.number(node.value)
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
        """Code that counts up or down and gives the number before or after."""
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
        """Code that replaces the number in a place by another, finding the place once."""
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


def _is_steady(target: tree.Target) -> TypeGuard[tree.Name | tree.Index]:
    """Whether finding a place twice finds the same one and does nothing else."""
    steady = (tree.Name, tree.Index, tree.Number, tree.Text, tree.Field, tree.Temporary)
    return not isinstance(target, tree.Field) and all(isinstance(part, steady) for part in tree.walk(target))


def _operation(operator: str) -> Callable[[float, float], float]:
    operation = ARITHMETIC[operator]
    if operator not in "/%":
        return operation

    def checked(left: float, right: float) -> float:
        if right == 0.0:
            raise Fatal(f"division by zero attempted in `{operator}='")
        return operation(left, right)

    return checked


def chain_of(node: tree.Expr) -> list[tree.Expr]:
    """All parts of ``a b c``, in order."""
    parts: list[tree.Expr] = []
    while isinstance(node, tree.Concat):
        parts.append(node.right)
        node = node.left
    parts.append(node)
    return parts[::-1]
