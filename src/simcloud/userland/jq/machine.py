"""The machine that runs a compiled program.

A program is a graph of operations. Each takes the state (the current value, the frame of the current
function, the saved values, the path so far) and returns the next operation with the next state. States are
never changed, so a choice is remembered by keeping one: ``forks`` is the stack of what else could be
done, and "no result" means taking the last one from it. No Python function recurses, however deep a
program does; what limits it are counts.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, Final

from simcloud.userland.jq.errors import Backtrack, JqError
from simcloud.userland.jq.json_reader import ENDED, WAITING
from simcloud.userland.jq.run import Run, too_much
from simcloud.userland.jq.tree import Value

Frame = list[Any]
"""The frame a function was defined in, the operation and the frame to return to, how deep, then its slots."""

UP: Final = 0
BACK: Final = 1
BACK_FRAME: Final = 2
DEPTH: Final = 3
FIRST_SLOT: Final = 4

State = tuple[Any, Any, Any, Any, Any]
Op = Callable[[Any, Any, Any, Any], State]

OPERATIONS_PER_SLICE: Final = 64
TURNS_PER_SLICE: Final = 4
MAX_DEPTH: Final = 100_000
MAX_FORKS: Final = 200_000


class Status(Enum):
    """The reason why the machine paused."""

    OUTPUT = "there is output to write"
    INPUT = "the program asks for the next input"
    DONE = "there are no more results"


class Catch:
    """A fork that handles errors; on backtracking it does nothing."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def __call__(self, *_: Any) -> State:
        return self._machine.forks.pop()

    def handle(self, error: Value, fork: State) -> State | None:
        """The state to go on from, or nothing to let the error pass."""
        raise NotImplementedError


class TryCatch(Catch):
    """``try … catch handler``; without a handler the error is dropped. Both stop a ``break`` too, as in jq 1.6."""

    def __init__(self, machine: Machine, handler: Op | None) -> None:
        super().__init__(machine)
        self._handler = handler

    def handle(self, error: Value, fork: State) -> State | None:
        if self._handler is None:
            return self._machine.forks.pop()
        if error == "object":  # a slip of jq 1.6, which means to ask for the error's type here
            return self._machine.unwind('Cannot index string with string "__jq"')
        return (self._handler, error, *fork[2:])


class LabelCatch(Catch):
    """``label``: where its own ``break`` ends. The label's slot in the frame says which is its own."""

    def __init__(self, machine: Machine, slot: int) -> None:
        super().__init__(machine)
        self._slot = slot

    def handle(self, error: Value, fork: State) -> State | None:
        return self._machine.forks.pop() if error == fork[2][self._slot] else None


class AlternativeCatch(Catch):
    """``?//``: on any error forget what was bound and try the next pattern."""

    def __init__(self, machine: Machine, following: Op, slots: list[int]) -> None:
        super().__init__(machine)
        self._following = following
        self._slots = slots

    def handle(self, error: Value, fork: State) -> State | None:
        for slot in self._slots:
            fork[2][slot] = None
        return (self._following, *fork[1:])


class _Finished(Exception):
    """The last fork was taken."""


class _NeedInput(Exception):
    """An operation needs the next input and will be run again."""


class Machine:
    """Runs one program, input after input."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.forks: list[State] = []
        self.outbox: list[tuple[str, Value]] = []
        self.inbox: Value = WAITING
        """The next result of ``input``: a value, or ``ENDED`` if there is none."""
        self.broken_input = ""
        """The error of reading the next input."""
        self._labels = 0
        self._state: State = (None, None, None, None, None)

    def start(self, entry: Op, frame: Frame, value: Value) -> None:
        """Begin with an input."""
        self._labels = 0
        self.forks.clear()
        self.forks.append((_finish, None, None, None, None))
        self._state = (entry, value, frame, None, None)

    def stop(self) -> None:
        """Let go of all values."""
        self.forks.clear()
        self.outbox.clear()
        self.inbox = WAITING
        self._state = (None, None, None, None, None)

    def proceed(self) -> Status:
        """Run until there is a reason to pause. Raises ``JqError`` for an uncaught error."""
        op, value, frame, stack, path = self._state
        spend, outbox, forks = self.run.spend_turns, self.outbox, self.forks
        while True:
            try:
                while True:
                    spend(TURNS_PER_SLICE)
                    if len(forks) > MAX_FORKS:
                        raise too_much(f"more than {MAX_FORKS} choices left open")
                    for _ in range(OPERATIONS_PER_SLICE):
                        op, value, frame, stack, path = op(value, frame, stack, path)
                    if outbox:
                        self._state = (op, value, frame, stack, path)
                        return Status.OUTPUT
            except Backtrack:
                op, value, frame, stack, path = forks.pop()
            except JqError as error:
                op, value, frame, stack, path = self.unwind(error.value)
            except _NeedInput:
                self._state = (op, value, frame, stack, path)
                return Status.INPUT
            except _Finished:
                return Status.DONE

    def unwind(self, error: Value) -> State:
        """Return to the fork that catches an error."""
        forks = self.forks
        while len(forks) > 1:
            fork = forks.pop()
            if isinstance(fork[0], Catch):
                state = fork[0].handle(error, fork)
                if state is not None:
                    return state
        raise JqError(error)

    def emit(self, value: Value, *_: Any) -> State:
        """The end of a program: a result."""
        self.outbox.append(("result", value))
        return self.forks.pop()

    def next_input(self) -> Value:
        """The next input, for ``input``."""
        if self.broken_input:
            reason, self.broken_input = self.broken_input, ""
            raise JqError(reason)
        value, self.inbox = self.inbox, WAITING
        if value is WAITING:
            raise _NeedInput
        if value is ENDED:
            raise JqError("break")
        return value

    def new_label(self) -> Value:
        """Return a new identity for a label and its ``break``."""
        self._labels += 1
        return {"__jq": float(self._labels - 1)}


def _finish(*_: Any) -> State:
    raise _Finished
