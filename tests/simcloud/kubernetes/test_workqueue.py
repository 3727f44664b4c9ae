from __future__ import annotations

from simcloud.kubernetes.workqueue import WorkQueue
from simcloud.sim import Kernel


def worked(kernel: Kernel, queue: WorkQueue[str], work_s: float = 1.0) -> list[tuple[float, str]]:
    seen: list[tuple[float, str]] = []

    async def work() -> None:
        while True:
            key = await queue.next()
            seen.append((kernel.now, key))
            await kernel.sleep(work_s)
            queue.finish(key)

    kernel.spawn(work(), "worker")
    return seen


def test_a_key_comes_once_however_often_it_is_asked_for() -> None:
    kernel = Kernel(1)
    queue: WorkQueue[str] = WorkQueue(kernel)
    for key in "abab":
        queue.add(key)
    seen = worked(kernel, queue)
    kernel.run_for(10)
    assert seen == [(0.0, "a"), (1.0, "b")]


def test_a_key_that_is_being_worked_on_comes_again_afterwards() -> None:
    kernel = Kernel(1)
    queue: WorkQueue[str] = WorkQueue(kernel)
    seen = worked(kernel, queue)
    queue.add("a")
    kernel.run_for(0.5)
    queue.add("a")
    queue.add("a")
    kernel.run_for(10)
    assert seen == [(0.0, "a"), (1.0, "a")]


def test_the_earlier_of_two_later_wishes_stands() -> None:
    kernel = Kernel(1)
    queue: WorkQueue[str] = WorkQueue(kernel)
    seen = worked(kernel, queue)
    queue.add_after("a", 5.0)
    queue.add_after("a", 2.0)
    queue.add_after("a", 9.0)
    kernel.run_for(20)
    assert seen == [(2.0, "a")]


def test_failures_come_again_after_growing_pauses() -> None:
    kernel = Kernel(1)
    queue: WorkQueue[str] = WorkQueue(kernel)
    times = []

    async def work() -> None:
        while True:
            key = await queue.next()
            times.append(round(kernel.now, 3))
            queue.retry(key)
            queue.finish(key)

    kernel.spawn(work(), "worker")
    queue.add("a")
    kernel.run_for(0.08)
    assert times == [0.0, 0.005, 0.015, 0.035, 0.075]
    assert queue.failures("a") == 5
