"""Ways for tasks to wait for each other: events, queues, semaphores, many at once.

Waiting lists are first come, first served: what becomes free is handed to whoever waits longest,
not left for the next one to pass by. A waiter that leaves (dropped, cancelled, out of time) leaves
its list too, and passes on what it was handed at that very instant, so nothing is lost on the dead.
One that is served and runs out of time at the same instant keeps what it was given.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine, Generator, Iterable
from types import TracebackType, coroutine
from typing import Any, Generic, TypeVar, cast

from simcloud.sim.errors import Closed, TimedOut
from simcloud.sim.kernel import EXPIRED, Kernel
from simcloud.sim.task import Cancelled, Dropped, Task, close_quietly

T = TypeVar("T")
R = TypeVar("R")

Waiter = tuple[Task[Any], float]
"""A task and the turn it waits in: when its turn moved on, it waits no more."""


def leave(waiters: list[Waiter], waiter: Waiter) -> bool:
    """Take a waiter off a list; False when it was woken at this instant and is off it already."""
    try:
        waiters.remove(waiter)
    except ValueError:
        return False
    return True


class Event(Generic[T]):
    """Something that happens once, with a value or an error. ``await event.wait()`` gives the value."""

    __slots__ = ("_error", "_kernel", "_value", "_waiters", "is_set")

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._waiters: list[Waiter] = []
        self._value: T | None = None
        self._error: BaseException | None = None
        self.is_set = False

    def set(self, value: T | None = None) -> None:
        """It has happened: wake all who wait. A second call changes nothing."""
        if not self.is_set:
            self.is_set = True
            self._value = value
            self._wake_all()

    def fail(self, error: BaseException) -> None:
        """It will never happen: raise this in all who wait."""
        if not self.is_set:
            self.is_set = True
            self._error = error
            self._wake_all()

    @coroutine
    def wait(self, timeout_s: float | None = None) -> Generator[float | None, Any, T]:
        """The event's value, once it has one; raises ``TimedOut`` when that takes too long."""
        if not self.is_set:
            task = cast("Task[Any]", self._kernel.current)
            waiter = (task, task.turn)
            self._waiters.append(waiter)
            try:
                woken_by = yield timeout_s
            except BaseException:
                leave(self._waiters, waiter)
                raise
            if woken_by is EXPIRED and leave(self._waiters, waiter):
                raise TimedOut(f"nothing happened within {timeout_s:g} s")
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]  # T may itself be None

    def _wake_all(self) -> None:
        ready = self._kernel.ready
        for task, turn in self._waiters:
            ready.append((task, turn, None))
        self._waiters.clear()


class Condition:
    """A place to wait until something may have changed. The waiter looks again when woken."""

    __slots__ = ("_kernel", "_waiters")

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._waiters: list[Waiter] = []

    @coroutine
    def wait(self, timeout_s: float | None = None) -> Generator[float | None, Any, None]:
        """Wait for the next ``notify``; raises ``TimedOut`` when that takes too long."""
        task = cast("Task[Any]", self._kernel.current)
        waiter = (task, task.turn)
        self._waiters.append(waiter)
        try:
            woken_by = yield timeout_s
        except BaseException:
            leave(self._waiters, waiter)
            raise
        if woken_by is EXPIRED and leave(self._waiters, waiter):
            raise TimedOut(f"nothing changed within {timeout_s:g} s")

    def notify(self) -> None:
        """Wake all who wait now."""
        waiters, self._waiters = self._waiters, []
        for task, turn in waiters:
            self._kernel.ready.append((task, turn, None))


class Place(Generic[T]):
    """A task's place in a line; ``served`` once it was given what it stands there for."""

    __slots__ = ("item", "served", "task", "turn")

    def __init__(self, task: Task[Any], item: T | None) -> None:
        self.task = task
        self.turn = task.turn
        self.item = item
        self.served = False


class Line(Generic[T]):
    """Tasks that wait to be served one by one, the longest first."""

    __slots__ = ("_kernel", "_places")

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._places: deque[Place[T]] = deque()

    def __len__(self) -> int:
        return len(self._places)

    def join(self, item: T | None = None) -> Place[T]:
        """Put the running task at the end of the line, with what it brings."""
        place = Place(cast("Task[Any]", self._kernel.current), item)
        self._places.append(place)
        return place

    def leave(self, place: Place[T]) -> None:
        """Give up a place that was not served."""
        try:
            self._places.remove(place)
        except ValueError:
            pass  # sent away at this very instant

    def serve(self) -> Place[T] | None:
        """Serve and wake whoever waits longest, if anybody does."""
        places = self._places
        while places:
            place = places.popleft()
            if place.turn == place.task.turn:
                place.served = True
                self._kernel.ready.append((place.task, place.turn, None))
                return place
        return None

    def send_away(self) -> None:
        """Wake everybody unserved."""
        for place in self._places:
            self._kernel.ready.append((place.task, place.turn, None))
        self._places.clear()


class Queue(Generic[T]):
    """First in, first out, with room for ``capacity`` items (no limit unless given)."""

    __slots__ = ("_capacity", "_getters", "_items", "_putters", "closed")

    def __init__(self, kernel: Kernel, capacity: int | None = None) -> None:
        if capacity is not None and capacity < 1:
            raise ValueError(f"a queue needs room for at least one item, not {capacity}")
        self._capacity = capacity
        self._items: deque[T] = deque()
        self._getters: Line[T] = Line(kernel)
        self._putters: Line[T] = Line(kernel)
        self.closed = False

    def __len__(self) -> int:
        return len(self._items)

    @property
    def full(self) -> bool:
        """Whether a put would have to wait."""
        return self._capacity is not None and len(self._items) >= self._capacity

    def put_nowait(self, item: T) -> bool:
        """Add an item if there is room; False when the queue is full."""
        if self.closed:
            raise Closed
        getter = self._getters.serve()
        if getter is not None:
            getter.item = item
        elif self._capacity is not None and len(self._items) >= self._capacity:
            return False
        else:
            self._items.append(item)
        return True

    @coroutine
    def put(self, item: T, timeout_s: float | None = None) -> Generator[float | None, Any, None]:
        """Add an item, waiting for room."""
        if self.put_nowait(item):
            return
        place = self._putters.join(item)
        try:
            yield timeout_s
        finally:
            if not place.served:
                self._putters.leave(place)
        if not place.served:
            raise Closed if self.closed else TimedOut(f"no room in the queue within {timeout_s:g} s")

    def get_nowait(self) -> T | None:
        """Take an item if there is one; None when there is none."""
        return self._take() if self._items else None

    @coroutine
    def get(self, timeout_s: float | None = None) -> Generator[float | None, Any, T]:
        """Take the oldest item, waiting for one. ``Closed`` once a closed queue is empty."""
        if self._items:
            return self._take()
        if self.closed:
            raise Closed
        place = self._getters.join()
        try:
            yield timeout_s
        except BaseException:
            if place.served:
                self._return(cast("T", place.item))
            else:
                self._getters.leave(place)
            raise
        if place.served:
            return cast("T", place.item)
        if self.closed:
            raise Closed
        self._getters.leave(place)
        raise TimedOut(f"nothing came through the queue within {timeout_s:g} s")

    def close(self) -> None:
        """No more items: those who wait see ``Closed``, others once they have emptied the queue."""
        self.closed = True
        self._getters.send_away()
        self._putters.send_away()

    def _take(self) -> T:
        item = self._items.popleft()
        if self._putters:
            putter = self._putters.serve()
            if putter is not None:
                self._items.append(cast("T", putter.item))
        return item

    def _return(self, item: T) -> None:
        """Put back an item whose receiver has gone; it becomes the oldest again."""
        getter = self._getters.serve()
        if getter is not None:
            getter.item = item
        else:
            self._items.appendleft(item)


class Semaphore:
    """A number of permits, granted in the order of the requests."""

    __slots__ = ("_line", "available")

    def __init__(self, kernel: Kernel, permits: int) -> None:
        self._line: Line[None] = Line(kernel)
        self.available = permits

    @property
    def waiting(self) -> int:
        """How many tasks stand in line."""
        return len(self._line)

    @coroutine
    def acquire(self, timeout_s: float | None = None) -> Generator[float | None, Any, None]:
        """Take a permit, waiting for one; ``TimedOut`` when that takes too long."""
        if self.available > 0:
            self.available -= 1
            return
        place = self._line.join()
        try:
            yield timeout_s
        except BaseException:
            if place.served:
                self.release()
            else:
                self._line.leave(place)
            raise
        if not place.served:
            self._line.leave(place)
            raise TimedOut(f"no permit within {timeout_s:g} s")

    def release(self) -> None:
        """Give a permit back; the next in line gets it at once."""
        if self._line.serve() is None:
            self.available += 1

    async def __aenter__(self) -> None:
        await self.acquire()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


async def gather(kernel: Kernel, works: Iterable[Coroutine[Any, Any, T]], name: str) -> list[T]:
    """Run coroutines side by side; their results in order. The first error drops the others."""
    works = list(works)
    results: list[T] = [cast("T", None)] * len(works)
    missing = len(works)
    over: Event[None] = Event(kernel)

    async def run(number: int, work: Coroutine[Any, Any, T]) -> None:
        nonlocal missing
        try:
            results[number] = await work
        except GeneratorExit:
            over.fail(Dropped(f"{name}-{number} was dropped"))
            raise
        except (Exception, Cancelled) as error:
            over.fail(error)
        missing -= 1
        if not missing:
            over.set()

    if works:
        await _together(kernel, works, run, name, over)
    return results


async def first_of(kernel: Kernel, works: Iterable[Coroutine[Any, Any, T]], name: str) -> tuple[int, T]:
    """Run coroutines side by side until one ends: its index and result. The others are dropped."""
    over: Event[tuple[int, T]] = Event(kernel)

    async def run(number: int, work: Coroutine[Any, Any, T]) -> None:
        try:
            over.set((number, await work))
        except GeneratorExit:
            over.fail(Dropped(f"{name}-{number} was dropped"))
            raise
        except (Exception, Cancelled) as error:
            over.fail(error)

    return await _together(kernel, list(works), run, name, over)


async def _together(
    kernel: Kernel,
    works: list[Coroutine[Any, Any, T]],
    run: Callable[[int, Coroutine[Any, Any, T]], Coroutine[Any, Any, None]],
    name: str,
    over: Event[R],
) -> R:
    """Run the works under the present task until it is over; then none of them is left."""
    parent = kernel.current
    tasks = [kernel.spawn(run(number, work), f"{name}-{number}", parent) for number, work in enumerate(works)]
    try:
        return await over.wait()
    finally:
        for task in tasks:
            task.drop()
        for work in works:
            close_quietly(work)  # one that never got to start
