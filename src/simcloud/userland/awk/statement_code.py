"""Compiles statements, each to code that waits or code that does not.

A statement's code returns ``None`` or a signal of ``code``. An error inside gets the statement's place in the
program. Text printed to the standard output is only buffered, which never waits; a file or a command is opened when the
first text goes there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from simcloud.userland.awk import tree
from simcloud.userland.awk.array_builtins import loop_order
from simcloud.userland.awk.code import (
    BREAK,
    CONTINUE,
    EXIT,
    NEXT,
    NEXTFILE,
    RETURN,
    Frame,
    Run,
    Scope,
    Signal,
    Unit,
)
from simcloud.userland.awk.errors import Fatal
from simcloud.userland.awk.expression_code import ExpressionCompiler
from simcloud.userland.awk.main_input import MainInput
from simcloud.userland.awk.operands import change_array, change_target
from simcloud.userland.awk.output import MANY_PARTS
from simcloud.userland.awk.values import UNSET
from simcloud.userland.awk.waiting_code import Either, WaitingCompiler, result_of

WAITING_LOOP: Final = 2
"""Charge for an iteration of a loop that waits, relative to one that does not: it takes twice as long."""

JUMPS: Final = {"next": NEXT, "nextfile": NEXTFILE, "break": BREAK, "continue": CONTINUE}


class StatementCompiler:
    """Compiles the statements of one function or rule."""

    def __init__(self, unit: Unit, scope: Scope, main_input: MainInput) -> None:
        self._unit = unit
        self._runtime = unit.runtime
        self._analysis = unit.analysis
        self._scope = scope
        self._expressions = ExpressionCompiler(unit, scope)
        self._waiting = WaitingCompiler(self._expressions, main_input)

    def statement(self, node: tree.Statement) -> Either:
        """Code for any statement."""
        if isinstance(node, tree.Delete | tree.ForIn) and self._subscripts_wait(node):
            return self._after_subscripts(node)
        match node:
            case tree.Block():
                return self.block(node.statements)
            case tree.Evaluate():
                return _effect(self._waiting.any_value(node.expression), node.place)
            case tree.Print():
                return locate_errors(self._print(node), node.place)
            case tree.If():
                return self._if(node)
            case tree.Loop():
                return self._loop(node)
            case tree.ForIn():
                return self._for_in(node)
            case tree.Switch():
                return self._switch(node)
            case tree.Jump():
                signal = JUMPS[node.kind]
                return Either(False, lambda frame: signal)
            case tree.Exit():
                return locate_errors(self._exit(node), node.place)
            case tree.Return():
                return locate_errors(self._return(node), node.place)
            case tree.Delete():
                return locate_errors(self._delete(node), node.place)
        raise AssertionError(f"no such statement: {node}")

    def block(self, statements: tuple[tree.Statement, ...]) -> Either:
        """Code for statements one after the other."""
        codes = [self.statement(statement) for statement in statements]
        if len(codes) == 1:
            return codes[0]
        if not any(code.waits for code in codes):
            return Either(False, _sequence([code.run for code in codes]))

        async def run(frame: Frame) -> Signal:
            for code in codes:
                signal: Signal = await result_of(code, frame)
                if signal is not None:
                    return signal
            return None

        return Either(True, run)

    def _subscripts_wait(self, node: tree.Delete | tree.ForIn) -> bool:
        parts = (node.array, node.subscripts) if isinstance(node, tree.Delete) else (node.array, node.target)
        return self._analysis.waits(parts)

    def _after_subscripts(self, node: tree.Delete | tree.ForIn) -> Either:
        """Code that first works out subscripts that wait, and then does the rest with the kept values."""
        steps: list[tuple[int, Either]] = []

        def keep(subscript: tree.Expr) -> tree.Expr:
            slot = self._scope.keep()
            steps.append((slot, self._waiting.any_value(subscript)))
            return tree.Temporary(slot)

        array = change_array(node.array, keep)
        if isinstance(node, tree.ForIn):
            kept: tree.Statement = replace(node, array=array, target=change_target(node.target, keep))
        else:
            kept = replace(node, array=array, subscripts=tuple(map(keep, node.subscripts or ())) or None)
        rest = self.statement(kept)

        async def run(frame: Frame) -> Signal:
            for slot, code in steps:
                frame[slot] = await result_of(code, frame)
            signal: Signal = await result_of(rest, frame)
            return signal

        return locate_errors(Either(True, run), node.place)

    # -- choices -------------------------------------------------------------------------------

    def condition(self, node: tree.Expr, place: str) -> Either:
        """Code for a condition; a statement's place is that of its condition too."""
        return locate_errors(self._waiting.any_truth(node), place)

    def _if(self, node: tree.If) -> Either:
        condition = self.condition(node.condition, node.place)
        then = self.statement(node.then)
        otherwise = Either(False, _nothing) if node.otherwise is None else self.statement(node.otherwise)
        if not (condition.waits or then.waits or otherwise.waits):
            test, yes, no = condition.run, then.run, otherwise.run
            return Either(False, lambda frame: yes(frame) if test(frame) else no(frame))

        async def run(frame: Frame) -> Signal:
            chosen = then if await result_of(condition, frame) else otherwise
            signal: Signal = await result_of(chosen, frame)
            return signal

        return Either(True, run)

    def _switch(self, node: tree.Switch) -> Either:
        subject = locate_errors(self._waiting.any_value(node.subject), node.place)
        kept = tree.Temporary(self._scope.keep())
        tests: list[tuple[int, Run]] = []
        default = len(node.cases)
        for place, case in enumerate(node.cases):
            if case.value is None:
                default = place
            elif isinstance(case.value, tree.Regex):
                tests.append((place, self._expressions.truth(tree.Match(kept, case.value, negated=False))))
            else:
                tests.append((place, self._expressions.truth(tree.Compare("==", kept, case.value))))
        bodies = [self.statement(case.body) for case in node.cases]

        async def run(frame: Frame) -> Signal:
            frame[kept.slot] = await result_of(subject, frame)
            first = next((place for place, test in tests if test(frame)), default)
            for body in bodies[first:]:
                signal: Signal = await result_of(body, frame)
                if signal is not None:
                    return None if signal == BREAK else signal
            return None

        if subject.waits or any(body.waits for body in bodies):
            return Either(True, run)

        def run_at_once(frame: Frame) -> Signal:
            frame[kept.slot] = subject.run(frame)
            first = next((place for place, test in tests if test(frame)), default)
            signal: Signal = _sequence([body.run for body in bodies[first:]])(frame)
            return None if signal == BREAK else signal

        return Either(False, run_at_once)

    # -- loops ---------------------------------------------------------------------------------

    def _loop(self, node: tree.Loop) -> Either:
        always = Either(False, lambda frame: True)
        condition = always if node.condition is None else self.condition(node.condition, node.place)
        body = self.statement(node.body)
        step = Either(False, _nothing) if node.step is None else self.statement(node.step)
        turn, post_test = self._runtime.turn, node.post_test
        if not self._analysis.waits(node):
            return Either(False, _loop_at_once(condition.run, body.run, step.run, turn, post_test))
        outputs, printed = self._runtime.outputs, self._runtime.outputs.stdout.parts

        async def run(frame: Frame) -> Signal:
            running = post_test or await result_of(condition, frame)
            while running:
                turn(WAITING_LOOP)
                signal = body.run(frame)
                if body.waits:
                    signal = await signal
                if signal is not None and signal != CONTINUE:
                    return None if signal == BREAK else signal
                if len(printed) >= MANY_PARTS:
                    await outputs.ease()
                stepped = step.run(frame)
                if step.waits:
                    await stepped
                running = condition.run(frame)
                if condition.waits:
                    running = await running
            return None

        return locate_errors(Either(True, run), node.place)

    def _for_in(self, node: tree.ForIn) -> Either:
        array, store = self._expressions.array(node.array), self._expressions.store(node.target)
        body, unit, turn = self.statement(node.body), self._unit, self._runtime.turn

        def subscripts(frame: Frame) -> list[str]:
            return loop_order(unit, array(frame))

        listed = locate_errors(Either(False, subscripts), node.place).run
        if not self._analysis.waits(node):

            def run_at_once(frame: Frame) -> Signal:
                for subscript in listed(frame):
                    turn()
                    store(frame, subscript)
                    signal: Signal = body.run(frame)
                    if signal is not None and signal != CONTINUE:
                        return None if signal == BREAK else signal
                return None

            return Either(False, run_at_once)
        outputs, printed = self._runtime.outputs, self._runtime.outputs.stdout.parts

        async def run(frame: Frame) -> Signal:
            for subscript in listed(frame):
                turn(WAITING_LOOP)
                store(frame, subscript)
                signal: Signal = await result_of(body, frame)
                if signal is not None and signal != CONTINUE:
                    return None if signal == BREAK else signal
                if len(printed) >= MANY_PARTS:
                    await outputs.ease()
            return None

        return Either(True, run)

    # -- leaving -------------------------------------------------------------------------------

    def _exit(self, node: tree.Exit) -> Either:
        if node.status is None:
            return Either(False, lambda frame: EXIT)
        runtime = self._runtime

        def leave(frame: Frame, status: float) -> Signal:
            runtime.exit_status = int(status) & 0xFF if abs(status) < 1e18 else 0
            return EXIT

        return self._then(tree.Sign("+", node.status), leave)

    def _return(self, node: tree.Return) -> Either:
        def leave(frame: Frame, value: Any) -> Signal:
            frame[0] = value
            return RETURN

        return (
            Either(False, lambda frame: leave(frame, UNSET))
            if node.value is None
            else self._then(node.value, leave)
        )

    def _then(self, node: tree.Expr, finish: Callable[[Frame, Any], Signal]) -> Either:
        """Code that works out a value and does something with it."""
        code = self._waiting.any_value(node)
        if not code.waits:
            value = code.run
            return Either(False, lambda frame: finish(frame, value(frame)))

        async def run(frame: Frame) -> Signal:
            return finish(frame, await code.run(frame))

        return Either(True, run)

    def _delete(self, node: tree.Delete) -> Either:
        array = self._expressions.array(node.array)
        if node.subscripts is None:
            return Either(False, lambda frame: array(frame).clear())
        key = self._expressions.key(node.subscripts)

        def remove(frame: Frame) -> Signal:
            subscript = key(frame)
            array(frame).pop(subscript, None)
            return None

        return Either(False, remove)

    # -- print and printf -----------------------------------------------------------------------

    def _print(self, node: tree.Print) -> Either:
        """Code for the statement."""
        if node.formatted and not node.arguments:
            raise Fatal("printf: no arguments", node.place)
        text = self._print_text(node)
        if node.destination is not None:
            return self._print_into(node, text, self._waiting.any_value(node.destination))
        append, text_run = self._runtime.outputs.stdout.parts.append, text.run
        if not text.waits:
            return Either(False, lambda frame: append(text_run(frame)))

        async def run(frame: Frame) -> None:
            append(await text_run(frame))

        return Either(True, run)

    def _print_into(self, node: tree.Print, text: Either, destination: Either) -> Either:
        runtime, outputs, kind = self._runtime, self._runtime.outputs, node.redirection

        async def run(frame: Frame) -> None:
            printed = text.run(frame)
            if text.waits:
                printed = await printed
            name = destination.run(frame)
            if destination.waits:
                name = await name
            name = runtime.to_text(name)
            if not outputs.put(name, printed):
                await outputs.write(kind, name, printed)

        return Either(True, run)

    def _print_text(self, node: tree.Print) -> Either:
        """Return code for the whole text that ``print`` or ``printf`` writes."""
        runtime, record = self._runtime, self._runtime.record
        arguments = node.arguments or (tree.Field(tree.Number(0.0)),)
        if self._analysis.waits(arguments):
            return self._print_text_later(node)
        if node.formatted:
            values = [self._expressions.value(argument) for argument in arguments]
            return Either(False, lambda frame: runtime.format([value(frame) for value in values]))
        texts = [self._expressions.print_text(argument) for argument in arguments]
        if len(texts) == 1:
            text = texts[0]
            return Either(False, lambda frame: text(frame) + runtime.output_terminator)

        def join(frame: Frame) -> str:
            shown = [text(frame) for text in texts]
            return record.output_separator.join(shown) + runtime.output_terminator

        return Either(False, join)

    def _print_text_later(self, node: tree.Print) -> Either:
        runtime, record = self._runtime, self._runtime.record
        values = [self._waiting.any_value(argument) for argument in node.arguments]

        async def join(frame: Frame) -> str:
            given = [await result_of(value, frame) for value in values]
            if node.formatted:
                return runtime.format(given)
            printed = record.output_separator.join([runtime.print_text(value) for value in given])
            return printed + runtime.output_terminator

        return Either(True, join)


# -- pieces of code ----------------------------------------------------------------------------


def _nothing(frame: Frame) -> None:
    """Do nothing and go on."""


def _effect(code: Either, place: str) -> Either:
    """Return code that discards the result and adds the place to errors."""
    inner = code.run
    if not code.waits:

        def run_at_once(frame: Frame) -> None:
            try:
                inner(frame)
            except Fatal as error:
                error.place = error.place or place
                raise

        return Either(False, run_at_once)

    async def run(frame: Frame) -> None:
        try:
            await inner(frame)
        except Fatal as error:
            error.place = error.place or place
            raise

    return Either(True, run)


def locate_errors(code: Either, place: str) -> Either:
    """Return code that adds the place to errors."""
    inner = code.run
    if not code.waits:

        def run_at_once(frame: Frame) -> Any:
            try:
                return inner(frame)
            except Fatal as error:
                error.place = error.place or place
                raise

        return Either(False, run_at_once)

    async def run(frame: Frame) -> Any:
        try:
            return await inner(frame)
        except Fatal as error:
            error.place = error.place or place
            raise

    return Either(True, run)


def _sequence(runs: list[Run]) -> Run:
    def run(frame: Frame) -> Signal:
        for step in runs:
            signal: Signal = step(frame)
            if signal is not None:
                return signal
        return None

    return run


def _loop_at_once(condition: Run, body: Run, step: Run, turn: Callable[[], None], post_test: bool) -> Run:
    def run(frame: Frame) -> Signal:
        running = post_test or condition(frame)
        while running:
            turn()
            signal: Signal = body(frame)
            if signal is not None and signal != CONTINUE:
                return None if signal == BREAK else signal
            step(frame)
            running = condition(frame)
        return None

    return run
