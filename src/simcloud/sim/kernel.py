"""Virtual time: a heap of timers, a queue of ready tasks, and coroutines.

A task is a plain coroutine. It suspends by yielding to the kernel, in one of two ways only:

* ``None``: wait until another task wakes it (it is in some waiting list);
* a number: wake it after at most this many seconds; if nothing else woke it, the task receives ``EXPIRED``.

Everything else (sleeping, events, queues, joins, time-outs) is built from these two. Each resume increments the
task's ``turn``; a wake-up that carries an older turn is stale and ignored, which cancels timers without searching the
heap.

The kernel never reads the wall clock, never draws a random number outside a named stream, and never runs two tasks at
once. The driver of a world calls ``run_until``; calling it from inside a task is an error.
"""

from __future__ import annotations

import gc
import random
import sys
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from heapq import heapify, heappop, heappush
from types import coroutine
from typing import Any, Final, TypeVar

from simcloud.sim.errors import InvariantBroken, Livelock, SimulationError, TaskFailed
from simcloud.sim.streams import Streams
from simcloud.sim.task import Cancelled, Task, Throw, Timeout, Timer

T = TypeVar("T")


class Expired:
    """The value a task receives when its own timer, and nothing else, woke it."""

    def __repr__(self) -> str:
        return "EXPIRED"


EXPIRED: Final = Expired()

Trace = Callable[[float, str], None]

made: Callable[[Kernel], None] | None = None
"""Called with every new kernel, for the determinism check of worlds that it did not build."""

CHECKPOINT_STEPS: Final = 150_000
"""Number of steps between runs of the garbage collector and checks for a livelock."""

FULL_COLLECTION_EVERY: Final = 13
"""Number of checkpoints between full collections, which include older generations."""

LIVELOCK_CHECKPOINTS: Final = 20
"""Checkpoints without progress of virtual time before ``Livelock`` is raised (three million steps)."""

COMPACT_AT: Final = 1_000
"""Stale timers are swept out of the heap when it holds more than this and half are stale."""


class Kernel:
    """One world's clock and scheduler. ``now`` is virtual seconds since the world began."""

    def __init__(self, seed: int = 0) -> None:
        self.now = 0.0
        self.seed = seed
        self.steps = 0
        self.current: Task[Any] | None = None
        self.streams = Streams(seed)
        self.ready: deque[tuple[Any, float, Any]] = deque()
        self._heap: list[tuple[float, int, Any, float]] = []
        self._sequence = 0
        self._compact_at = COMPACT_AT
        self._failure: SimulationError | None = None
        self.running = False
        self._checkpoints = 0
        self._idle_checkpoints = 0
        self._checkpoint_time = -1.0
        self._next_checkpoint = CHECKPOINT_STEPS
        self._trace: Trace | None = None
        self._calendars: list[Callable[[float], None]] = []
        if made is not None:
            made(self)

    # -- what tasks and components use ---------------------------------------------------------

    def random(self, name: str) -> random.Random:
        """The random stream of that name: same seed and name, same draws, whoever else draws."""
        return self.streams[name]

    @coroutine
    def sleep(self, seconds: float) -> Generator[float, Any, None]:
        """Wait in virtual time; 0 lets all other ready tasks run first."""
        yield seconds if seconds > 0.0 else 0.0

    def spawn(
        self,
        work: Coroutine[Any, Any, T],
        name: str,
        parent: Task[Any] | None = None,
        supervised: bool = False,
    ) -> Task[T]:
        """Start a task at the present instant, after what is ready already.

        An error in a task fails the whole run, because it is a defect of the world, not an event
        in it; of a ``supervised`` task, the error goes to whoever awaits the task instead.
        Under a parent that was dropped nothing starts any more.
        """
        while parent is not None and parent.done:
            if parent.dropped:
                task = Task(self, work, name, None, supervised)
                task.drop()
                return task
            parent = parent.parent
        task = Task(self, work, name, parent, supervised)
        self.ready.append((task, 0, None))
        return task

    def call_later(self, delay_s: float, action: Callable[[Any], object], argument: Any = None) -> Timer:
        """Call ``action(argument)`` after a delay, outside any task. Cancel by ``timer.cancel()``."""
        return self.call_at(self.now + delay_s if delay_s > 0.0 else self.now, action, argument)

    def call_at(self, time: float, action: Callable[[Any], object], argument: Any = None) -> Timer:
        """As ``call_later``, at an absolute virtual time (not before now)."""
        timer = Timer(action, argument)
        self._sequence += 1
        heappush(self._heap, (time, self._sequence, timer, 0))
        return timer

    def timeout(self, seconds: float) -> Timeout:
        """``with kernel.timeout(5): ...`` raises ``TimedOut`` inside the block after 5 seconds."""
        return Timeout(self, seconds)

    def wake(self, task: Task[Any], value: Any = None) -> None:
        """Resume a suspended task at this instant with a value. For makers of waiting lists."""
        self.ready.append((task, task.turn, value))

    def on_skip(self, shift: Callable[[float], None]) -> None:
        """Call ``shift(seconds)`` whenever time is skipped: for everything that has a date or an age."""
        self._calendars.append(shift)

    # -- what drivers use ----------------------------------------------------------------------

    def skip(self, seconds: float) -> None:
        """Make the world older by that much without simulating it.

        Dates and ages move; ``now``, timers and deadlines do not, so nothing that waits notices it.
        """
        if self.running:
            raise SimulationError(
                "skip was called from inside a task; only the driver of a world may skip time"
            )
        for shift in self._calendars:
            shift(seconds)

    def run_for(self, seconds: float) -> None:
        """Advance virtual time."""
        self.run_until(self.now + seconds)

    def run_until(self, time: float) -> None:
        """Run everything due up to and including ``time``; ``now`` is then exactly ``time``."""
        self._run(time, None)
        self.now = max(self.now, time)

    def run_task(self, task: Task[T], limit_s: float = 86_400.0) -> T:
        """Run until a task ends, or until the limit of virtual seconds, and return its result."""
        if not task.done:
            self._run(self.now + limit_s, task)
        if not task.done:
            if self.next_event_at() is None:
                raise SimulationError(f"task {task.path} waits for something that nobody is left to do")
            raise SimulationError(
                f"task {task.path} did not end within {limit_s:g} virtual seconds; "
                "give it a higher limit_s or look at what it waits for"
            )
        return task.result()

    def next_event_at(self) -> float | None:
        """When something is due next: now, a later time, or None when nothing is left to do."""
        if self.ready:
            return self.now
        heap = self._heap
        while heap and heap[0][3] != heap[0][2].turn:
            heappop(heap)
        return heap[0][0] if heap else None

    def trace_to(self, trace: Trace | None) -> None:
        """Report every step as (time, task path) to ``trace``: for the determinism check only."""
        self._trace = trace

    # -- the loop ------------------------------------------------------------------------------

    def _run(self, until: float, watched: Task[Any] | None) -> None:
        if self._failure is not None:
            raise self._failure
        if self.running:
            raise SimulationError(
                "run_until was called from inside a task; await something instead: "
                "only whoever drives the world from outside may advance its time"
            )
        collects = gc.isenabled()
        gc.disable()
        # A world may be driven from within an asyncio loop, which would adopt the world's generators and close them later.
        hooks = sys.get_asyncgen_hooks()
        sys.set_asyncgen_hooks(None, None)
        self.running = True
        try:
            self._loop(until, watched)
        except SimulationError as failure:
            self._failure = failure
            raise
        except BaseException as error:
            self._failure = SimulationError(
                f"{type(error).__name__} interrupted the world in the middle of a step; it cannot go on"
            )
            raise
        finally:
            self.running = False
            self.current = None
            sys.set_asyncgen_hooks(*hooks)
            if collects:
                gc.enable()

    def _loop(self, until: float, watched: Task[Any] | None) -> None:
        ready, heap, trace = self.ready, self._heap, self._trace
        popleft, push, pop = ready.popleft, heappush, heappop
        steps = self.steps
        try:
            while True:
                while ready:
                    task, turn, value = popleft()
                    if turn != task.turn:
                        if value.__class__ is Throw and value.pending and not task.done:
                            ready.append((task, task.turn, value))
                        continue
                    task.turn = turn + 1
                    self.current = task
                    if trace is not None:
                        trace(self.now, task.path)
                    try:
                        delay = task.send(value) if value.__class__ is not Throw else task.throw(value)
                    except StopIteration as stop:
                        task.finish(stop.value)
                    except Cancelled as end:
                        task.fail(end)
                    except InvariantBroken:
                        raise
                    except Exception as error:
                        if not (task.supervised or task.dropped):
                            raise TaskFailed(task.path, self.now, error) from error
                        task.fail(error)
                    else:
                        if delay is not None:
                            self._sequence = sequence = self._sequence + 1
                            push(heap, (self.now + delay, sequence, task, task.turn))
                    steps += 1
                    if steps >= self._next_checkpoint:
                        self._checkpoint(steps, task)
                    if watched is not None and watched.done:
                        return
                if not heap or heap[0][0] > until:
                    return
                time = heap[0][0]
                self.now = time if time > self.now else self.now
                # All that is due at this very instant, in the order it was asked for.
                while heap and heap[0][0] <= time:
                    _, _, task, turn = pop(heap)
                    if turn == task.turn:
                        ready.append((task, turn, EXPIRED))
                if len(heap) > self._compact_at:
                    self._compact()
        finally:
            self.steps = steps

    def _checkpoint(self, steps: int, task: Task[Any]) -> None:
        """Collect garbage at a step count, so that finalisers run at the same place every time."""
        self._next_checkpoint = steps + CHECKPOINT_STEPS
        self._checkpoints += 1
        gc.collect(2 if self._checkpoints % FULL_COLLECTION_EVERY == 0 else 1)
        self._idle_checkpoints = self._idle_checkpoints + 1 if self._checkpoint_time == self.now else 0
        self._checkpoint_time = self.now
        if self._idle_checkpoints >= LIVELOCK_CHECKPOINTS:
            raise Livelock(task.path, self.now, self._idle_checkpoints * CHECKPOINT_STEPS)

    def _compact(self) -> None:
        live = [entry for entry in self._heap if entry[3] == entry[2].turn]
        self._heap[:] = live
        heapify(self._heap)
        self._compact_at = max(COMPACT_AT, 2 * len(live))
