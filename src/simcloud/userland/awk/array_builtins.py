"""The built-in functions on arrays, and the iteration orders of arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from typing import Any, Final

from simcloud.patterns import RegexError
from simcloud.userland.awk import tree, variables
from simcloud.userland.awk.code import Compiled, Frame, Kind, Unit
from simcloud.userland.awk.errors import Fatal
from simcloud.userland.awk.expression_code import ExpressionCompiler
from simcloud.userland.awk.fields import (
    pay_for_split,
    split_matches,
    splitter_for,
)
from simcloud.userland.awk.runtime import ELEMENT_BYTES, Runtime
from simcloud.userland.awk.values import Array, Cell, Input, numeric, to_number

Pair = tuple[str, Cell]


# -- splitting ---------------------------------------------------------------------------------


def split(compiler: ExpressionCompiler, node: tree.Builtin) -> Compiled:
    """``split(text, array, separator)``: how many parts."""
    arguments = node.arguments
    runtime, text = compiler.runtime, compiler.text(arguments[0])
    array = compiler.array_argument(node, 1, "second")
    cut = _cutter(compiler, tree.strip_groups(arguments[2]) if len(arguments) > 2 else None, node.place)

    def run(frame: Frame) -> float:
        whole = text(frame)
        pay_for_split(whole, runtime.pay)
        parts = cut(frame, whole)
        assert array is not None
        _fill(runtime, array(frame), parts)
        return float(len(parts))

    return Kind.NUMBER, run


Cutter = Callable[[Frame, str], list[str]]


def _cutter(compiler: ExpressionCompiler, separator: tree.Expr | None, place: str) -> Cutter:
    runtime = compiler.runtime
    if isinstance(separator, tree.Regex):
        pattern = compiler.pattern(separator, place)
        return lambda frame, text: split_matches(text, pattern(frame), runtime.pay)
    given = compiler.text(separator) if separator is not None else compiler.text(tree.Name("FS"))

    def cut(frame: Frame, text: str) -> list[str]:
        written = given(frame)
        try:
            divide = splitter_for(written, runtime.locale, runtime.pay, ignore_case=runtime.ignore_case)
        except RegexError as error:
            raise Fatal(f"invalid regexp: {error}: /{written}/") from None
        return divide(text)

    return cut


def _fill(runtime: Runtime, array: Array, parts: list[str]) -> None:
    runtime.pay(len(parts) * ELEMENT_BYTES)
    array.clear()
    for number, part in enumerate(parts, 1):
        array[str(number)] = Input(part)


# -- orders ------------------------------------------------------------------------------------


def _index_as_text(runtime: Runtime, pair: Pair) -> Any:
    return pair[0]


def _index_as_number(runtime: Runtime, pair: Pair) -> Any:
    return to_number(pair[0]), pair[0]


def _value_as_text(runtime: Runtime, pair: Pair) -> Any:
    is_array, text = _scalar_text(runtime, pair)
    return is_array, text, pair[0]


def _value_as_number(runtime: Runtime, pair: Pair) -> Any:
    is_array, text = _scalar_text(runtime, pair)
    number = 0.0 if isinstance(pair[1], dict) else to_number(pair[1])
    return is_array, number, text, pair[0]


def _value_by_type(runtime: Runtime, pair: Pair) -> Any:
    is_array, text = _scalar_text(runtime, pair)
    number = None if isinstance(pair[1], dict) else numeric(pair[1])
    return (2 if is_array else 1 if number is None else 0), number or 0.0, text, pair[0]


def _scalar_text(runtime: Runtime, pair: Pair) -> tuple[bool, str]:
    value = pair[1]
    return (True, "") if isinstance(value, dict) else (False, runtime.to_text(value))


_ORDERS: Final[dict[str, Callable[[Runtime, Pair], Any]]] = {
    "ind_str": _index_as_text,
    "ind_num": _index_as_number,
    "val_str": _value_as_text,
    "val_num": _value_as_number,
    "val_type": _value_by_type,
}


def in_order(unit: Unit, array: Array, order: str) -> list[Pair]:
    """Sort the elements by an order such as ``@val_num_desc``, or by a function of the program."""
    pairs = list(array.items())
    if order in ("", "@unsorted"):
        return pairs
    if not order.startswith("@"):
        return sorted(pairs, key=cmp_to_key(_comparison(unit, order)))
    name, _, direction = order[1:].rpartition("_")
    if name not in _ORDERS or direction not in ("asc", "desc"):
        raise Fatal(f"sort comparison function `{order}' is not defined")
    key = _ORDERS[name]
    return sorted(pairs, key=lambda pair: key(unit.runtime, pair), reverse=direction == "desc")


def _comparison(unit: Unit, name: str) -> Callable[[Pair, Pair], int]:
    code = unit.functions.get(name)
    if code is None:
        raise Fatal(f"sort comparison function `{name}' is not defined")
    if code.waits:
        raise Fatal(f"sort comparison function `{name}' must not print, read or run commands")

    def compare(left: Pair, right: Pair) -> int:
        if isinstance(left[1], dict) or isinstance(right[1], dict):
            raise Fatal(f"sort comparison function `{name}' cannot compare arrays")
        frame = code.scope.frame()
        given = [left[0], left[1], right[0], right[1]][: len(code.parameters)]
        frame[1 : 1 + len(given)] = given
        unit.runtime.enter_call()
        code.body(frame)
        unit.runtime.leave_call()
        number = to_number(frame[0])
        return (number > 0) - (number < 0)

    return compare


def loop_order(unit: Unit, array: Array) -> list[str]:
    """Return the subscripts in the order of ``for (k in array)``: insertion order, or PROCINFO["sorted_in"]."""
    order = unit.runtime.globals[variables.PROCINFO].get("sorted_in")
    if not isinstance(order, str) or not order:
        return list(array)
    return [subscript for subscript, _ in in_order(unit, array, order)]


# -- sorting -----------------------------------------------------------------------------------


def asort(compiler: ExpressionCompiler, node: tree.Builtin) -> Compiled:
    """``asort(array, result, order)``: the values, numbered in order."""
    return _compile_sort(compiler, node, "@val_type_asc", lambda pair: pair[1])


def asorti(compiler: ExpressionCompiler, node: tree.Builtin) -> Compiled:
    """``asorti(array, result, order)``: the subscripts, numbered in order."""
    return _compile_sort(compiler, node, "@ind_str_asc", lambda pair: pair[0])


def _compile_sort(
    compiler: ExpressionCompiler, node: tree.Builtin, usual: str, pick: Callable[[Pair], Cell]
) -> Compiled:
    source = compiler.array_argument(node, 0, "first")
    result = compiler.array_argument(node, 1, "second") or source
    order = compiler.text(node.arguments[2]) if len(node.arguments) > 2 else None
    runtime = compiler.runtime

    def run(frame: Frame) -> float:
        assert source is not None
        assert result is not None
        pairs = in_order(compiler.unit, source(frame), usual if order is None else order(frame))
        picked = [pick(pair) for pair in pairs]
        runtime.pay(len(picked) * ELEMENT_BYTES)
        array = result(frame)
        array.clear()
        array.update((str(number), value) for number, value in enumerate(picked, 1))
        return float(len(picked))

    return Kind.NUMBER, run


ARRAY_BUILTINS: Final = {"split": split, "asort": asort, "asorti": asorti}
