"""Commands that let time pass: sleep, timeout, watch. All of it is virtual."""

from __future__ import annotations

import pytest

from simcloud.machine.computer import Machine
from simcloud.machine.process import Completed
from tests.simcloud.conftest import make_machine, type_line


@pytest.fixture
def machine() -> Machine:
    return make_machine()


def timed(machine: Machine, line: str) -> tuple[Completed, float]:
    start = machine.kernel.now
    done = type_line(machine, line)
    return done, round(machine.kernel.now - start, 1)


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        ("sleep 5", 5),
        ("sleep 0.25", 0.25),
        ("sleep 2m", 120),
        ("sleep 1h", 3600),
        ("sleep 1d", 86_400),
        ("sleep 1 2 0.5", 3.5),
        ("sleep 1e1", 10),
        ("sleep 0x10", 16),
        ("sleep 3 & sleep 5; wait", 5),
        ("sleep 3 & wait; sleep 1", 4),
        ("time sleep 2", 2),
    ],
)
def test_sleep_takes_as_long_as_it_says(machine: Machine, line: str, seconds: float) -> None:
    machine.kernel.run_for(10)
    start = machine.kernel.now
    process = machine.host.start(["bash", "-c", line])
    machine.kernel.run_for(seconds - 0.01)
    assert process.alive
    machine.kernel.run_for(0.1)
    assert not process.alive
    assert machine.kernel.now - start == pytest.approx(seconds + 0.09)


def test_an_endless_sleep_lasts_until_it_is_killed(machine: Machine) -> None:
    done, took_s = timed(machine, "sleep infinity & sleep 1000; kill $!; wait $! 2>/dev/null; echo $?")
    assert (done.stdout, took_s) == (b"143\n", 1000)


def test_a_command_that_takes_too_long_is_told_to_end(machine: Machine) -> None:
    done, took_s = timed(machine, "timeout 3 sleep 100; echo $?")
    assert (done.stdout, took_s) == (b"124\n", 3)
    done, took_s = timed(machine, "timeout 3 sleep 1; echo $?")
    assert (done.stdout, took_s) == (b"0\n", 1)


STUBBORN = "bash -c 'trap \"\" TERM; for i in 1 2 3 4 5 6 7 8 9; do sleep 1; done'"


@pytest.mark.parametrize(
    ("line", "status", "seconds"),
    [
        ("timeout -k 2 3 sleep 100", 124, 3),
        (f"timeout 3 {STUBBORN}", 124, 9),
        (f"timeout -k 2 3 {STUBBORN}", 137, 5),
        (f"timeout -s KILL 3 {STUBBORN}", 137, 3),
        ("timeout -s INT 3 sleep 100", 124, 3),
        ("timeout --preserve-status 3 sleep 100", 143, 3),
        ("timeout --preserve-status -s HUP 3 sleep 100", 129, 3),
        ("timeout 3 bash -c 'trap \"exit 7\" TERM; sleep 100 & wait'", 124, 3),
        ("timeout --preserve-status 3 bash -c 'trap \"exit 7\" TERM; sleep 100 & wait'", 7, 3),
        ("timeout 0 sleep 5", 0, 5),
        ("timeout 1m sleep 5", 0, 5),
        ("timeout --foreground 3 sleep 100", 124, 3),
    ],
)
def test_how_a_timeout_ends(machine: Machine, line: str, status: int, seconds: float) -> None:
    done, took_s = timed(machine, line)
    assert (done.status, took_s) == (status, seconds)


def test_a_timeout_ends_the_whole_group(machine: Machine) -> None:
    done, took_s = timed(machine, "timeout 2 bash -c 'sleep 500 & sleep 600 & wait'; sleep 1; pgrep -c sleep")
    assert (done.stdout, took_s) == (b"0\n", 3)


def test_in_the_foreground_only_the_command_is_told(machine: Machine) -> None:
    done, _ = timed(
        machine,
        "timeout --foreground 2 bash -c 'sleep 500 & sleep 600; true'; sleep 1; pgrep -c sleep; pkill sleep",
    )
    assert done.stdout == b"2\n"


def test_a_signal_to_timeout_reaches_the_command(machine: Machine) -> None:
    done, took_s = timed(
        machine, "timeout 100 sleep 500 & sleep 2; kill $!; wait $! 2>/dev/null; echo $?; pgrep -c sleep"
    )
    assert (done.stdout, took_s) == (b"143\n0\n", 2)


def test_a_stopped_command_is_woken_to_be_told(machine: Machine) -> None:
    line = "timeout 5 sleep 100 & sleep 1; pkill -STOP sleep; wait $!; echo $?"
    done, took_s = timed(machine, line)
    assert (done.stdout, took_s) == (b"124\n", 5)


def test_watch_looks_again_and_again(machine: Machine) -> None:
    done, took_s = timed(machine, "TERM=xterm-256color timeout 5 watch -n 2 'date +%S; echo look'")
    assert done.stdout.decode() == (  # as the genuine one writes into a pipe
        "\x1b[?1049h\x1b[22;0;0t\x1b[1;24r\x1b(B\x1b[m\x1b[4l\x1b[?7h\x1b[H\x1b[2JEvery 2.0s: date +%S; echo look"
        "\x1b[1;49Hhost-1: Mon Jan  5 09:00:00 2026\x1b[3;1H00\r\x1b[4dlook\x1b[24;80H\x1b[1;75H2\r\x1b[3d02\x1b[24;80H"
        "\x1b[1;75H4\r\x1b[3d04\x1b[24;80H\x1b[24;1H\x1b[?1049l\x1b[23;0;0t\r\x1b[?1l\x1b>"
    )
    assert (done.status, took_s) == (124, 5)
    unknown = timed(machine, "watch date; TERM=foo watch date")[0].stderr
    assert unknown == b"Error opening terminal: unknown.\nError opening terminal: foo.\n"


def test_watch_ends_on_change_or_failure(machine: Machine) -> None:
    done, took_s = timed(
        machine, "export TERM=xterm; (sleep 5; touch f) & watch -gtn 1 'ls f 2>/dev/null'; echo $?"
    )
    assert (done.stdout.count(b"\x1b[Hf"), done.stdout[-2:], took_s) == (1, b"0\n", 5)
    done, took_s = timed(machine, "TERM=xterm watch -e -t -n 1 'cat nope'; echo $?")
    assert (done.stdout.splitlines()[-1], took_s) == (b"\x1b[?1l\x1b>8", 0)
    assert timed(machine, "watch -n x date")[0].stderr == b"watch: failed to parse argument: 'x'\n"
    assert b"[2Ja b\x1b" in timed(machine, "TERM=xterm timeout 3 watch -x -t echo a b")[0].stdout


def test_nothing_lingers_after_nohup(machine: Machine) -> None:
    done, _ = timed(
        machine, "nohup sleep 100 & sleep 1; kill -HUP $!; sleep 1; kill -0 $! && echo alive; kill $!"
    )
    assert done.stdout == b"alive\n"
