"""Copies by fork: equal to a fresh world, apart from each other, honest about failures."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from aiopslab.cloud.scenarios import SyntheticCloud, build_synthetic_cloud
from simcloud.world.copies import Copy, CopyFailed, CopyLost

R = TypeVar("R")

LOOPS = (
    "n=0; while true; do n=$((n+1)); echo tick $n $RANDOM; sleep 0.7; done > /var/log/ticks &",
    "(sleep 30; date > /tmp/late) & while sleep 1; do date +%s | tee -a /tmp/times; done >/dev/null &",
    "yes loud | while read word; do echo $word; sleep 0.25; done | sed -u s/loud/quiet/ > /tmp/quiet &",
)
LOOK = "cat /var/log/ticks /tmp/times /tmp/quiet | sha256sum; ps aux; jobs; tail -n 3 /var/log/containers/front.log"


def prepared(seed: int) -> SyntheticCloud:
    """A world with users on it, and shell loops and background jobs running in several places."""
    cloud = build_synthetic_cloud(seed, services=9, rate=5.0)
    for number, loop in enumerate(LOOPS):
        assert cloud.world.shell(f"node-{number + 1}", loop).status == 0
    cloud.world.run_for(5.3)
    return cloud


def go_on(cloud: SyntheticCloud) -> str:
    """What can be seen of the world as it goes on."""
    seen = []
    for node in ("node-1", "node-2", "node-3"):
        cloud.world.run_for(3.1)
        done = cloud.world.shell(node, LOOK)
        seen.append(f"{node} {done.status}\n{done.stdout.decode()}{done.stderr.decode()}")
    seen.append(cloud.world.fingerprint())
    return "\n".join(seen)


def break_disk(cloud: SyntheticCloud, node: str) -> None:
    cloud.world.machines[node].disk.fail_writes = True


def disks(cloud: SyntheticCloud) -> list[object]:
    return [machine.disk.fail_writes for machine in cloud.world.machines.values()]


def fail(cloud: SyntheticCloud) -> None:
    raise ValueError("not today")


def start_thread(cloud: SyntheticCloud) -> None:
    threading.Thread(target=threading.Event().wait, daemon=True).start()


@pytest.mark.slow
def test_twenty_copies_behave_as_a_freshly_prepared_world() -> None:
    fresh = go_on(prepared(11))
    assert fresh.count("sleep") >= 3, "no loop was running"
    with Copy.of(prepared, 11) as original:
        for _ in range(20):
            with original.branch() as copy:
                assert copy.call(go_on) == fresh


def test_a_tree_of_copies_keeps_its_branches_apart() -> None:
    with Copy.of(build_synthetic_cloud, 3, 3) as baseline, baseline.branch(break_disk, "node-1") as broken:
        with broken.branch(break_disk, "node-2") as worse:
            assert worse.call(disks) == [True, True, False, False]
        assert broken.call(disks) == [True, False, False, False]
        assert baseline.call(disks) == [False, False, False, False]


def test_an_error_in_a_copy_is_raised_here_and_the_copy_lives_on() -> None:
    with Copy.of(build_synthetic_cloud, 3, 3) as copy:
        with pytest.raises(CopyFailed, match="not today"):
            copy.call(fail)
        assert copy.call(disks) == [False] * 4


def test_an_error_while_preparing_is_raised_here() -> None:
    with pytest.raises(CopyFailed, match="unexpected keyword"):
        Copy.of(build_synthetic_cloud, nonsense=1)  # type: ignore[call-arg]


def test_a_process_with_threads_is_not_copied() -> None:
    with Copy.of(build_synthetic_cloud, 3, 3) as copy:
        copy.call(start_thread)
        with pytest.raises(CopyFailed, match="2 threads"):
            copy.branch()


def test_a_copy_that_is_gone_says_so() -> None:
    copy = Copy.of(build_synthetic_cloud, 3, 3)
    branch = copy.branch()
    branch.close()
    with pytest.raises((CopyFailed, OSError)):
        branch.call(disks)
    copy.close()


def test_copies_that_were_kept_ready_behave_as_a_freshly_prepared_world() -> None:
    fresh = go_on(prepared(11))
    with Copy.of(prepared, 11) as original:
        original.keep_spare(go_on)
        for _ in range(4):
            spare = ready_in(original)
            with original.branch() as copy:
                assert copy.pid == spare
                assert copy.call(go_on) == fresh


@pytest.fixture(scope="module")
def small() -> Iterator[Copy[SyntheticCloud]]:
    with Copy.of(build_synthetic_cloud, 3, 3) as copy:
        yield copy


def test_a_spare_knows_what_was_called_before_it_is_asked_for(small: Copy[SyntheticCloud]) -> None:
    with small.branch() as original:
        original.keep_spare(disks)
        original.call(break_disk, "node-1")
        with original.branch() as copy:
            assert copy.call(disks) == [True, False, False, False]
        with original.branch(break_disk, "node-2"), original.branch() as copy:
            assert copy.call(disks) == [True, False, False, False]


def test_a_spare_ends_when_it_is_no_longer_wanted_and_with_what_it_was_forked_from(
    small: Copy[SyntheticCloud],
) -> None:
    with small.branch() as original:
        original.keep_spare(disks)
        first = ready_in(original)
        original.keep_spare(None)
        assert gone(first)
        original.keep_spare(disks)
        second = ready_in(original)
        assert second != first
    assert gone(second)


def test_a_spare_outlives_nobody_who_was_killed(small: Copy[SyntheticCloud]) -> None:
    with small.branch() as original:
        original.keep_spare(disks)
        spare = ready_in(original)
        os.kill(original.pid, signal.SIGKILL)
        assert gone(spare)


def test_a_spare_that_was_killed_is_not_handed_out(small: Copy[SyntheticCloud]) -> None:
    with small.branch() as original:
        original.keep_spare(disks)
        spare = ready_in(original)
        os.kill(spare, signal.SIGKILL)
        assert gone(spare)
        with original.branch() as copy:
            assert copy.pid != spare
            assert copy.call(disks) == [False] * 4


def test_a_rehearsal_that_fails_leaves_copies_as_they_were(small: Copy[SyntheticCloud]) -> None:
    with small.branch() as original:
        original.keep_spare(fail)
        with original.branch() as copy:
            assert copy.call(disks) == [False] * 4
            with pytest.raises(CopyFailed, match="not today"):
                copy.call(fail)


def read_file(cloud: SyntheticCloud, descriptor: int) -> bytes:
    return os.read(descriptor, 100)


def test_a_file_of_the_caller_can_be_used_in_a_copy(small: Copy[SyntheticCloud]) -> None:
    reading, writing = os.pipe()
    with small.branch() as copy:
        passed = copy.pass_file(reading)
        os.close(reading)
        os.write(writing, b"through the pipe")
        assert copy.call(read_file, passed) == b"through the pipe"
    os.close(writing)


def test_where_no_spare_can_be_forked_whoever_asks_is_told(small: Copy[SyntheticCloud]) -> None:
    with small.branch() as original:
        original.keep_spare(disks)
        original.call(start_thread)
        with pytest.raises(CopyFailed, match="2 threads"):
            original.branch()


def ready_in(copy: Copy[SyntheticCloud]) -> int:
    """The process that is kept ready. One is taken before, so that the rehearsal is surely over."""
    children = Path(f"/proc/{copy.pid}/task/{copy.pid}/children")
    with copy.branch() as taken:
        return sooner_or_later(
            lambda: [pid for pid in map(int, children.read_text().split()) if pid > taken.pid]
        )[0]


def gone(pid: int) -> bool:
    return sooner_or_later(lambda: not Path(f"/proc/{pid}").exists())


def sooner_or_later(seen: Callable[[], R]) -> R:
    """What is seen, once there is something; other processes go their own pace."""
    for _ in range(3000):
        if found := seen():
            return found
        time.sleep(0.01)
    raise AssertionError("it never came")


def sleep_long(_world: object) -> None:
    time.sleep(600)


def test_a_copy_can_be_killed_in_the_middle_of_a_call() -> None:
    with Copy.of(dict) as copy:
        thread = threading.Timer(0.1, copy.kill)
        thread.start()
        with pytest.raises(CopyLost):
            copy.call(sleep_long)
        thread.join()
        assert copy.has_ended
        copy.kill()


THREADED = """
import threading

from simcloud.world import Copy

threading.Thread(target=threading.Event().wait, daemon=True).start()


def count(world):
    return len(world)


def main():
    with Copy.START(dict, a=1) as world, world.branch() as copy:
        print(copy.call(FUNCTION))


GUARD
"""
GUARDED, UNGUARDED = 'if __name__ == "__main__": main()', "main()"


@pytest.mark.parametrize(
    ("start", "function", "guard", "output"),
    [
        ("of_imported", "len", UNGUARDED, "1\n"),
        ("of_imported", "count", GUARDED, "Can't get attribute 'count'"),
        ("of", "count", GUARDED, "2 threads"),
        ("of", "count", UNGUARDED, "put the work into a function main()"),
    ],
)
def test_a_script_that_starts_threads(
    tmp_path: Path, start: str, function: str, guard: str, output: str
) -> None:
    script = tmp_path / "script.py"
    text = THREADED.replace("START", start).replace("FUNCTION", function).replace("GUARD", guard)
    script.write_text(text)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert output in done.stdout + done.stderr


def test_a_script_that_cannot_be_imported_says_why(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from simcloud.world import Copy\n"
        "if __name__ != '__main__': raise ValueError('not today')\n"
        "Copy.of(dict)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert "CopyFailed" in done.stderr and "not today" in done.stderr


def interrupt(pid: int, file: str) -> None:
    """Interrupt a process that waits for its world; the world would never be ready."""
    Path(file).write_text(str(os.getpid()))
    os.kill(pid, signal.SIGINT)
    time.sleep(600)


def test_an_interrupt_ends_the_preparation(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    with pytest.raises(KeyboardInterrupt):
        Copy.of(interrupt, os.getpid(), str(file))
    assert gone(int(file.read_text()))
