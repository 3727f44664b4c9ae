"""Compiled statements, each in code that waits or code that does not, as it needs.

A statement's code returns ``None`` or a signal of ``control``. What goes wrong inside is given the statement's
place in the program.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from simcloud.userland.awk import tree
from simcloud.userland.awk.array_builtins import loop_order
from simcloud.userland.awk.code import Frame, Run
from simcloud.userland.awk.control import BREAK, CONTINUE, EXIT, NEXT, NEXTFILE, RETURN, Signal
from simcloud.userland.awk.errors import Fatal
from simcloud.userland.awk.operands import change_array, change_target
from simcloud.userland.awk.output import MANY_PARTS
from simcloud.userland.awk.print_code import PrintCompiler
from simcloud.userland.awk.values import UNSET
from simcloud.userland.awk.waiting_code import Either, result_of

WAITING_LOOP: Final = 2
"""What a turn of a loop that waits costs, compared with one that does not: it takes twice as long."""

JUMPS: Final = {"next": NEXT, "nextfile": NEXTFILE, "break": BREAK, "continue": CONTINUE}


class StatementCompiler(PrintCompiler):
    """Compiles statements."""

    def statement(self, node: tree.Statement) -> Either:
        """Code for any statement."""
        if isinstance(node, tree.Delete | tree.ForIn) and self._subscripts_wait(node):
            return self._after_subscripts(node)
        match node:
            case tree.Block():
                return self.block(node.statements)
            case tree.Evaluate():
                return _effect(self.any_value(node.expression), node.place)
            case tree.Print():
                return located(self.print(node), node.place)
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
                return located(self._exit(node), node.place)
            case tree.Return():
                return located(self._return(node), node.place)
            case tree.Delete():
                return located(self._delete(node), node.place)
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
        return self.analysis.waits(parts)

    def _after_subscripts(self, node: tree.Delete | tree.ForIn) -> Either:
        """Code that first works out subscripts that wait, and then does the rest with the kept values."""
        steps: list[tuple[int, Either]] = []

        def keep(subscript: tree.Expr) -> tree.Expr:
            slot = self.scope.keep()
            steps.append((slot, self.any_value(subscript)))
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

        return located(Either(True, run), node.place)

    # -- choices -------------------------------------------------------------------------------

    def condition(self, node: tree.Expr, place: str) -> Either:
        """Code for a condition; a statement's place is that of its condition too."""
        return located(self.any_truth(node), place)

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
        subject = located(self.any_value(node.subject), node.place)
        kept = tree.Temporary(self.scope.keep())
        tests: list[tuple[int, Run]] = []
        default = len(node.cases)
        for place, case in enumerate(node.cases):
            if case.value is None:
                default = place
            elif isinstance(case.value, tree.Regex):
                tests.append((place, self.truth(tree.Match(kept, case.value, negated=False))))
            else:
                tests.append((place, self.truth(tree.Compare("==", kept, case.value))))
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
        turn, post_test = self.runtime.turn, node.post_test
        if not self.analysis.waits(node):
            return Either(False, _loop_at_once(condition.run, body.run, step.run, turn, post_test))
        outputs, printed = self.runtime.outputs, self.runtime.outputs.stdout.parts

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

        return located(Either(True, run), node.place)

    def _for_in(self, node: tree.ForIn) -> Either:
        array, store = self.array(node.array), self.store(node.target)
        body, unit, turn = self.statement(node.body), self.unit, self.runtime.turn

        def subscripts(frame: Frame) -> list[str]:
            return loop_order(unit, array(frame))

        listed = located(Either(False, subscripts), node.place).run
        if not self.analysis.waits(node):

            def run_at_once(frame: Frame) -> Signal:
                for subscript in listed(frame):
                    turn()
                    store(frame, subscript)
                    signal: Signal = body.run(frame)
                    if signal is not None and signal != CONTINUE:
                        return None if signal == BREAK else signal
                return None

            return Either(False, run_at_once)
        outputs, printed = self.runtime.outputs, self.runtime.outputs.stdout.parts

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
        runtime = self.runtime

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
        code = self.any_value(node)
        if not code.waits:
            value = code.run
            return Either(False, lambda frame: finish(frame, value(frame)))

        async def run(frame: Frame) -> Signal:
            return finish(frame, await code.run(frame))

        return Either(True, run)

    def _delete(self, node: tree.Delete) -> Either:
        array = self.array(node.array)
        if node.subscripts is None:
            return Either(False, lambda frame: array(frame).clear())
        key = self.key(node.subscripts)

        def remove(frame: Frame) -> Signal:
            subscript = key(frame)
            array(frame).pop(subscript, None)
            return None

        return Either(False, remove)


# -- pieces of code ----------------------------------------------------------------------------


def _nothing(frame: Frame) -> None:
    """Do nothing and go on."""


def _effect(code: Either, place: str) -> Either:
    """Code run for its effect only; what goes wrong in it is said to be at a place."""
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


def located(code: Either, place: str) -> Either:
    """The same code; what goes wrong in it is said to be at a place."""
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
