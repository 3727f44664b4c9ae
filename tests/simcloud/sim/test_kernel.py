from __future__ import annotations

import asyncio
import gc
import random
import sys
import weakref
from collections.abc import AsyncIterator

import pytest
from hypothesis import given, strategies as st

from simcloud.sim import (
    Event,
    Kernel,
    Livelock,
    SimulationError,
    TaskFailed,
    TimedOut,
    kernel as kernel_module,
)


def test_time_moves_only_when_driven_and_exactly_as_far() -> None:
    kernel = Kernel()
    assert kernel.now == 0.0
    kernel.run_until(2.5)
    assert kernel.now == 2.5
    kernel.run_for(0.25)
    assert kernel.now == 2.75


def test_sleep_ends_at_its_time() -> None:
    kernel = Kernel()
    woken: list[float] = []

    async def sleeper() -> None:
        await kernel.sleep(1.5)
        woken.append(kernel.now)
        await kernel.sleep(0.5)
        woken.append(kernel.now)

    kernel.spawn(sleeper(), "sleeper")
    kernel.run_until(1.49)
    assert woken == []
    kernel.run_until(1.5)
    assert woken == [1.5]
    kernel.run_until(10.0)
    assert woken == [1.5, 2.0]


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan")])
def test_sleeping_for_no_time_lets_what_is_ready_go_first(seconds: float) -> None:
    kernel = Kernel()
    order: list[str] = []

    async def polite() -> None:
        order.append("polite begins")
        await kernel.sleep(seconds)
        order.append("polite ends")

    async def other() -> None:
        order.append("other")

    kernel.spawn(polite(), "polite")
    kernel.spawn(other(), "other")
    kernel.run_for(0.0)
    assert order == ["polite begins", "other", "polite ends"]
    assert kernel.now == 0.0


def test_a_negative_wait_does_not_turn_time_back() -> None:
    kernel = Kernel()
    never: Event[None] = Event(kernel)

    async def late() -> float:
        await kernel.sleep(5.0)
        with pytest.raises(TimedOut):
            await never.wait(-3.0)
        return kernel.now

    assert kernel.run_task(kernel.spawn(late(), "late")) == 5.0


def test_what_is_due_at_one_instant_runs_in_the_order_it_was_asked_for() -> None:
    kernel = Kernel()
    order: list[str] = []

    async def at_one(name: str) -> None:
        await kernel.sleep(1.0)
        order.append(name)

    kernel.spawn(at_one("a"), "a")
    kernel.call_at(1.0, order.append, "timer")
    kernel.spawn(at_one("b"), "b")
    kernel.run_for(2.0)
    assert order == ["timer", "a", "b"]


@given(st.lists(st.floats(min_value=0.0, max_value=100.0), max_size=40))
def test_timers_fire_in_order_of_time_then_of_request(times: list[float]) -> None:
    kernel = Kernel()
    fired: list[tuple[float, int]] = []
    for number, time in enumerate(times):
        kernel.call_at(time, lambda number: fired.append((kernel.now, number)), number)
    kernel.run_until(100.0)
    assert fired == sorted((time, number) for number, time in enumerate(times))


def test_a_cancelled_timer_does_not_fire_and_cancelling_late_is_harmless() -> None:
    kernel = Kernel()
    fired: list[int] = []
    timers = [kernel.call_later(1.0, fired.append, number) for number in range(3)]
    timers[1].cancel()
    kernel.run_for(2.0)
    timers[0].cancel()
    assert fired == [0, 2]


def test_a_timer_set_for_the_past_fires_now() -> None:
    kernel = Kernel()
    kernel.run_until(10.0)
    fired: list[float] = []
    kernel.call_at(3.0, lambda _: fired.append(kernel.now))
    kernel.call_later(-1.0, lambda _: fired.append(kernel.now))
    kernel.run_for(0.0)
    assert fired == [10.0, 10.0]


def test_a_task_started_by_a_timer_stands_alone() -> None:
    kernel = Kernel()
    paths: list[str] = []

    async def work() -> None:
        assert kernel.current is not None
        paths.append(kernel.current.path)

    kernel.call_later(1.0, lambda _: kernel.spawn(work(), "work", kernel.current))
    kernel.run_for(2.0)
    assert paths == ["work"]


def test_an_error_in_a_task_fails_the_run_with_its_name_and_time() -> None:
    kernel = Kernel()

    async def inner() -> None:
        await kernel.sleep(1.5)
        raise KeyError("x")

    async def outer() -> None:
        await kernel.spawn(inner(), "inner", kernel.current)

    kernel.spawn(outer(), "outer")
    with pytest.raises(
        TaskFailed, match=r"^task outer/inner failed at 1\.500000 s: KeyError: 'x'$"
    ) as failure:
        kernel.run_for(5.0)
    assert isinstance(failure.value.__cause__, KeyError)
    assert (failure.value.task, failure.value.time) == ("outer/inner", 1.5)


def test_a_failed_world_does_not_go_on() -> None:
    kernel = Kernel()

    async def bad() -> None:
        raise ValueError("broken")

    kernel.spawn(bad(), "bad")
    fired: list[int] = []
    kernel.call_later(1.0, fired.append, 1)
    for _ in range(2):
        with pytest.raises(TaskFailed, match="task bad failed"):
            kernel.run_for(5.0)
    assert fired == []


def test_an_error_in_a_timer_names_what_it_would_have_called() -> None:
    kernel = Kernel()

    def explode(_argument: object) -> None:
        raise ValueError("boom")

    kernel.call_later(1.0, explode)
    with pytest.raises(TaskFailed, match=r"task timer .*explode failed at 1\.000000 s: ValueError: boom"):
        kernel.run_for(5.0)


def test_stop_iteration_in_a_timer_is_an_error_like_any_other() -> None:
    kernel = Kernel()
    kernel.call_later(1.0, lambda _: next(iter(())))
    with pytest.raises(TaskFailed, match="StopIteration"):
        kernel.run_for(5.0)


def test_an_interrupt_passes_and_leaves_a_world_that_says_it_cannot_go_on() -> None:
    kernel = Kernel()

    def interrupt(_argument: object) -> None:
        raise KeyboardInterrupt

    kernel.call_later(1.0, interrupt)
    with pytest.raises(KeyboardInterrupt):
        kernel.run_for(5.0)
    with pytest.raises(SimulationError, match="KeyboardInterrupt interrupted the world"):
        kernel.run_for(5.0)


def test_the_world_cannot_be_driven_from_inside() -> None:
    kernel = Kernel()

    async def impatient() -> None:
        kernel.run_for(1.0)

    kernel.spawn(impatient(), "impatient")
    with pytest.raises(TaskFailed, match="run_until was called from inside a task"):
        kernel.run_for(5.0)


def test_run_task_returns_the_result_and_stops_there() -> None:
    kernel = Kernel()

    async def work() -> str:
        await kernel.sleep(3.0)
        return "done"

    task = kernel.spawn(work(), "work")
    kernel.call_later(100.0, lambda _: None)
    assert kernel.run_task(task) == "done"
    assert kernel.now == 3.0
    assert kernel.run_task(task) == "done"
    assert kernel.now == 3.0


def test_run_task_says_when_the_limit_was_too_short() -> None:
    kernel = Kernel()
    task = kernel.spawn(kernel.sleep(10.0), "slow")
    with pytest.raises(SimulationError, match="task slow did not end within 5 virtual seconds"):
        kernel.run_task(task, limit_s=5.0)


def test_run_task_says_when_nobody_is_left_to_wake_it() -> None:
    kernel = Kernel()
    never: Event[None] = Event(kernel)

    async def waits() -> None:
        await never.wait()

    with pytest.raises(SimulationError, match="task waits waits for something that nobody is left to do"):
        kernel.run_task(kernel.spawn(waits(), "waits"))


def test_next_event_at_passes_over_what_was_cancelled() -> None:
    kernel = Kernel()
    assert kernel.next_event_at() is None
    kernel.call_later(1.0, lambda _: None).cancel()
    assert kernel.next_event_at() is None
    kernel.call_later(2.0, lambda _: None)
    assert kernel.next_event_at() == 2.0
    kernel.spawn(kernel.sleep(1.0), "sleeper")
    assert kernel.next_event_at() == 0.0


def test_a_standstill_is_noticed_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_module, "CHECKPOINT_STEPS", 100)
    kernel = Kernel()
    kernel._next_checkpoint = 100

    async def spin() -> None:
        while True:
            await kernel.sleep(0.0)

    async def begin() -> None:
        await kernel.sleep(2.0)
        kernel.spawn(spin(), "spin", kernel.current)

    kernel.spawn(begin(), "begin")
    with pytest.raises(Livelock, match=r"virtual time stands still at 2\.000000 s .* task spin ran last"):
        kernel.run_for(5.0)


def test_a_busy_world_whose_time_moves_is_no_standstill(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_module, "CHECKPOINT_STEPS", 100)
    kernel = Kernel()
    kernel._next_checkpoint = 100

    async def busy() -> None:
        while True:
            await kernel.sleep(0.001)

    kernel.spawn(busy(), "busy")
    kernel.run_for(7.0)
    assert kernel.steps > 60 * 100


def test_many_abandoned_timers_are_swept_out_and_the_rest_still_fire() -> None:
    kernel = Kernel()
    fired: list[int] = []
    for number in range(30_000):
        timer = kernel.call_later(100.0 + number, fired.append, number)
        if number % 1000:
            timer.cancel()
    kernel.call_later(1.0, fired.append, -1)
    kernel.run_for(2.0)
    assert len(kernel._heap) == 30
    kernel.run_until(1e6)
    assert fired == [-1, *range(0, 30_000, 1000)]


def test_garbage_is_collected_at_step_counts_only() -> None:
    class Node:
        """Refers to itself, so only the collector frees it."""

        def __init__(self) -> None:
            self.me = self

    kernel = Kernel()
    alive: list[bool] = []

    async def churn() -> None:
        node = weakref.ref(Node())
        for _ in range(kernel_module.CHECKPOINT_STEPS + 10):
            await kernel.sleep(0.001)
            alive.append(node() is not None)

    assert gc.isenabled()
    kernel.run_task(kernel.spawn(churn(), "churn"))
    assert gc.isenabled()
    # Step 1 starts the task; the one that completes the checkpoint is the last to see the node.
    assert alive.index(False) == kernel_module.CHECKPOINT_STEPS - 1
    assert not any(alive[kernel_module.CHECKPOINT_STEPS - 1 :])


@given(st.integers(min_value=0, max_value=2**32), st.integers(min_value=1, max_value=12))
def test_the_same_seed_gives_the_same_steps(seed: int, tasks: int) -> None:
    def trace() -> list[tuple[float, str]]:
        kernel = Kernel(seed)
        steps: list[tuple[float, str]] = []
        kernel.trace_to(lambda time, path: steps.append((time, path)))

        async def wander(draw: random.Random) -> None:
            for _ in range(5):
                await kernel.sleep(draw.choice([0.0, 0.1, 0.5]))

        for number in range(tasks):
            kernel.spawn(wander(kernel.random(f"task-{number}")), f"task-{number}")
        kernel.run_for(10.0)
        return steps

    steps = trace()
    assert steps == trace()
    assert [time for time, _ in steps] == sorted(time for time, _ in steps)


def left_early(log: list[str]) -> None:
    """A task that takes one of what a generator has, and goes on."""
    kernel = Kernel(1)

    async def counting() -> AsyncIterator[int]:
        try:
            yield 1
            yield 2
        finally:
            log.append("closed")

    async def reader() -> None:
        async for number in counting():
            log.append(f"took {number}")
            break
        log.append("went on")

    kernel.spawn(reader(), "reader")
    kernel.run_for(1.0)
    log.append("driven")


def test_a_world_is_the_same_within_an_asyncio_loop() -> None:
    alone: list[str] = []
    left_early(alone)
    within: list[str] = []

    async def script() -> None:
        hooks = sys.get_asyncgen_hooks()
        left_early(within)
        assert sys.get_asyncgen_hooks() == hooks
        await asyncio.sleep(0)

    asyncio.run(script())
    assert within == alone == ["took 1", "closed", "went on", "driven"]
