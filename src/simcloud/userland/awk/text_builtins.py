"""The built-in functions on strings."""

from __future__ import annotations

import math
from typing import Any, Final

from simcloud.userland.awk import tree, variables
from simcloud.userland.awk.code import Compiled, Frame, Kind, Run
from simcloud.userland.awk.errors import Fatal
from simcloud.userland.awk.expression_code import ExpressionCompiler
from simcloud.userland.awk.substitution import (
    general_replacement,
    replace_matches,
    simple_replacement,
)
from simcloud.userland.awk.values import (
    UNSET,
    Input,
    Value,
    text_to_number,
    to_number,
)


def length(compiler: ExpressionCompiler, node: tree.Builtin) -> Compiled:
    """``length(x)``: characters of a string, elements of an array."""
    if not node.arguments:
        text = compiler.field_text(tree.Field(tree.Number(0.0)))
        return Kind.NUMBER, lambda frame: float(len(text(frame)))
    measured = tree.strip_groups(node.arguments[0])
    if not isinstance(measured, tree.Name | tree.Index):
        text = compiler.text(measured)
        return Kind.NUMBER, lambda frame: float(len(text(frame)))
    argument, to_text = compiler.argument(measured, wants_array=False), compiler.runtime.to_text
    as_scalar = compiler.value(measured)

    def run(frame: Frame) -> float:
        value = argument(frame)
        if value is UNSET:
            value = as_scalar(frame)
        return float(len(value if type(value) is dict else to_text(value)))

    return Kind.NUMBER, run


def index(compiler: ExpressionCompiler, node: tree.Builtin) -> Compiled:
    """``index(text, part)``: where the part begins, 0 if nowhere."""
    text, part = (compiler.text(argument) for argument in node.arguments)
    runtime = compiler.runtime

    def run(frame: Frame) -> float:
        if runtime.ignore_case:
            return float(text(frame).lower().find(part(frame).lower()) + 1)
        return float(text(frame).find(part(frame)) + 1)

    return Kind.NUMBER, run


def substr(compiler: ExpressionCompiler, node: tree.Builtin) -> Compiled:
    """``substr(text, start, length)``."""
    text, start = compiler.text(node.arguments[0]), compiler.number(node.arguments[1])
    count = compiler.number(node.arguments[2]) if len(node.arguments) > 2 else None
    charge_text = compiler.runtime.charge_text

    def run(frame: Frame) -> str:
        whole = text(frame)
        begin = _clamp(start(frame), len(whole) + 1) - 1
        if count is None:
            return charge_text(whole[max(begin, 0) :])
        begin = max(begin, 0)
        return charge_text(whole[begin : begin + max(_clamp(count(frame), len(whole)), 0)])

    return Kind.TEXT, run


def _clamp(number: float, most: int) -> int:
    """A position or a length cut down to a whole number that fits."""
    if math.isnan(number):
        return 0
    return int(max(-1.0, min(math.trunc(number) if math.isfinite(number) else number, float(most))))


def toupper(compiler: ExpressionCompiler, node: tree.Builtin) -> Compiled:
    """``toupper(text)``."""
    text, change, charge_text = (
        compiler.text(node.arguments[0]),
        compiler.runtime.locale.upper,
        compiler.runtime.charge_text,
    )
    return Kind.TEXT, lambda frame: charge_text(change(text(frame)))


def tolower(compiler: ExpressionCompiler, node: tree.Builtin) -> Compiled:
    """``tolower(text)``."""
    text, change, charge_text = (
        compiler.text(node.arguments[0]),
        compiler.runtime.locale.lower,
        compiler.runtime.charge_text,
    )
    return Kind.TEXT, lambda frame: charge_text(change(text(frame)))


def sprintf(compiler: ExpressionCompiler, node: tree.Builtin) -> Compiled:
    """``sprintf(format, …)``."""
    arguments = [compiler.value(argument) for argument in node.arguments]
    render = compiler.runtime.format

    def run(frame: Frame) -> str:
        if not arguments:
            raise Fatal("sprintf: no arguments")
        return render([argument(frame) for argument in arguments])

    return Kind.TEXT, run


def sub(compiler: ExpressionCompiler, node: tree.Builtin) -> Compiled:
    """``sub(pattern, replacement, target)``: the first match; how many were replaced."""
    return _substitute(compiler, node, which=1)


def gsub(compiler: ExpressionCompiler, node: tree.Builtin) -> Compiled:
    """``gsub(pattern, replacement, target)``: every match; how many were replaced."""
    return _substitute(compiler, node, which=0)


def _substitute(compiler: ExpressionCompiler, node: tree.Builtin, which: int) -> Compiled:
    pattern, replacement = compiler.pattern(node.arguments[0], node.place), compiler.text(node.arguments[1])
    target = tree.strip_groups(node.arguments[2]) if len(node.arguments) > 2 else tree.Field(tree.Number(0.0))
    runtime = compiler.runtime
    steps: list[tuple[int, Run]] = []
    store: Any = None
    if isinstance(target, tree.Target):
        target, steps = compiler.settle(target)
        store = compiler.store(target)
    text = compiler.text(target)

    def run(frame: Frame) -> float:
        compiled, written = pattern(frame), simple_replacement(replacement(frame))
        for slot, work_out in steps:
            frame[slot] = work_out(frame)
        before = text(frame)
        after, count = replace_matches(before, compiled, written, which, runtime.pay)
        if count and store is not None:
            store(frame, runtime.charge_text(after))
        return float(count)

    return Kind.NUMBER, run


def gensub(compiler: ExpressionCompiler, node: tree.Builtin) -> Compiled:
    """``gensub(pattern, replacement, how, text)``: the changed text; nothing is assigned."""
    pattern, replacement = compiler.pattern(node.arguments[0], node.place), compiler.text(node.arguments[1])
    how = compiler.value(node.arguments[2])
    text = compiler.text(node.arguments[3] if len(node.arguments) > 3 else tree.Field(tree.Number(0.0)))
    runtime = compiler.runtime

    def run(frame: Frame) -> str:
        compiled, written = pattern(frame), general_replacement(replacement(frame))
        chosen, whole = how(frame), text(frame)
        which = _which_match(chosen)
        if which is None:
            runtime.warn(f"gensub: third argument `{runtime.to_text(chosen)}' treated as 1", node.place)
            which = 1
        return runtime.charge_text(replace_matches(whole, compiled, written, which, runtime.pay)[0])

    return Kind.TEXT, run


def _which_match(how: Value) -> int | None:
    if isinstance(how, str) and how[:1] in ("g", "G"):
        return 0
    number = to_number(how)
    return int(number) if 1 <= number < 1e15 else None


def match(compiler: ExpressionCompiler, node: tree.Builtin) -> Compiled:
    """``match(text, pattern, groups)``: where it matches, with RSTART, RLENGTH and the groups set."""
    text, pattern = compiler.text(node.arguments[0]), compiler.pattern(node.arguments[1], node.place)
    groups = compiler.array_argument(node, 2, "third")
    runtime = compiler.runtime

    def run(frame: Frame) -> float:
        whole = text(frame)
        spans = pattern(frame).groups(whole)
        begin, end = spans[0] if spans else (-1, -2)
        runtime.globals[variables.RSTART] = float(begin + 1)
        runtime.globals[variables.RLENGTH] = float(end - begin)
        if groups is not None:
            array = groups(frame)
            array.clear()
            for number, (first, last) in enumerate(spans):
                if first >= 0:
                    key = str(number)
                    compiler.grow(array, key, Input(whole[first:last]))
                    array[key + runtime.subscript_separator + "start"] = float(first + 1)
                    array[key + runtime.subscript_separator + "length"] = float(last - first)
        return float(begin + 1)

    return Kind.NUMBER, run


def strtonum(compiler: ExpressionCompiler, node: tree.Builtin) -> Compiled:
    """``strtonum(text)``: as a number, hexadecimal and octal too."""
    argument = compiler.value(node.arguments[0])

    def run(frame: Frame) -> float:
        value = argument(frame)
        if type(value) is float:
            return value
        digits = value[2:] if value[:2] in ("0x", "0X") else ""
        if digits:
            return _leading_digits(digits, 16, "0123456789abcdefABCDEF")
        octal = len(value) > 1 and value[0] == "0" and not set("89.eE") & set(value)
        return _leading_digits(value, 8, "01234567") if octal else text_to_number(value)

    return Kind.NUMBER, run


def _leading_digits(text: str, base: int, digits: str) -> float:
    kept = text[: len(text) - len(text.lstrip(digits))]
    try:
        return float(int(kept or "0", base))
    except OverflowError:
        return math.inf


TEXT_BUILTINS: Final = {
    "length": length, "index": index, "substr": substr, "toupper": toupper, "tolower": tolower,
    "sprintf": sprintf, "sub": sub, "gsub": gsub, "gensub": gensub, "match": match, "strtonum": strtonum,
}  # fmt: skip
