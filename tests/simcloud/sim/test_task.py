from __future__ import annotations

import gc
import warnings
from collections.abc import Coroutine
from typing import Any

import pytest

from simcloud.sim import Cancelled, Dropped, Event, Kernel, Queue, SimulationError, Task, TaskFailed, TimedOut


async def nap(kernel: Kernel, seconds: float, log: list[str] | None = None, name: str = "") -> str:
    """Sleep, and write down how it ended."""
    try:
        await kernel.sleep(seconds)
    except BaseException as error:
        if log is not None:
            log.append(f"{name} {type(error).__name__}")
        raise
    if log is not None:
        log.append(f"{name} ended")
    return name


def run(kernel: Kernel, work: Coroutine[Any, Any, Any]) -> Any:
    return kernel.run_task(kernel.spawn(work, "main"))


# -- awaiting ------------------------------------------------------------------------------------


def test_awaiting_a_task_gives_its_result_before_and_after_its_end() -> None:
    kernel = Kernel()

    async def main() -> list[Any]:
        task = kernel.spawn(nap(kernel, 2.0, name="x"), "x")
        return [await task, kernel.now, await task.join(), kernel.now]

    assert run(kernel, main()) == ["x", 2.0, "x", 2.0]


def test_several_may_await_one_task() -> None:
    kernel = Kernel()
    task = kernel.spawn(nap(kernel, 2.0, name="x"), "x")
    seen: list[tuple[int, str]] = []

    async def joiner(number: int) -> None:
        seen.append((number, await task))

    for number in range(3):
        kernel.spawn(joiner(number), "joiner")
    kernel.run_for(3.0)
    assert seen == [(0, "x"), (1, "x"), (2, "x")]


def test_the_error_of_a_supervised_task_goes_to_whoever_awaits_it() -> None:
    kernel = Kernel()

    async def bad() -> None:
        await kernel.sleep(1.0)
        raise ValueError("broken")

    async def main() -> str:
        task = kernel.spawn(bad(), "bad", supervised=True)
        with pytest.raises(ValueError, match="broken"):
            await task
        return "went on"

    assert run(kernel, main()) == "went on"


def test_giving_up_on_a_task_does_not_disturb_what_is_awaited_next() -> None:
    kernel = Kernel()

    async def main() -> float:
        task = kernel.spawn(nap(kernel, 5.0), "slow")
        with pytest.raises(TimedOut), kernel.timeout(1.0):
            await task
        await kernel.sleep(100.0)
        return kernel.now

    assert run(kernel, main()) == 101.0


def test_giving_up_on_a_task_leaves_no_trace_on_it() -> None:
    kernel = Kernel()
    task = kernel.spawn(nap(kernel, 1000.0), "slow")

    async def polls() -> None:
        for _ in range(10):
            with pytest.raises(TimedOut), kernel.timeout(1.0):
                await task

    run(kernel, polls())
    assert task._waiters == []


def test_the_result_of_a_running_task_is_not_to_be_had() -> None:
    kernel = Kernel()
    task = kernel.spawn(nap(kernel, 5.0), "slow")
    with pytest.raises(SimulationError, match="task slow has not ended yet"):
        task.result()
    kernel.run_for(9.0)


# -- families ------------------------------------------------------------------------------------


def test_a_path_names_all_parents() -> None:
    kernel = Kernel()
    task: Task[Any] | None = None
    for name in "abc":
        task = kernel.spawn(nap(kernel, 5.0), name, task)
    assert task is not None
    assert task.path == "a/b/c"
    assert repr(task) == "<Task a/b/c>"
    kernel.run_for(9.0)
    assert repr(task) == "<Task c done>"


def test_dropping_a_task_drops_its_family_children_first() -> None:
    kernel = Kernel()
    log: list[str] = []
    parent = kernel.spawn(nap(kernel, 9.0, log, "parent"), "parent")
    first = kernel.spawn(nap(kernel, 9.0, log, "first"), "first", parent)
    kernel.spawn(nap(kernel, 9.0, log, "grandchild"), "grandchild", first)
    kernel.spawn(nap(kernel, 9.0, log, "second"), "second", parent)
    kernel.spawn(nap(kernel, 9.0, log, "stranger"), "stranger")
    kernel.run_for(1.0)
    parent.drop()
    expected = [f"{name} GeneratorExit" for name in ("grandchild", "first", "second", "parent")]
    assert log == expected
    assert parent.done
    assert first.done
    kernel.run_for(20.0)
    assert log == [*expected, "stranger ended"]


def test_a_task_that_ends_leaves_its_children_one_level_up() -> None:
    kernel = Kernel()
    log: list[str] = []
    grandparent = kernel.spawn(nap(kernel, 9.0, log, "grandparent"), "grandparent")
    parent = kernel.spawn(nap(kernel, 1.0, log, "parent"), "parent", grandparent)
    child = kernel.spawn(nap(kernel, 9.0, log, "child"), "child", parent)
    kernel.run_for(2.0)
    assert child.path == "grandparent/child"
    grandparent.drop()
    assert log == ["parent ended", "child GeneratorExit", "grandparent GeneratorExit"]


def test_a_task_started_under_one_that_ended_belongs_one_level_up() -> None:
    kernel = Kernel()
    grandparent = kernel.spawn(nap(kernel, 9.0), "grandparent")
    parent = kernel.spawn(nap(kernel, 1.0), "parent", grandparent)
    kernel.run_for(2.0)
    child = kernel.spawn(nap(kernel, 9.0), "child", parent)
    assert child.path == "grandparent/child"
    grandparent.drop()
    assert child.done


def test_nothing_starts_under_a_dropped_task() -> None:
    kernel = Kernel()
    log: list[str] = []

    async def dies() -> None:
        assert kernel.current is not None
        kernel.current.drop()
        task = kernel.spawn(nap(kernel, 1.0, log, "child"), "child", kernel.current)
        assert task.done
        with pytest.raises(Dropped):
            task.result()

    kernel.spawn(dies(), "dies")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # such as "coroutine was never awaited"
        kernel.run_for(5.0)
        gc.collect()
    assert log == []


def test_a_very_deep_family_can_be_named_and_dropped() -> None:
    kernel = Kernel()
    tasks = [kernel.spawn(nap(kernel, 9.0), "t")]
    for _ in range(5000):
        tasks.append(kernel.spawn(nap(kernel, 9.0), "t", tasks[-1]))
    kernel.run_for(1.0)
    assert tasks[-1].path.count("/") == 5000
    tasks[0].drop()
    assert all(task.done for task in tasks)


# -- dropping ------------------------------------------------------------------------------------


def test_whoever_awaits_a_dropped_task_is_told() -> None:
    kernel = Kernel()

    async def main() -> float:
        task = kernel.spawn(nap(kernel, 9.0), "victim", kernel.current)
        kernel.call_later(2.0, lambda _: task.drop())
        with pytest.raises(Dropped, match="task main/victim was dropped"):
            await task
        return kernel.now

    assert run(kernel, main()) == 2.0


def test_dropping_twice_or_after_the_end_changes_nothing() -> None:
    kernel = Kernel()
    task = kernel.spawn(nap(kernel, 1.0, name="x"), "x")
    kernel.run_for(2.0)
    task.drop()
    assert task.result() == "x"
    other = kernel.spawn(nap(kernel, 1.0), "other")
    other.drop()
    other.drop()
    assert other.done


def test_a_task_dropped_before_its_first_step_never_runs() -> None:
    kernel = Kernel()
    log: list[str] = []
    task = kernel.spawn(nap(kernel, 1.0, log, "x"), "x")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        task.drop()
        kernel.run_for(5.0)
        gc.collect()
    assert log == []


def test_a_task_may_drop_itself_and_runs_no_further_than_its_next_wait() -> None:
    kernel = Kernel()
    log: list[str] = []

    async def suicidal() -> None:
        assert kernel.current is not None
        try:
            kernel.current.drop()
            log.append("still on the stack")
            await kernel.sleep(1.0)
            log.append("never")
        finally:
            log.append(f"closed at {kernel.now:g}")

    kernel.spawn(suicidal(), "suicidal")
    kernel.run_for(5.0)
    assert log == ["still on the stack", "closed at 0"]


def test_an_error_of_a_task_that_dropped_itself_goes_nowhere() -> None:
    kernel = Kernel()

    async def suicidal() -> None:
        assert kernel.current is not None
        kernel.current.drop()
        raise ValueError("my files are gone")

    kernel.spawn(suicidal(), "suicidal")
    kernel.run_for(5.0)


def test_a_child_may_drop_the_family_it_belongs_to() -> None:
    kernel = Kernel()
    log: list[str] = []

    async def child(parent: Task[Any]) -> None:
        try:
            await kernel.sleep(1.0)
            parent.drop()
            await kernel.sleep(1.0)
            log.append("never")
        finally:
            log.append("child closed")

    parent = kernel.spawn(nap(kernel, 9.0, log, "parent"), "parent")
    kernel.spawn(child(parent), "child", parent)
    kernel.run_for(20.0)
    assert log == ["parent GeneratorExit", "child closed"]


def test_the_clean_up_of_the_dead_cannot_wait_and_is_run_to_its_end() -> None:
    kernel = Kernel()
    log: list[str] = []

    async def stubborn() -> None:
        try:
            await kernel.sleep(9.0)
        finally:
            try:
                await kernel.sleep(1.0)
                log.append("never")
            finally:
                log.append("closed")

    task = kernel.spawn(stubborn(), "stubborn")
    kernel.run_for(1.0)
    task.drop()
    assert log == ["closed"]
    kernel.run_for(9.0)
    assert log == ["closed"]


@pytest.mark.parametrize("error", [ValueError("defect"), RuntimeError("defect"), Cancelled()])
def test_what_the_clean_up_of_the_dead_raises_does_not_reach_the_killer(error: BaseException) -> None:
    kernel = Kernel()

    async def victim() -> None:
        try:
            await kernel.sleep(9.0)
        finally:
            raise error

    async def killer() -> str:
        task = kernel.spawn(victim(), "victim")
        await kernel.sleep(1.0)
        task.drop()
        return "unharmed"

    assert run(kernel, killer()) == "unharmed"


def test_all_of_a_family_is_dead_before_any_clean_up_runs() -> None:
    kernel = Kernel()
    queue: Queue[str] = Queue(kernel)
    got: list[str] = []

    async def child() -> None:
        try:
            await kernel.sleep(9.0)
        finally:
            queue.put_nowait("last words")

    async def parent() -> None:
        got.append(await queue.get())

    family = kernel.spawn(parent(), "parent")
    kernel.spawn(child(), "child", family)
    kernel.run_for(1.0)
    family.drop()
    kernel.run_for(1.0)
    assert got == []
    assert len(queue) == 1


# -- cancelling ----------------------------------------------------------------------------------


def test_a_cancelled_task_may_clean_up_and_its_joiner_sees_dropped() -> None:
    kernel = Kernel()
    log: list[str] = []

    async def careful() -> None:
        try:
            await kernel.sleep(9.0)
        finally:
            await kernel.sleep(1.0)
            log.append(f"clean at {kernel.now:g}")

    async def main() -> None:
        task = kernel.spawn(careful(), "careful")
        await kernel.sleep(2.0)
        task.cancel()
        with pytest.raises(Dropped, match="task careful was cancelled"):
            await task
        log.append("told")

    run(kernel, main())
    assert log == ["clean at 3", "told"]


def test_cancelling_does_not_hide_a_defect() -> None:
    kernel = Kernel()

    async def bad() -> None:
        try:
            await kernel.sleep(9.0)
        except Cancelled:
            raise ValueError("in the clean-up") from None

    task = kernel.spawn(bad(), "bad")
    kernel.run_for(1.0)
    task.cancel()
    with pytest.raises(TaskFailed, match=r"task bad failed at 1\.000000 s: ValueError: in the clean-up"):
        kernel.run_for(1.0)


def test_cancel_reaches_a_task_that_something_else_wakes_at_the_same_instant() -> None:
    kernel = Kernel()
    event: Event[None] = Event(kernel)
    log: list[str] = []

    async def waits() -> None:
        await event.wait()
        log.append("woken")
        await nap(kernel, 9.0, log, "then")

    task = kernel.spawn(waits(), "waits")
    kernel.run_for(1.0)
    event.set()
    task.cancel()
    kernel.run_for(1.0)
    assert log == ["woken", "then Cancelled"]


def test_cancelled_of_another_kind_reaches_the_joiner_as_it_is() -> None:
    kernel = Kernel()

    class Exit(Cancelled):
        pass

    async def leaves() -> None:
        raise Exit

    async def main() -> str:
        with pytest.raises(Exit):
            await kernel.spawn(leaves(), "leaves")
        return "seen"

    assert run(kernel, main()) == "seen"


# -- pausing -------------------------------------------------------------------------------------


def test_a_paused_task_does_nothing_until_it_is_resumed() -> None:
    kernel = Kernel()
    log: list[str] = []

    async def ticks() -> None:
        while True:
            await kernel.sleep(1.0)
            log.append(f"{kernel.now:g}")

    async def parent() -> None:
        await kernel.sleep(100.0)

    task = kernel.spawn(parent(), "parent")
    kernel.spawn(ticks(), "ticks", task)
    kernel.run_until(2.5)
    task.pause()
    kernel.run_until(10.5)
    assert log == ["1", "2"]
    task.resume()
    kernel.run_until(12.0)
    assert log == ["1", "2", "10.5", "11.5"]


def test_what_reaches_a_paused_task_is_there_when_it_goes_on() -> None:
    kernel = Kernel()
    queue: Queue[str] = Queue(kernel)

    async def reader() -> list[str]:
        return [await queue.get(), await queue.get()]

    task = kernel.spawn(reader(), "reader")
    kernel.run_for(1.0)
    task.pause()
    task.pause()
    queue.put_nowait("a")
    queue.put_nowait("b")
    kernel.run_for(5.0)
    assert not task.done
    task.pause()
    task.resume()
    assert kernel.run_task(task) == ["a", "b"]


def test_a_time_out_in_a_paused_task_is_raised_when_it_goes_on() -> None:
    kernel = Kernel()
    log: list[str] = []

    async def patient() -> None:
        try:
            with kernel.timeout(2.0):
                await nap(kernel, 100.0)
        except TimedOut:
            log.append(f"timed out at {kernel.now:g}")

    task = kernel.spawn(patient(), "patient")
    kernel.run_for(1.0)
    task.pause()
    kernel.run_until(10.0)
    assert log == []
    task.resume()
    kernel.run_until(11.0)
    assert log == ["timed out at 10"]


def test_a_paused_task_can_be_dropped_and_a_cancel_waits() -> None:
    kernel = Kernel()
    log: list[str] = []
    dropped = kernel.spawn(nap(kernel, 9.0, log, "dropped"), "dropped")
    cancelled = kernel.spawn(nap(kernel, 9.0, log, "cancelled"), "cancelled")
    kernel.run_for(1.0)
    dropped.pause()
    cancelled.pause()
    dropped.drop()
    cancelled.cancel()
    kernel.run_for(1.0)
    assert log == ["dropped GeneratorExit"]
    cancelled.resume()
    kernel.run_for(1.0)
    assert log == ["dropped GeneratorExit", "cancelled Cancelled"]


def test_resuming_what_was_not_paused_changes_nothing() -> None:
    kernel = Kernel()
    task = kernel.spawn(nap(kernel, 2.0, name="x"), "x")
    kernel.run_for(1.0)
    task.resume()
    assert kernel.run_task(task) == "x"
    assert kernel.now == 2.0


# -- time-out blocks -----------------------------------------------------------------------------


def test_a_block_that_takes_too_long_is_left_with_timed_out() -> None:
    kernel = Kernel()

    async def main() -> float:
        with pytest.raises(TimedOut, match="no answer within 2 s"), kernel.timeout(2.0):
            await kernel.sleep(5.0)
        return kernel.now

    assert run(kernel, main()) == 2.0


def test_a_block_that_ends_in_time_leaves_nothing_behind() -> None:
    kernel = Kernel()

    async def main() -> float:
        with kernel.timeout(2.0):
            await kernel.sleep(1.0)
        await kernel.sleep(5.0)
        return kernel.now

    assert run(kernel, main()) == 6.0


def test_a_block_that_ends_at_the_very_instant_is_in_time() -> None:
    kernel = Kernel()
    event: Event[None] = Event(kernel)
    kernel.call_at(2.0, lambda _: event.set())

    async def main() -> float:
        await kernel.sleep(1.0)
        with kernel.timeout(1.0):
            await event.wait()
        await kernel.sleep(5.0)
        return kernel.now

    assert run(kernel, main()) == 7.0


def test_of_nested_blocks_the_shorter_one_expires() -> None:
    kernel = Kernel()
    log: list[str] = []

    async def main() -> None:
        with pytest.raises(TimedOut, match="within 1 s"), kernel.timeout(1.0), kernel.timeout(5.0):
            await kernel.sleep(9.0)
        log.append(f"outer at {kernel.now:g}")
        with kernel.timeout(5.0):
            with pytest.raises(TimedOut, match="within 1 s"), kernel.timeout(1.0):
                await kernel.sleep(9.0)
            log.append(f"inner at {kernel.now:g}")
            await kernel.sleep(1.0)

    run(kernel, main())
    assert log == ["outer at 1", "inner at 2"]
