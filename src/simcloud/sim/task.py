"""Tasks, timers and time-out scopes: what the kernel's queue holds.

A task has a name and may have a parent. Dropping a task drops its children: that is how a killed
process takes everything it ran with it. A parent that ends normally leaves its children running,
one level up.

Dropping is death, not an event to handle: all of the family is dead before any of its ``finally``
blocks run, those blocks cannot wait, and what they raise goes nowhere.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine, Generator
from math import nan
from types import TracebackType, coroutine
from typing import Any, Final, Generic, Protocol, TypeVar

from simcloud.sim.errors import SimulationError, TimedOut

T = TypeVar("T")

DEAD: Final = nan
"""The turn of something that will never run again: equal to nothing, so every wake-up is stale."""

CLOSE_ATTEMPTS: Final = 10
"""Maximum number of attempts to close a coroutine that waits again when it is closed."""


class Cancelled(BaseException):
    """Ends a task from outside. Derives from BaseException so that programs do not eat it.

    A task that it leaves has ended, which is never a defect of the world.
    """


class Dropped(Exception):
    """What a joiner sees when the task it waited for was dropped or cancelled."""


class Throw:
    """A wake-up that raises in the task. ``pending`` until delivered or withdrawn."""

    __slots__ = ("error", "pending")

    def __init__(self, error: BaseException) -> None:
        self.error = error
        self.pending = True


class Scheduler(Protocol):
    """What a task needs of the kernel."""

    ready: deque[tuple[Any, float, Any]]
    current: Task[Any] | None

    def call_later(self, delay_s: float, action: Callable[[Any], object], argument: Any = None) -> Timer:
        """Call ``action(argument)`` after a delay, outside any task."""

    def wake(self, task: Task[Any], value: Any = None) -> None:
        """Resume a suspended task at this instant with a value."""


class Task(Generic[T]):
    """A running coroutine. ``await task`` gives its result."""

    __slots__ = (
        "_error", "_kept", "_result", "_waiters", "_work", "children", "done", "kernel", "name", "parent",
        "send", "supervised", "turn",
    )  # fmt: skip

    def __init__(
        self,
        kernel: Scheduler,
        work: Coroutine[Any, Any, T],
        name: str,
        parent: Task[Any] | None,
        supervised: bool,
    ) -> None:
        self.kernel = kernel
        self.name = name
        self.parent = parent
        self.supervised = supervised
        self.turn: float = 0
        self.done = False
        self.children: dict[Task[Any], None] | None = None
        self._kept: list[Any] | None = None
        self.send: Callable[[Any], Any] = work.send
        self._work = work
        self._result: T | None = None
        self._error: BaseException | None = None
        self._waiters: list[tuple[Task[Any], float]] | None = None
        if parent is not None:
            if parent.children is None:
                parent.children = {}
            parent.children[self] = None

    def __repr__(self) -> str:
        return f"<Task {self.path}{' done' if self.done else ''}>"

    @property
    def path(self) -> str:
        """The names from the outermost parent down to this task."""
        names = [self.name]
        ancestor = self.parent
        while ancestor is not None:
            names.append(ancestor.name)
            ancestor = ancestor.parent
        return "/".join(reversed(names))

    @property
    def dropped(self) -> bool:
        """Whether the task was ended from outside."""
        return self._error.__class__ is Dropped

    def result(self) -> T:
        """The value a finished task returned; raises what it raised."""
        if not self.done:
            raise SimulationError(f"task {self.path} has not ended yet; await it first")
        if self._error is not None:
            raise self._error
        return self._result  # type: ignore[return-value]  # T may itself be None

    def __await__(self) -> Generator[None, Any, T]:
        if not self.done:
            task = self.kernel.current
            assert task is not None, "only a task can await a task; a driver uses run_task"
            waiter = (task, task.turn)
            if self._waiters is None:
                self._waiters = []
            self._waiters.append(waiter)
            try:
                yield None
            except BaseException:
                if self._waiters is not None:
                    self._waiters.remove(waiter)
                raise
        return self.result()

    @coroutine
    def join(self) -> Generator[None, Any, T]:
        """Wait for the task's end and return its result (``await task`` is the same)."""
        return (yield from self.__await__())

    def cancel(self) -> None:
        """Raise ``Cancelled`` in the task where it waits. It may clean up; then it is done."""
        if not self.done:
            self.kernel.ready.append((self, self.turn, Throw(Cancelled())))

    def drop(self) -> None:
        """End the task and its children here and now; they get no chance to wait for anything."""
        if self.done:
            return
        if self.parent is not None and self.parent.children is not None:
            self.parent.children.pop(self, None)
        family = self._family()
        for task in family:
            task.turn = DEAD
            task.children = None
            task._end(Dropped(f"task {task.path} was dropped"))
        for task in family:
            if self.kernel.current is task:  # it is on the stack right now: close it when it is not
                self.kernel.call_later(0.0, close_quietly, task._work)
            else:
                close_quietly(task._work)

    def _family(self) -> list[Task[Any]]:
        """The task after all its descendants, the oldest first."""
        family: list[Task[Any]] = []
        ahead: list[Task[Any]] = [self]
        while ahead:
            task = ahead.pop()
            family.append(task)
            ahead.extend(task.children or ())
        family.reverse()
        return family

    def drop_children(self) -> None:
        """Drop every task started under this one."""
        for child in list(self.children or ()):
            child.drop()

    def pause(self) -> None:
        """Stop the task and its children where they wait; what wakes them is kept for later."""
        if self._kept is None:
            self._kept = []
            self.send = self._kept.append
        for child in self.children or ():
            child.pause()

    def resume(self) -> None:
        """Let a paused task and its children go on."""
        kept, self._kept = self._kept, None
        self.send = self._work.send
        for value in kept or ():
            self.kernel.wake(self, value)
        for child in self.children or ():
            child.resume()

    # -- called by the kernel ------------------------------------------------------------------

    def throw(self, throw: Throw) -> Any:
        """Raise in the coroutine; in a paused one, once it goes on."""
        if self._kept is not None:
            self._kept.append(throw)
            return None
        throw.pending = False
        return self._work.throw(throw.error)

    def finish(self, result: T) -> None:
        """The coroutine returned."""
        if self.done:  # dropped while it ran
            return
        self._result = result
        self.turn = DEAD
        self._end(None)
        self._release()

    def fail(self, error: BaseException) -> None:
        """The coroutine of a supervised task raised, or any was cancelled."""
        if self.done:
            return
        self.turn = DEAD
        if error.__class__ is Cancelled:  # a joiner must not take it for its own end
            error = Dropped(f"task {self.path} was cancelled")
        self._end(error)
        self._release()

    def _end(self, error: BaseException | None) -> None:
        self.done = True
        self._error = error
        if self._waiters:
            for task, turn in self._waiters:
                self.kernel.ready.append((task, turn, None))
        self._waiters = None

    def _release(self) -> None:
        parent = self.parent
        if parent is not None and parent.children is not None:
            parent.children.pop(self, None)
        if self.children:
            for child in self.children:
                child.parent = parent
                if parent is not None:
                    if parent.children is None:
                        parent.children = {}
                    parent.children[child] = None
            self.children = None


def close_quietly(work: Coroutine[Any, Any, Any]) -> None:
    """End a coroutine of the dead: its clean-up may not wait, and nobody hears what it raises."""
    for _ in range(CLOSE_ATTEMPTS):
        try:
            work.close()
        except (Exception, Cancelled):
            continue
        return


class Timer:
    """An action due at a time. To the kernel it is a task that runs once and never waits.

    It is nobody's parent: what its action starts under ``kernel.current`` stands alone.
    """

    __slots__ = ("action", "argument", "turn")
    parent = None
    supervised = False
    done = True
    dropped = False

    def __init__(self, action: Callable[[Any], object], argument: Any) -> None:
        self.action = action
        self.argument = argument
        self.turn: float = 0

    @property
    def path(self) -> str:
        """What the timer would call, for traces and errors."""
        return f"timer {getattr(self.action, '__qualname__', self.action.__class__.__qualname__)}"

    def send(self, _value: Any) -> None:
        """Called by the kernel when the time has come."""
        self.turn = DEAD
        try:
            self.action(self.argument)
        except StopIteration as stop:  # to the kernel it would mean that a coroutine returned
            raise RuntimeError("a timer's action let StopIteration escape") from stop

    def fail(self, _error: BaseException) -> None:
        """The action met the end of whom it acted for; there is nothing left to do."""

    def cancel(self) -> None:
        """Never call the action. Harmless if it was called already."""
        self.turn = DEAD


class Timeout:
    """A block with a limit of virtual seconds; see ``Kernel.timeout``."""

    __slots__ = ("_kernel", "_seconds", "_throw", "_timer")

    def __init__(self, kernel: Scheduler, seconds: float) -> None:
        self._kernel = kernel
        self._seconds = seconds
        self._throw: Throw | None = None

    def __enter__(self) -> Timeout:
        self._timer = self._kernel.call_later(self._seconds, self._expire, self._kernel.current)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.turn = DEAD
        if self._throw is not None:
            self._throw.pending = False

    def _expire(self, task: Task[Any]) -> None:
        self._throw = Throw(TimedOut(f"no answer within {self._seconds:g} s"))
        self._kernel.ready.append((task, task.turn, self._throw))
