"""Compiles expressions that may wait: those that read records or run commands.

Only a few operations wait by themselves. An expression around them runs in two steps: the operands up to the last
one that waits are evaluated in order and stored in the frame; then the expression, with those operands replaced by
the stored values, runs in the code that never waits.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from simcloud.machine.files import FileError
from simcloud.userland.awk import tree, variables
from simcloud.userland.awk.analysis import WAITING_BUILTINS
from simcloud.userland.awk.code import LEAVES_FUNCTION, Frame, Run, WaitingRun, leave_rule
from simcloud.userland.awk.expression_code import ExpressionCompiler
from simcloud.userland.awk.flat import invoke
from simcloud.userland.awk.main_input import MainInput
from simcloud.userland.awk.operands import change_operands
from simcloud.userland.awk.values import Input, Value, truth

FRUITLESS: Final = 16
"""Charge for reading at the end of input, in turns: programs do it in endless loops by mistake."""


class Either(NamedTuple):
    """Code that waits, or code that does not."""

    waits: bool
    run: Run


async def result_of(code: Either, frame: Frame) -> Any:
    """Run code of either sort."""
    found = code.run(frame)
    return await found if code.waits else found


class WaitingCompiler:
    """Compiles every expression, whether it waits or not."""

    def __init__(self, expressions: ExpressionCompiler, main_input: MainInput) -> None:
        self._expressions = expressions
        self._unit = expressions.unit
        self._runtime = expressions.runtime
        self._analysis = expressions.analysis
        self._scope = expressions.scope
        self._main_input = main_input

    # -- code of either sort -------------------------------------------------------------------

    def any_value(self, node: tree.Expr) -> Either:
        """Code for a value."""
        return (
            Either(True, self.later(node))
            if self._analysis.waits(node)
            else Either(False, self._expressions.value(node))
        )

    def any_truth(self, node: tree.Expr) -> Either:
        """Code for True or False."""
        if not self._analysis.waits(node):
            return Either(False, self._expressions.truth(node))
        value = self.later(node)

        async def run(frame: Frame) -> bool:
            return truth(await value(frame))

        return Either(True, run)

    # -- code that waits -----------------------------------------------------------------------

    def later(self, node: tree.Expr) -> WaitingRun:
        """Code for the value of an expression that waits."""
        node = tree.strip_groups(node)
        if isinstance(node, tree.Logical):
            return self._later_logical(node)
        if isinstance(node, tree.Conditional):
            return self._later_conditional(node)
        return self._in_two_steps(node)

    def _later_logical(self, node: tree.Logical) -> WaitingRun:
        left, right = self.any_truth(node.left), self.any_truth(node.right)
        stops_at = node.operator == "||"

        async def run(frame: Frame) -> float:
            decided: bool = await result_of(left, frame)
            if decided is not stops_at:
                decided = await result_of(right, frame)
            return 1.0 if decided else 0.0

        return run

    def _later_conditional(self, node: tree.Conditional) -> WaitingRun:
        condition = self.any_truth(node.condition)
        yes, no = self.any_value(node.yes), self.any_value(node.no)

        async def run(frame: Frame) -> Any:
            return await result_of(yes if await result_of(condition, frame) else no, frame)

        return run

    def _in_two_steps(self, node: tree.Expr) -> WaitingRun:
        operands: list[tree.Expr] = []

        def list_operand(operand: tree.Expr) -> tree.Expr:
            operands.append(operand)
            return operand

        change_operands(node, list_operand)
        last = max(
            (place for place, operand in enumerate(operands) if self._analysis.waits(operand)), default=-1
        )
        steps: list[tuple[int, Either]] = []
        seen = 0

        def keep(operand: tree.Expr) -> tree.Expr:
            nonlocal seen
            seen += 1
            if seen > last + 1 or isinstance(operand, tree.Number | tree.Text):
                return operand
            slot = self._scope.keep()
            steps.append((slot, self.any_value(operand)))
            return tree.Temporary(slot)

        action = self._action(change_operands(node, keep))

        async def run(frame: Frame) -> Any:
            for slot, code in steps:
                frame[slot] = await result_of(code, frame)
            return await result_of(action, frame)

        return run

    def _action(self, node: tree.Expr) -> Either:
        """Code for an expression whose operands do not wait any more, though it may itself."""
        if isinstance(node, tree.Getline):
            return Either(True, self._getline(node))
        if isinstance(node, tree.Call) and node.name in self._analysis.waiting_functions:
            return Either(True, self._waiting_call(node))
        if isinstance(node, tree.Builtin) and node.name in WAITING_BUILTINS:
            compile_builtin = {"system": self._system, "close": self._close, "fflush": self._fflush}[
                node.name
            ]
            return Either(True, compile_builtin(node))
        return Either(False, self._expressions.value(node))

    def _waiting_call(self, node: tree.Call) -> WaitingRun:
        code, prepare, runtime = (
            self._unit.functions[node.name],
            self._expressions.call_frame(node),
            self._runtime,
        )

        async def run(frame: Frame) -> Any:
            inner = prepare(frame)
            runtime.enter_call()
            try:
                signal = await invoke(code.body(inner))
            finally:
                runtime.leave_call()
            if signal in LEAVES_FUNCTION:
                leave_rule(signal, runtime)
            return inner[0]

        return run

    # -- getline -------------------------------------------------------------------------------

    def _getline(self, node: tree.Getline) -> WaitingRun:
        record = self._runtime.record
        store: Any = None if node.target is None else self._expressions.store(node.target)

        def take(frame: Frame, text: str) -> float:
            if store is None:
                record.set(text)
            else:
                store(frame, Input(text))
            return 1.0

        source = None if node.source is None else self._expressions.text(node.source)
        kind, runtime = node.kind, self._runtime

        async def run(frame: Frame) -> float:
            try:
                if source is None:
                    text = await self._main_input.next_record()
                else:
                    text = await self._next_record(kind, source(frame))
            except FileError as error:
                runtime.globals[variables.ERRNO] = error.strerror
                runtime.turn(FRUITLESS)
                return -1.0
            if text is None:
                runtime.turn(FRUITLESS)
                return 0.0
            return take(frame, text)

        return run

    async def _next_record(self, kind: str, name: str) -> str | None:
        runtime = self._runtime
        reader = await runtime.inputs.getline(kind, name)
        text = reader.pop()
        if text is None:
            await runtime.outputs.ease()
            if await reader.fill():
                text = reader.pop()
        if text is not None:
            runtime.globals[variables.RT] = reader.terminator
            runtime.charge_text(text)
        return text

    # -- commands and streams ------------------------------------------------------------------

    def _system(self, node: tree.Builtin) -> WaitingRun:
        command, outputs = self._expressions.text(node.arguments[0]), self._runtime.outputs

        async def run(frame: Frame) -> float:
            return float(await outputs.run(command(frame)))

        return run

    def _close(self, node: tree.Builtin) -> WaitingRun:
        name, runtime = self._expressions.text(node.arguments[0]), self._runtime

        async def run(frame: Frame) -> float:
            closed = name(frame)
            status = await runtime.outputs.close(closed)
            other = await runtime.inputs.close(closed)
            status = other if status is None else status
            return -1.0 if status is None else float(status)

        return run

    def _fflush(self, node: tree.Builtin) -> WaitingRun:
        name = self._expressions.text(node.arguments[0]) if node.arguments else None
        runtime = self._runtime

        async def run(frame: Frame) -> Value:
            flushed = "" if name is None else name(frame)
            if not flushed:
                await runtime.outputs.flush()
            elif not await runtime.outputs.flush_one(flushed):
                runtime.warn(f"fflush: `{flushed}' is not an open file, pipe or co-process", node.place)
                return -1.0
            return 0.0

        return run
