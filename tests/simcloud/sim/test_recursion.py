"""The raised recursion limit: deep calls run, and the usual limit always returns."""

import sys
import threading

import msgspec
import pytest

from simcloud.sim import call_deep


def count_down(number: int) -> int:
    return 0 if not number else count_down(number - 1)


def test_calls_nest_deeper_than_usual() -> None:
    usual = sys.getrecursionlimit()
    assert call_deep(count_down, 10_000) == 0
    assert sys.getrecursionlimit() == usual


def test_a_failure_restores_the_limit() -> None:
    usual = sys.getrecursionlimit()
    with pytest.raises(RecursionError):
        call_deep(count_down, 100_000)
    assert sys.getrecursionlimit() == usual


def test_threads_that_overlap_restore_the_limit() -> None:
    """The second begins under the first one's limit and ends after it."""
    usual = sys.getrecursionlimit()
    first_may_end, second_may_end, second_began = threading.Event(), threading.Event(), threading.Event()
    depths: list[int] = []

    def second() -> None:
        second_began.set()
        second_may_end.wait(10)
        depths.append(count_down(5_000))

    def first() -> None:
        later.start()
        first_may_end.wait(10)

    later = threading.Thread(target=call_deep, args=(second,))
    earlier = threading.Thread(target=call_deep, args=(first,))
    earlier.start()
    second_began.wait(10)
    first_may_end.set()
    earlier.join(10)
    second_may_end.set()
    later.join(10)
    assert depths == [0]
    assert sys.getrecursionlimit() == usual


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_native_decoders_stop_under_the_raised_limit(opening: bytes) -> None:
    with pytest.raises(RecursionError):
        call_deep(msgspec.json.decode, opening * 100_000)
