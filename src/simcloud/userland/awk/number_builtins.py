"""The built-in functions on numbers, random numbers and time."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from simcloud.userland.awk import calendar, tree, variables
from simcloud.userland.awk.code import Compiled, Frame, Kind
from simcloud.userland.awk.errors import Fatal
from simcloud.userland.awk.expression_code import ExpressionCompiler
from simcloud.userland.awk.values import to_number


def _of_one(compute: Callable[[float], float]) -> Callable[[ExpressionCompiler, tree.Builtin], Compiled]:
    def compile_call(compiler: ExpressionCompiler, node: tree.Builtin) -> Compiled:
        argument = compiler.number(node.arguments[0])
        return Kind.NUMBER, lambda frame: compute(argument(frame))

    return compile_call


def _truncate(number: float) -> float:
    return float(math.trunc(number)) if math.isfinite(number) else number


def _periodic(compute: Callable[[float], float]) -> Callable[[float], float]:
    return lambda number: -math.nan if math.isinf(number) else compute(number)


def _warning(
    name: str, compute: Callable[[float], float]
) -> Callable[[ExpressionCompiler, tree.Builtin], Compiled]:
    """A function that complains of an argument below 0."""

    def compile_call(compiler: ExpressionCompiler, node: tree.Builtin) -> Compiled:
        argument, runtime = compiler.number(node.arguments[0]), compiler.runtime

        def run(frame: Frame) -> float:
            number = argument(frame)
            if number < 0:
                runtime.warn(f"{name}: received negative argument {number:g}", node.place)
                return -math.nan
            return compute(number)

        return Kind.NUMBER, run

    return compile_call


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
        return runtime.charge_text(calendar.format_time(runtime.to_text(template), moment, zone))

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
    "systime": _systime,
    "strftime": _strftime,
    "mktime": _mktime,
}
