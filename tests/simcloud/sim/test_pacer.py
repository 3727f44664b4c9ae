from __future__ import annotations

import pytest

from simcloud.sim import Kernel, Pacer
from simcloud.sim.pacer import IDLE_S


class Clock:
    """A wall clock that a test sets; looking at it may take time."""

    def __init__(self) -> None:
        self.now = 1024.0
        self.cost_s = 0.0

    def __call__(self) -> float:
        self.now += self.cost_s
        return self.now


def test_virtual_time_follows_the_clock_at_its_speed() -> None:
    kernel, clock = Kernel(), Clock()
    kernel.run_until(50.0)
    pacer = Pacer(kernel, speed=10.0, clock=clock)
    clock.now += 0.01
    pacer.advance()
    assert kernel.now == pytest.approx(50.1)
    clock.now += 2.0
    while pacer.advance() == 0.0:
        pass
    assert kernel.now == pytest.approx(70.1)
    assert pacer.behind_s == 0.0


def test_it_asks_to_be_called_again_when_something_is_due() -> None:
    kernel, clock = Kernel(), Clock()
    pacer = Pacer(kernel, speed=2.0, clock=clock)
    kernel.call_at(0.125, lambda _: None)
    assert pacer.advance() == 0.0625
    clock.now += 0.0625
    assert pacer.advance() == IDLE_S
    kernel.call_at(1000.0, lambda _: None)
    assert pacer.advance() == IDLE_S


def test_events_happen_at_their_own_time_not_at_the_clock_s() -> None:
    kernel, clock = Kernel(), Clock()
    pacer = Pacer(kernel, clock=clock)
    times: list[float] = []
    for time in (0.25, 0.5, 3.0):
        kernel.call_at(time, lambda _: times.append(kernel.now))
    clock.now += 1.0
    pacer.advance()
    assert times == [0.25, 0.5]


def test_a_world_that_cannot_keep_up_returns_to_its_driver_and_says_how_far_behind_it_is() -> None:
    kernel, clock = Kernel(), Clock()
    pacer = Pacer(kernel, clock=clock, slice_s=0.05)

    async def slow() -> None:
        while True:
            await kernel.sleep(0.01)
            clock.now += 0.05

    kernel.spawn(slow(), "slow")
    clock.now += 1.0
    assert pacer.advance() == 0.0
    assert kernel.now < 0.1
    assert pacer.behind_s > 0.9


def test_the_speed_can_be_changed_on_the_way() -> None:
    kernel, clock = Kernel(), Clock()
    pacer = Pacer(kernel, clock=clock)
    clock.now += 0.04
    pacer.advance()
    pacer.set_speed(100.0)
    clock.now += 0.04
    pacer.advance()
    assert kernel.now == pytest.approx(4.04)


def test_a_world_that_was_driven_ahead_waits_for_the_clock() -> None:
    kernel, clock = Kernel(), Clock()
    pacer = Pacer(kernel, clock=clock)
    kernel.run_until(0.1)
    clock.now += 0.05
    assert pacer.advance() == IDLE_S
    assert kernel.now == 0.1


@pytest.mark.parametrize("speed", [0.0, -1.0])
def test_time_cannot_stand_or_run_backwards(speed: float) -> None:
    with pytest.raises(ValueError, match="speed must be above 0"):
        Pacer(Kernel(), speed=speed)
    with pytest.raises(ValueError, match="speed must be above 0"):
        Pacer(Kernel()).set_speed(speed)
