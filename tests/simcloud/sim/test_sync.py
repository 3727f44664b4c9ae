from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from hypothesis import given, strategies as st

from simcloud.sim import (
    Closed,
    Condition,
    Dropped,
    Event,
    Kernel,
    Queue,
    Semaphore,
    Task,
    TimedOut,
    first_of,
    gather,
)


def run(kernel: Kernel, work: Coroutine[Any, Any, Any], limit_s: float = 1000.0) -> Any:
    return kernel.run_task(kernel.spawn(work, "main"), limit_s)


# -- Event ---------------------------------------------------------------------------------------


def test_an_event_wakes_all_who_wait_in_order_with_its_value() -> None:
    kernel = Kernel()
    event: Event[str] = Event(kernel)
    got: list[tuple[int, str]] = []

    async def waiter(number: int) -> None:
        got.append((number, await event.wait()))

    for number in range(3):
        kernel.spawn(waiter(number), "waiter")
    kernel.run_for(1.0)
    event.set("now")
    event.set("later")
    kernel.run_for(0.0)
    assert got == [(0, "now"), (1, "now"), (2, "now")]
    assert run(kernel, event.wait()) == "now"


def test_a_failed_event_raises_in_all_who_wait_and_all_who_come_later() -> None:
    kernel = Kernel()
    event: Event[str] = Event(kernel)

    async def waiter() -> str:
        with pytest.raises(ConnectionError, match="gone"):
            await event.wait()
        return "told"

    early = kernel.spawn(waiter(), "early")
    kernel.run_for(1.0)
    event.fail(ConnectionError("gone"))
    event.set("too late")
    assert kernel.run_task(early) == "told"
    assert run(kernel, waiter()) == "told"


def test_waiting_for_an_event_has_an_end() -> None:
    kernel = Kernel()
    event: Event[str] = Event(kernel)

    async def waiter() -> float:
        with pytest.raises(TimedOut, match="nothing happened within 2 s"):
            await event.wait(2.0)
        await kernel.sleep(10.0)
        return kernel.now

    kernel.call_later(3.0, lambda _: event.set("late"))
    assert run(kernel, waiter()) == 12.0


def test_who_gives_up_waiting_leaves_no_trace() -> None:
    kernel = Kernel()
    event: Event[None] = Event(kernel)
    condition = Condition(kernel)

    async def polls(wait: Callable[[float], Any]) -> None:
        for _ in range(1000):
            with pytest.raises(TimedOut):
                await wait(1.0)

    run(kernel, polls(event.wait), limit_s=2000.0)
    run(kernel, polls(condition.wait), limit_s=2000.0)
    assert len(event._waiters) == len(condition._waiters) == 0


def test_an_event_at_the_instant_of_the_time_out_counts() -> None:
    kernel = Kernel()
    event: Event[str] = Event(kernel)
    kernel.call_at(1.0, lambda _: event.set("just in time"))
    assert run(kernel, event.wait(1.0)) == "just in time"


# -- Condition -----------------------------------------------------------------------------------


def test_a_condition_wakes_those_who_wait_now_and_not_those_who_come_later() -> None:
    kernel = Kernel()
    condition = Condition(kernel)
    log: list[str] = []

    async def waiter(name: str) -> None:
        await condition.wait()
        log.append(f"{name} at {kernel.now:g}")

    kernel.spawn(waiter("a"), "a")
    kernel.spawn(waiter("b"), "b")
    kernel.run_for(1.0)
    condition.notify()
    kernel.spawn(waiter("c"), "c")
    kernel.run_for(1.0)
    condition.notify()
    kernel.run_for(1.0)
    assert log == ["a at 1", "b at 1", "c at 2"]


def test_waiting_for_a_condition_has_an_end() -> None:
    kernel = Kernel()
    condition = Condition(kernel)

    async def waiter() -> float:
        with pytest.raises(TimedOut, match="nothing changed within 2 s"):
            await condition.wait(2.0)
        return kernel.now

    assert run(kernel, waiter()) == 2.0


def test_a_dropped_waiter_does_not_stay_on_a_condition() -> None:
    kernel = Kernel()
    condition = Condition(kernel)
    task = kernel.spawn(condition.wait(), "waiter")
    kernel.run_for(1.0)
    task.drop()
    assert condition._waiters == []


# -- Queue ---------------------------------------------------------------------------------------


def test_a_queue_gives_what_came_first_to_who_came_first() -> None:
    kernel = Kernel()
    queue: Queue[int] = Queue(kernel)
    got: list[tuple[str, int]] = []

    async def getter(name: str) -> None:
        got.append((name, await queue.get()))

    for name in "abc":
        kernel.spawn(getter(name), name)
    kernel.run_for(1.0)
    for item in range(3):
        queue.put_nowait(item)
    kernel.run_for(0.0)
    assert got == [("a", 0), ("b", 1), ("c", 2)]


def test_nobody_passes_by_those_who_wait() -> None:
    kernel = Kernel()
    queue: Queue[int] = Queue(kernel)
    got: list[tuple[str, int]] = []

    async def getter(name: str) -> None:
        got.append((name, await queue.get()))

    async def greedy() -> None:
        queue.put_nowait(1)
        assert queue.get_nowait() is None
        await getter("greedy")

    kernel.spawn(getter("patient"), "patient")
    kernel.run_for(1.0)
    kernel.spawn(greedy(), "greedy")
    kernel.run_for(1.0)
    queue.put_nowait(2)
    kernel.run_for(1.0)
    assert got == [("patient", 1), ("greedy", 2)]


def test_a_full_queue_makes_putters_wait_and_keeps_their_order() -> None:
    kernel = Kernel()
    queue: Queue[str] = Queue(kernel, capacity=2)
    log: list[str] = []

    async def putter(item: str) -> None:
        await queue.put(item)
        log.append(f"{item} at {kernel.now:g}")

    for item in "abcd":
        kernel.spawn(putter(item), item)
    kernel.run_for(1.0)
    assert log == ["a at 0", "b at 0"]
    assert queue.full
    assert not queue.put_nowait("e")
    assert queue.get_nowait() == "a"
    kernel.run_for(1.0)
    assert log[2:] == ["c at 1"]
    assert [queue.get_nowait() for _ in range(4)] == ["b", "c", "d", None]
    kernel.run_for(1.0)
    assert log[3:] == ["d at 2"]


def test_waiting_on_a_queue_has_an_end_on_both_sides() -> None:
    kernel = Kernel()
    queue: Queue[str] = Queue(kernel, capacity=1)

    async def main() -> list[Any]:
        with pytest.raises(TimedOut, match="nothing came through the queue within 2 s"):
            await queue.get(2.0)
        await queue.put("a")
        with pytest.raises(TimedOut, match="no room in the queue within 3 s"):
            await queue.put("b", 3.0)
        return [kernel.now, await queue.get(), len(queue)]

    assert run(kernel, main()) == [5.0, "a", 0]


def test_being_passed_over_does_not_prolong_a_wait() -> None:
    kernel = Kernel()
    queue: Queue[int] = Queue(kernel)
    kernel.call_at(1.0, queue.put_nowait, 1)

    async def getter(timeout_s: float) -> float:
        try:
            await queue.get(timeout_s)
        except TimedOut:
            pass
        return kernel.now

    first = kernel.spawn(getter(10.0), "first")
    second = kernel.spawn(getter(1.5), "second")
    assert kernel.run_task(second) == 1.5
    assert kernel.run_task(first) == 1.0


def test_an_item_handed_to_one_who_dies_goes_to_the_next() -> None:
    kernel = Kernel()
    queue: Queue[int] = Queue(kernel)
    got: list[tuple[str, int]] = []

    async def getter(name: str) -> None:
        got.append((name, await queue.get()))

    tasks = [kernel.spawn(getter(name), name) for name in "abc"]
    kernel.run_for(1.0)
    queue.put_nowait(1)
    queue.put_nowait(2)
    tasks[0].drop()
    kernel.run_for(1.0)
    assert sorted(got) == [("b", 2), ("c", 1)]


def test_an_item_does_not_go_to_one_who_is_stopped_and_out_of_time() -> None:
    kernel = Kernel()
    queue: Queue[int] = Queue(kernel)
    got: list[tuple[str, int]] = []

    async def getter(name: str, patience: float) -> None:
        with kernel.timeout(patience):
            got.append((name, await queue.get()))

    stopped = kernel.spawn(getter("stopped", 1.0), "stopped", supervised=True)
    kernel.spawn(getter("other", 100.0), "other")
    kernel.run_for(0.5)
    stopped.pause()
    kernel.run_for(1.0)
    queue.put_nowait(1)
    kernel.run_for(1.0)
    assert got == [("other", 1)]
    stopped.resume()
    with pytest.raises(TimedOut):
        kernel.run_task(stopped)


def test_an_item_nobody_else_wants_is_the_oldest_again() -> None:
    kernel = Kernel()
    queue: Queue[int] = Queue(kernel)
    task = kernel.spawn(queue.get(), "getter")
    kernel.run_for(1.0)
    queue.put_nowait(1)
    queue.put_nowait(2)
    task.drop()
    assert [queue.get_nowait(), queue.get_nowait()] == [1, 2]


def test_closing_ends_the_waiting_and_lets_others_empty_the_queue() -> None:
    kernel = Kernel()
    empty: Queue[str] = Queue(kernel)
    full: Queue[str] = Queue(kernel, capacity=1)
    full.put_nowait("last")

    async def closed(wait: Any) -> str:
        with pytest.raises(Closed):
            await wait
        return "closed"

    getter = kernel.spawn(closed(empty.get()), "getter")
    putter = kernel.spawn(closed(full.put("more")), "putter")
    kernel.run_for(1.0)
    empty.close()
    full.close()
    assert kernel.run_task(getter) == kernel.run_task(putter) == "closed"
    assert run(kernel, full.get()) == "last"
    assert run(kernel, closed(full.get())) == "closed"
    with pytest.raises(Closed):
        full.put_nowait("more")


def test_a_queue_without_room_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="room for at least one item, not 0"):
        Queue(Kernel(), capacity=0)


# -- Semaphore -----------------------------------------------------------------------------------


def test_permits_are_limited_and_handed_on_in_order() -> None:
    kernel = Kernel()
    semaphore = Semaphore(kernel, 2)
    log: list[str] = []

    async def user(name: str) -> None:
        async with semaphore:
            log.append(f"{name} at {kernel.now:g}")
            await kernel.sleep(1.0)

    for name in "abcde":
        kernel.spawn(user(name), name)
    kernel.run_for(0.5)
    assert semaphore.waiting == 3
    kernel.run_for(9.5)
    assert log == ["a at 0", "b at 0", "c at 1", "d at 1", "e at 2"]
    assert (semaphore.available, semaphore.waiting) == (2, 0)


def test_waiting_for_a_permit_has_an_end() -> None:
    kernel = Kernel()
    semaphore = Semaphore(kernel, 0)

    async def main() -> list[float]:
        with pytest.raises(TimedOut, match="no permit within 2 s"):
            await semaphore.acquire(2.0)
        semaphore.release()
        await semaphore.acquire()
        return [kernel.now, semaphore.available, semaphore.waiting]

    assert run(kernel, main()) == [2.0, 0, 0]


def test_a_permit_handed_to_one_who_dies_goes_to_the_next() -> None:
    kernel = Kernel()
    semaphore = Semaphore(kernel, 0)
    got: list[str] = []

    async def user(name: str) -> None:
        await semaphore.acquire()
        got.append(name)

    first = kernel.spawn(user("first"), "first")
    kernel.spawn(user("second"), "second")
    kernel.run_for(1.0)
    semaphore.release()
    first.drop()
    kernel.run_for(1.0)
    assert got == ["second"]
    assert semaphore.available == 0


def test_a_permit_that_comes_at_the_instant_of_the_time_out_is_not_lost() -> None:
    kernel = Kernel()
    semaphore = Semaphore(kernel, 0)
    kernel.call_at(1.0, lambda _: semaphore.release())
    run(kernel, semaphore.acquire(1.0))
    assert semaphore.available == 0


# -- conservation, whatever happens --------------------------------------------------------------

Fate = tuple[float, float, bool]
fates = st.tuples(
    st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0]),  # begins
    st.sampled_from([0.25, 0.5, 1.0, 10.0]),  # loses patience after
    st.booleans(),  # is killed at an instant when others act too
)


def doom(kernel: Kernel, tasks: list[Task[Any]], actors: list[Fate]) -> None:
    for task, (begins, _, killed) in zip(tasks, actors, strict=True):
        if killed:
            kernel.call_at(begins + 0.5, Task.drop, task)


@given(st.lists(fates, max_size=6), st.lists(fates, max_size=6), st.sampled_from([None, 1, 2]))
def test_every_item_is_taken_once_or_still_there(
    getters: list[Fate], putters: list[Fate], capacity: int | None
) -> None:
    kernel = Kernel()
    queue: Queue[int] = Queue(kernel, capacity)
    taken: list[int] = []
    offered: list[int] = []

    async def getter(begins: float, patience: float) -> None:
        await kernel.sleep(begins)
        try:
            taken.append(await queue.get(patience))
        except TimedOut:
            pass

    async def putter(item: int, begins: float, patience: float) -> None:
        await kernel.sleep(begins)
        try:
            await queue.put(item, patience)
            offered.append(item)
        except TimedOut:
            pass

    takers = [kernel.spawn(getter(*fate[:2]), "getter") for fate in getters]
    givers = [kernel.spawn(putter(item, *fate[:2]), "putter") for item, fate in enumerate(putters)]
    doom(kernel, takers, getters)
    doom(kernel, givers, putters)
    kernel.run_for(4.0)
    starving = sum(not task.done for task in takers)
    left = list(iter(queue.get_nowait, None))
    assert not (starving and left), "a live getter waits although an item is there"
    assert len(set(taken + left)) == len(taken + left), "an item was taken twice"
    # A putter killed between being served and hearing of it has put its item all the same.
    assert set(offered) <= set(taken + left)
    kernel.run_for(20.0)
    assert len(queue._getters) == len(queue._putters) == 0


@given(st.lists(fates, max_size=8), st.integers(min_value=0, max_value=2))
def test_permits_are_neither_lost_nor_made(users: list[Fate], permits: int) -> None:
    kernel = Kernel()
    semaphore = Semaphore(kernel, permits)
    holders = 0

    async def user(begins: float, patience: float) -> None:
        nonlocal holders
        await kernel.sleep(begins)
        try:
            await semaphore.acquire(patience)
        except TimedOut:
            return
        holders += 1
        assert holders <= permits
        try:
            await kernel.sleep(0.5)
        finally:
            holders -= 1
            semaphore.release()

    tasks = [kernel.spawn(user(*fate[:2]), "user") for fate in users]
    doom(kernel, tasks, users)
    kernel.run_for(30.0)
    assert (semaphore.available, semaphore.waiting) == (permits, 0)


# -- many at once --------------------------------------------------------------------------------


def test_gather_runs_side_by_side_and_keeps_the_order() -> None:
    kernel = Kernel()

    async def work(seconds: float) -> float:
        await kernel.sleep(seconds)
        return seconds

    async def main() -> list[float]:
        return await gather(kernel, [work(3.0), work(1.0), work(2.0)], "work")

    assert run(kernel, main()) == [3.0, 1.0, 2.0]
    assert kernel.now == 3.0
    assert run(kernel, gather(kernel, [], "nothing")) == []


def test_the_first_error_ends_a_gather_and_drops_the_others() -> None:
    kernel = Kernel()
    log: list[str] = []

    async def forever(name: str) -> None:
        try:
            await kernel.sleep(1e9)
        finally:
            log.append(f"{name} dropped at {kernel.now:g}")

    async def bad() -> None:
        await kernel.sleep(2.0)
        raise ValueError("broken")

    async def main() -> str:
        with pytest.raises(ValueError, match="broken"):
            await gather(kernel, [forever("a"), bad(), forever("b")], "work")
        return "went on"

    assert run(kernel, main()) == "went on"
    assert log == ["a dropped at 2", "b dropped at 2"]


def test_members_of_a_gather_are_children_and_die_with_it() -> None:
    kernel = Kernel()
    paths: list[str] = []

    async def member() -> None:
        assert kernel.current is not None
        paths.append(kernel.current.path)
        await kernel.sleep(100.0)
        paths.append("never")

    async def main() -> None:
        await gather(kernel, [member(), member()], "member")

    task = kernel.spawn(main(), "main")
    kernel.run_for(1.0)
    task.drop()
    kernel.run_for(200.0)
    assert paths == ["main/member-0", "main/member-1"]


def test_a_member_dropped_from_outside_fails_the_gather() -> None:
    kernel = Kernel()

    async def member() -> None:
        await kernel.sleep(100.0)

    async def main() -> float:
        with pytest.raises(Dropped, match="member-0 was dropped"):
            await gather(kernel, [member()], "member")
        return kernel.now

    task = kernel.spawn(main(), "main")
    kernel.run_for(1.0)
    assert task.children is not None
    next(iter(task.children)).drop()
    assert kernel.run_task(task) == 1.0


def test_first_of_gives_the_first_and_drops_the_rest() -> None:
    kernel = Kernel()
    log: list[str] = []

    async def work(seconds: float) -> str:
        try:
            await kernel.sleep(seconds)
        except GeneratorExit:
            log.append(f"{seconds:g} dropped at {kernel.now:g}")
            raise
        return f"{seconds:g}"

    async def main() -> tuple[int, str]:
        return await first_of(kernel, [work(3.0), work(1.0), work(2.0)], "work")

    assert run(kernel, main()) == (1, "1")
    assert log == ["3 dropped at 1", "2 dropped at 1"]


def test_an_error_may_come_first_too() -> None:
    kernel = Kernel()

    async def bad() -> None:
        await kernel.sleep(1.0)
        raise ValueError("broken")

    async def main() -> float:
        with pytest.raises(ValueError, match="broken"):
            await first_of(kernel, [kernel.sleep(5.0), bad()], "work")
        return kernel.now

    assert run(kernel, main()) == 1.0


@pytest.mark.parametrize("together", [gather, first_of])
def test_members_that_never_got_to_start_are_closed(together: Callable[..., Any]) -> None:
    kernel = Kernel()

    async def member() -> None:
        await kernel.sleep(1.0)

    async def main() -> None:
        assert kernel.current is not None
        kernel.current.cancel()
        await together(kernel, [member(), member()], "member")

    gc.collect()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # such as "coroutine was never awaited"
        kernel.spawn(main(), "main")
        kernel.run_for(5.0)
        gc.collect()
