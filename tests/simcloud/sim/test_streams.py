from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, strategies as st

from simcloud.sim import Kernel
from simcloud.sim.streams import Streams


def gauss(stream: random.Random) -> float:
    """Draws two numbers and keeps one for the next call."""
    return stream.gauss(0.0, 1.0)


DRAWS: list[Callable[[random.Random], Any]] = [
    lambda stream: stream.random(),
    lambda stream: stream.getrandbits(70),
    lambda stream: stream.randint(1, 6),
    lambda stream: stream.choice("abcdef"),
    lambda stream: stream.choices("abc", weights=[1, 2, 3], k=3),
    lambda stream: stream.sample(range(100), 5),
    gauss,
    lambda stream: stream.expovariate(2.0),
    lambda stream: stream.randbytes(5),
]


def test_a_stream_depends_on_seed_and_name_only() -> None:
    assert Kernel(1).random("a").random() == Kernel(1).random("a").random()
    assert Kernel(1).random("a").random() != Kernel(2).random("a").random()
    assert Kernel(1).random("a").random() != Kernel(1).random("b").random()


def test_a_seed_and_name_give_these_draws_for_ever() -> None:
    # Recorded results of others rest on them: a change here changes every world.
    stream = Kernel(42).random("users")
    assert [stream.randint(0, 99) for _ in range(8)] == [48, 55, 11, 74, 93, 71, 28, 86]


def test_one_more_draw_here_does_not_shift_the_draws_there() -> None:
    quiet, busy = Kernel(7), Kernel(7)
    busy.random("other").random()
    busy.random("mine").random()
    busy.random("other").random()
    quiet.random("mine").random()
    assert quiet.random("mine").random() == busy.random("mine").random()


def test_the_same_name_is_the_same_stream() -> None:
    kernel = Kernel(3)
    assert kernel.random("x") is kernel.random("x")


@given(st.integers(), st.lists(st.sampled_from(DRAWS), max_size=20))
def test_recording_does_not_change_the_draws(seed: int, draws: list[Callable[[random.Random], Any]]) -> None:
    recorded = Streams(seed)
    values: list[tuple[str, object]] = []
    recorded.record_to(lambda name, value: values.append((name, value)))
    plain = Streams(seed)
    assert [draw(recorded["s"]) for draw in draws] == [draw(plain["s"]) for draw in draws]
    assert len(values) >= sum(draw is not gauss for draw in draws)
    assert {name for name, _ in values} <= {"s"}


def test_recording_must_begin_before_the_first_stream() -> None:
    streams = Streams(1)
    streams["early"].random()
    with pytest.raises(AssertionError, match="would go unrecorded"):
        streams.record_to(lambda name, value: None)
