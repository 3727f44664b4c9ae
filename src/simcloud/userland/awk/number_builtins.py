"""The functions on numbers, chance and time."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import Final

from simcloud.userland.awk import calendar, tree, variables
from simcloud.userland.awk.code import Frame, Kind, Run
from simcloud.userland.awk.errors import Fatal
from simcloud.userland.awk.expression_code import ExpressionCompiler
from simcloud.userland.awk.values import to_number

Compiled = tuple[Kind, Run]

_WORD: Final = (1 << 64) - 1
_EXACT: Final = (1 << 53) - 1


def _of_one(compute: Callable[[float], float]) -> Callable[[ExpressionCompiler, tree.Builtin], Compiled]:
    def compiled(compiler: ExpressionCompiler, node: tree.Builtin) -> Compiled:
        argument = compiler.number(node.arguments[0])
        return Kind.NUMBER, lambda frame: compute(argument(frame))

    return compiled


def _truncate(number: float) -> float:
    return float(math.trunc(number)) if math.isfinite(number) else number


def _periodic(compute: Callable[[float], float]) -> Callable[[float], float]:
    return lambda number: -math.nan if math.isinf(number) else compute(number)


def _warning(
    name: str, compute: Callable[[float], float]
) -> Callable[[ExpressionCompiler, tree.Builtin], Compiled]:
    """A function that complains of an argument below 0."""

    def compiled(compiler: ExpressionCompiler, node: tree.Builtin) -> Compiled:
        argument, runtime = compiler.number(node.arguments[0]), compiler.runtime

        def run(frame: Frame) -> float:
            number = argument(frame)
            if number < 0:
                runtime.warn(f"{name}: received negative argument {number:g}", node.place)
                return -math.nan
            return compute(number)

        return Kind.NUMBER, run

    return compiled


def _logarithm(number: float) -> float:
    return -math.inf if number == 0.0 else math.log(number)


def _exp(compiler: ExpressionCompiler, node: tree.Builtin) -> Compiled:
    argument, runtime = compiler.number(node.arguments[0]), compiler.runtime

    def run(frame: Frame) -> float:
        number = argument(frame)
        try:
            return math.exp(number)
        except OverflowError:
            runtime.warn(f"exp: argument {number:g} is out of range", node.place)
            return math.inf

    return Kind.NUMBER, run


def _atan2(compiler: ExpressionCompiler, node: tree.Builtin) -> Compiled:
    rise, run_ = (compiler.number(argument) for argument in node.arguments)
    return Kind.NUMBER, lambda frame: math.atan2(rise(frame), run_(frame))


def _rand(compiler: ExpressionCompiler, node: tree.Builtin) -> Compiled:
    randoms = compiler.runtime.randoms
    return Kind.NUMBER, lambda frame: randoms.draw()


def _srand(compiler: ExpressionCompiler, node: tree.Builtin) -> Compiled:
    runtime = compiler.runtime
    seed = compiler.number(node.arguments[0]) if node.arguments else None

    def run(frame: Frame) -> float:
        before = runtime.randoms.seed
        chosen = math.floor(runtime.ctx.now) if seed is None else seed(frame)
        runtime.randoms.reseed(_truncate(chosen) if math.isfinite(chosen) else 0.0)
        return before

    return Kind.NUMBER, run


# -- bits --------------------------------------------------------------------------------------


def _of_bits(
    name: str, combine: Callable[[int, int], int]
) -> Callable[[ExpressionCompiler, tree.Builtin], Compiled]:
    def compiled(compiler: ExpressionCompiler, node: tree.Builtin) -> Compiled:
        arguments = [compiler.number(argument) for argument in node.arguments]

        def run(frame: Frame) -> float:
            if len(arguments) < 2:
                raise Fatal(f"{name}: called with less than two arguments")
            numbers = [argument(frame) for argument in arguments]
            for place, number in enumerate(numbers, 1):
                if number < 0:
                    raise Fatal(f"{name}: argument {place} negative value {number:g} is not allowed")
            return float(reduce(combine, [_bits(number) for number in numbers]))

        return Kind.NUMBER, run

    return compiled


def _bits(number: float) -> int:
    return int(number) & _WORD if math.isfinite(number) else 0


def _shift(
    name: str, shift: Callable[[int, int], int]
) -> Callable[[ExpressionCompiler, tree.Builtin], Compiled]:
    def compiled(compiler: ExpressionCompiler, node: tree.Builtin) -> Compiled:
        first, second = (compiler.number(argument) for argument in node.arguments)

        def run(frame: Frame) -> float:
            number, count = first(frame), second(frame)
            if number < 0 or count < 0:
                raise Fatal(f"{name}({number:f}, {count:f}): negative values are not allowed")
            return float(shift(_bits(number), _bits(count) % 64) & _WORD)

        return Kind.NUMBER, run

    return compiled


def _compl(compiler: ExpressionCompiler, node: tree.Builtin) -> Compiled:
    argument = compiler.number(node.arguments[0])

    def run(frame: Frame) -> float:
        number = argument(frame)
        if number < 0:
            raise Fatal(f"compl({number:f}): negative value is not allowed")
        return float(~_bits(number) & _EXACT)

    return Kind.NUMBER, run


# -- time --------------------------------------------------------------------------------------


def _systime(compiler: ExpressionCompiler, node: tree.Builtin) -> Compiled:
    ctx = compiler.runtime.ctx
    return Kind.NUMBER, lambda frame: float(math.floor(ctx.now))


def _strftime(compiler: ExpressionCompiler, node: tree.Builtin) -> Compiled:
    runtime = compiler.runtime
    arguments = [compiler.value(argument) for argument in node.arguments]

    def run(frame: Frame) -> str:
        given = [argument(frame) for argument in arguments]
        template = given[0] if given else runtime.globals[variables.PROCINFO].get("strftime", "")
        if isinstance(template, dict):
            raise Fatal('attempt to use array `PROCINFO["strftime"]\' in a scalar context')
        moment = to_number(given[1]) if len(given) > 1 else runtime.ctx.now
        zone = "GMT" if len(given) > 2 and to_number(given[2]) else "UTC"
        return runtime.made(calendar.format_time(runtime.to_text(template), moment, zone))

    return Kind.TEXT, run


def _mktime(compiler: ExpressionCompiler, node: tree.Builtin) -> Compiled:
    text = compiler.text(node.arguments[0])
    return Kind.NUMBER, lambda frame: calendar.parse_time(text(frame))


NUMBER_BUILTINS: Final[dict[str, Callable[[ExpressionCompiler, tree.Builtin], Compiled]]] = {
    "int": _of_one(_truncate),
    "sqrt": _warning("sqrt", math.sqrt),
    "log": _warning("log", _logarithm),
    "exp": _exp,
    "sin": _of_one(_periodic(math.sin)),
    "cos": _of_one(_periodic(math.cos)),
    "atan2": _atan2,
    "rand": _rand,
    "srand": _srand,
    "and": _of_bits("and", lambda left, right: left & right),
    "or": _of_bits("or", lambda left, right: left | right),
    "xor": _of_bits("xor", lambda left, right: left ^ right),
    "lshift": _shift("lshift", lambda number, count: number << count),
    "rshift": _shift("rshift", lambda number, count: number >> count),
    "compl": _compl,
    "systime": _systime,
    "strftime": _strftime,
    "mktime": _mktime,
}
