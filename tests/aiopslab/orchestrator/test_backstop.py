"""Work that never ends is broken off, in whatever thread it is done, and nothing of it comes later."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from aiopslab.orchestrator.backstop import HarnessTimedOut, backstop
from simcloud.sim import Kernel, SimulationError


def spin() -> None:
    """Never ends, and lets no ordinary error stop it."""
    while True:
        try:
            while True:
                pass
        except Exception:
            continue


def broken_off() -> str:
    with pytest.raises(HarnessTimedOut) as raised, backstop(0.05):
        spin()
    return str(raised.value)


def test_a_loop_is_broken_off() -> None:
    assert "within 0.05 s of wall time" in broken_off()


def test_a_loop_in_another_thread_is_broken_off() -> None:
    with ThreadPoolExecutor(1) as pool:
        assert "--action-timeout" in pool.submit(broken_off).result()
        assert pool.submit(lambda: sum(range(100_000))).result() == 4_999_950_000


TRACED = """
import sys
from concurrent.futures import ThreadPoolExecutor
from aiopslab.orchestrator.backstop import HarnessTimedOut, backstop

def work(limit_s):
    try:
        with backstop(limit_s):
            while limit_s < 1.0:
                pass
    except HarnessTimedOut:
        return "broken off"
    return "in time"

with ThreadPoolExecutor(1) as pool:
    print(pool.submit(work, 60.0).result(), pool.submit(work, 0.05).result())
sys.settrace(lambda *_: None)
print((lambda: "traced")())
"""


def test_calls_can_be_traced_afterwards() -> None:
    done = subprocess.run(
        [sys.executable, "-c", TRACED], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "in time broken off\ntraced\n", done.stderr


def test_a_pattern_that_never_ends_is_broken_off() -> None:
    with pytest.raises(HarnessTimedOut), backstop(0.05):
        re.match("(a|aa)+$", "a" * 200 + "b")


def test_a_world_that_was_broken_off_does_not_go_on() -> None:
    kernel = Kernel()

    async def livelock() -> None:
        while True:
            await kernel.sleep(0.001)

    kernel.spawn(livelock(), "endless")
    with pytest.raises(HarnessTimedOut), backstop(0.05):
        kernel.run_for(1e9)
    with pytest.raises(SimulationError, match="cannot go on"):
        kernel.run_for(1.0)


def test_what_ends_in_time_is_left_alone_and_so_are_alarms_of_others() -> None:
    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _: rung.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with backstop(60.0):
            assert not rung
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 0.2
        deadline = time.monotonic() + 30
        while not rung and time.monotonic() < deadline:
            time.sleep(0.01)
        assert rung
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
