from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simcloud.sim import Kernel, NotDeterministic, SimulationError, check_determinism
from tests.simcloud.sim import worlds

HERE = "tests/simcloud/sim/worlds.py"


def refused(scenario: Callable[[int], Any]) -> NotDeterministic:
    with pytest.raises(NotDeterministic) as refusal:
        check_determinism(scenario, seed=7)
    return refusal.value


def line_of(text: str) -> int:
    """The line of the scenarios' file that holds a piece of text, once."""
    lines = Path(worlds.__file__).read_text().splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if text in line]
    return number


# -- what is fine --------------------------------------------------------------------------------


def test_a_clean_world_passes_and_says_how_much_was_compared() -> None:
    report = check_determinism(worlds.clean, seed=7)
    assert report.deterministic
    assert (report.difference, report.culprits) == (None, [])
    assert report.steps > 500
    assert report.draws > 300
    assert report.observations == 5
    assert "is deterministic; the same in every run: steps" in str(report)


@pytest.mark.parametrize(
    "scenario",
    [
        worlds.draws_seeded,
        worlds.draws_seeded_late,
        worlds.formats_virtual_time,
        worlds.measures_itself,
        worlds.prints,
        worlds.two_worlds,
        worlds.imports_in_a_task,
        worlds.names_that_are_not_text,
    ],
)
def test_what_only_looks_like_the_host_passes(scenario: Callable[[int], Any]) -> None:
    assert check_determinism(scenario, seed=7).deterministic


def test_what_a_forked_copy_does_is_not_part_of_the_run() -> None:
    assert check_determinism(worlds.forks).steps < 250


def test_the_check_leaves_no_trace_in_this_process() -> None:
    check_determinism(worlds.prints)
    assert sys.getprofile() is None
    assert type(Kernel().ready).__name__ == "deque"


# -- the three plants, each named ------------------------------------------------------------------


def test_a_planted_clock_is_found_and_named() -> None:
    refusal = refused(worlds.reads_clock)
    (culprit,) = refusal.report.culprits
    line = line_of("lambda kernel: time.time())")
    assert culprit == f"time.time(), at {HERE}:{line} in <lambda>, in task culprit, at 1.500000 s"
    assert re.search(
        r"Line 1 of observation 1, at 10\.000000 s, is '\d+\.\d+' in one run and '\d+", str(refusal)
    )
    assert "something of the host reaches the world" in str(refusal)


def test_a_planted_set_iteration_is_found_and_named() -> None:
    refusal = refused(worlds.iterates_set)
    line = line_of("kernel.spawn(work(), name, kernel.current)")
    names = "|".join(worlds.NAMES)
    ready = rf"task starter making task starter/({names}) ready \({HERE}:{line}\), at 2\.000000 s"
    found = re.search(rf"One run went on with {ready}; another with {ready}\.", str(refusal))
    assert found
    assert found[1] != found[2]
    assert "Runs with the same PYTHONHASHSEED agree" in refusal.report.cause
    assert "the order of a set" in refusal.report.cause
    assert refusal.report.culprits == []


def test_a_planted_host_draw_is_found_and_named() -> None:
    refusal = refused(worlds.draws_from_host)
    (culprit,) = refusal.report.culprits
    line = line_of("lambda kernel: random.random())")
    assert culprit == f"random.random(), at {HERE}:{line} in <lambda>, in task culprit, at 1.500000 s"
    assert refusal.report.difference is not None


# -- everything else that must not be --------------------------------------------------------------


@pytest.mark.parametrize(
    ("scenario", "name"),
    [
        (worlds.reads_clock_in_vain, "time.time()"),
        (worlds.reads_monotonic, "time.perf_counter_ns()"),
        (worlds.reads_datetime, "datetime.datetime.now()"),
        (worlds.reads_today, "datetime.date.today()"),
        (worlds.formats_now, "time.strftime()"),
        (worlds.chooses_from_host, "random.choice(), which calls random.getrandbits()"),
        (worlds.draws_unseeded, "random.Random().random(), of a stream without a seed"),
        (
            worlds.draws_from_unseeded_module_stream,
            "random.randint(), which calls random.Random().getrandbits(), of a stream without a seed",
        ),
        (worlds.draws_system_random, "random.SystemRandom.random(), which calls os.urandom()"),
        (worlds.reads_urandom, "os.urandom()"),
        (worlds.makes_uuid, "uuid.uuid4(), which calls os.urandom()"),
        (worlds.makes_uuid1, "uuid.uuid1(), which calls "),
        (worlds.makes_secret, "secrets.token_hex(), which calls os.urandom()"),
        (worlds.reads_pid, "os.getpid()"),
        (worlds.sleeps_on_host, "time.sleep()"),
    ],
)
def test_the_host_is_named_even_when_nothing_comes_of_it(scenario: Callable[[int], Any], name: str) -> None:
    report = refused(scenario).report
    (culprit,) = report.culprits
    assert culprit.startswith(name)
    assert f"at {HERE}:{line_of(f'def {scenario.__name__}(') + 1} in <lambda>, in task culprit" in culprit


def test_repeated_uses_are_told_once_with_their_number() -> None:
    (culprit,) = refused(worlds.reads_clock_often).report.culprits
    assert culprit.endswith("in tick, in task ticker, at 1.000000 s first, 10 times in all")


def test_a_difference_in_a_draw_names_the_stream_and_the_line() -> None:
    difference = refused(worlds.draws_in_set_order).report.difference
    assert difference is not None
    line = line_of("for name in set(NAMES)} == {}")
    draw = rf"task culprit drawing 0\.\d+ from the stream '\w+' \({HERE}:{line}\), at 1\.500000 s"
    assert re.fullmatch(rf"One run went on with {draw}; another with {draw}\.", difference)


def test_a_difference_in_time_names_the_task_and_both_times() -> None:
    difference = refused(worlds.sleeps_by_hash).report.difference
    assert difference is not None
    step = r"a step of task sleeper, at \d+\.000000 s"
    assert re.fullmatch(rf"One run went on with {step}; another with {step}\.", difference)


def test_a_difference_that_only_shows_in_an_observation_is_found() -> None:
    refusal = refused(worlds.shows_set)
    assert refusal.report.difference is not None
    assert re.match(
        r"Line 2 of observation 1, at 1\.000000 s, is '.*' in one run and '.*' in", refusal.report.difference
    )
    assert "PYTHONHASHSEED" in refusal.report.cause


def test_an_observation_that_is_longer_in_one_run_is_found() -> None:
    difference = refused(worlds.shows_more_or_less).report.difference
    assert difference is not None
    assert "missing" in difference


def test_one_more_observation_is_found() -> None:
    difference = refused(worlds.observes_more_or_less).report.difference
    assert difference is not None
    assert "observation 3" in difference or "its end" in difference


def test_an_address_that_shows_is_found_and_the_text_says_where_to_look() -> None:
    assert "look for id()" in refused(worlds.shows_address).report.cause


def test_the_host_s_time_zone_is_found() -> None:
    difference = refused(worlds.formats_in_host_zone).report.difference
    assert difference is not None
    assert "'00:00:01'" in difference
    assert "'05:45:01'" in difference


def test_a_clock_read_before_the_world_runs_is_told_when_it_shows() -> None:
    report = refused(worlds.builds_with_clock).report
    assert report.culprits == []
    assert report.suspects == [
        f"time.time(), at {HERE}:{line_of('epoch = time.time()')} in builds_with_clock"
    ]


# -- using it ------------------------------------------------------------------------------------


def test_the_refusal_holds_a_command_that_replays_it() -> None:
    refusal = refused(worlds.reads_clock)
    assert str(refusal).splitlines()[-1] == f"Replay: {refusal.report.replay}"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = shlex.split(refusal.report.replay)
    replayed = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert replayed.returncode == 1
    assert refusal.report.culprits[0] in replayed.stderr


def test_the_command_line_says_when_all_is_well() -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [
        sys.executable,
        "-m",
        "simcloud.sim.determinism",
        "tests.simcloud.sim.worlds:clean",
        "--seed",
        "3",
    ]
    checked = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert checked.stdout.startswith("tests/simcloud/sim/worlds.py:clean with seed 3 is deterministic")


@pytest.mark.parametrize(
    "target", ["tests.simcloud.sim.worlds:clean", "tests/simcloud/sim/worlds.py:clean", worlds.clean]
)
def test_a_scenario_may_be_named_in_several_ways(target: Any) -> None:
    assert check_determinism(target, seed=2).target == "tests/simcloud/sim/worlds.py:clean"


def test_a_scenario_s_file_may_have_the_name_of_another_module(tmp_path: Path) -> None:
    path = tmp_path / "json.py"
    path.write_text("def scenario(seed):\n    return f'seed {seed}'\n")
    assert check_determinism(f"{path}:scenario", seed=2).observations == 1


@pytest.mark.parametrize("target", ["nonsense", "no.such.module:x", "no/such/file.py:x", ":", "json"])
def test_a_scenario_that_does_not_exist_is_told(target: str) -> None:
    with pytest.raises(ValueError, match=r"write module:function or path/to/file\.py:function"):
        check_determinism(target)


def test_a_scenario_must_be_found_by_a_fresh_process() -> None:
    with pytest.raises(ValueError, match="must stand at the top of a module"):
        check_determinism(lambda seed: "")


def test_a_scenario_that_fails_is_told_with_its_traceback() -> None:
    with pytest.raises(
        SimulationError, match="the scenario itself failed with TaskFailed: task culprit failed"
    ) as failure:
        check_determinism(worlds.fails)
    assert not isinstance(failure.value, NotDeterministic)
    assert "ZeroDivisionError" in str(failure.value)


def test_a_scenario_that_shows_something_else_than_text_is_told() -> None:
    with pytest.raises(SimulationError, match="a scenario shows text or bytes, not int"):
        check_determinism(worlds.shows_number)  # type: ignore[arg-type]


def test_a_process_that_dies_is_told() -> None:
    with pytest.raises(SimulationError, match="process died with status 3"):
        check_determinism(worlds.dies)
