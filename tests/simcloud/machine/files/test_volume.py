"""Space, copies and durability of volumes, seen through files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from simcloud.machine.files import BLOCK_BYTES, Disk, FileError, Files, Volume

Call = tuple[Any, ...]

names = st.sampled_from(["a", "b", "c", "d"])
paths = st.lists(names, min_size=1, max_size=3).map("/".join)
data = st.builds(lambda count: b"x" * count, st.sampled_from([0, 1, 100, 4096, 5000, 13000]))
calls = st.one_of(
    st.tuples(st.just("mkdir"), paths),
    st.tuples(st.just("mkdir"), paths),
    st.tuples(st.just("write"), paths, data),
    st.tuples(st.just("append"), paths, data),
    st.tuples(st.just("truncate"), paths, st.integers(0, 20_000)),
    st.tuples(st.just("allocate"), paths, st.integers(0, 20_000)),
    st.tuples(st.just("rename"), paths, paths),
    st.tuples(st.just("link"), paths, paths),
    st.tuples(st.just("symlink"), st.sampled_from(["a", "../b", "t" * 80]), paths),
    st.tuples(st.just("mkfifo"), paths),
    st.tuples(st.just("remove"), paths),
    st.tuples(st.just("rmdir"), paths),
    st.tuples(st.just("chmod"), paths, st.sampled_from([0o600, 0o755])),
    st.tuples(st.just("chown"), paths, st.just(7), st.just(8)),
)
sequences = st.lists(calls, max_size=25)


def error_of(action: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    with pytest.raises(FileError) as caught:
        action(*arguments, **options)
    return caught.value.code


def perform(files: Files, sequence: list[Call]) -> list[str]:
    """Do all calls; their errors are part of the result."""
    codes = []
    for name, *arguments in sequence:
        try:
            getattr(files, name)(*arguments)
            codes.append("")
        except FileError as error:
            codes.append(error.code)
    return codes


def tree(files: Files) -> dict[str, tuple[Any, ...]]:
    """Everything there is to see below the root, but for times and inode numbers."""
    seen: dict[str, tuple[Any, ...]] = {}
    for where, below, rest in files.walk("/"):
        for name in below + rest:
            path = f"{where.rstrip('/')}/{name}"
            stat = files.stat(path, follow=False)
            content = files.read(path) if stat.is_file else files.readlink(path) if stat.is_link else b""
            seen[path] = (stat.mode, stat.uid, stat.gid, stat.nlink, stat.size, content)
    return seen


def occupied(files: Files) -> tuple[int, int]:
    """Bytes and inodes in use, counted from outside as du would."""
    blocks: dict[int, int] = {}
    for where, below, rest in files.walk("/"):
        for name in below + rest:
            stat = files.stat(f"{where.rstrip('/')}/{name}", follow=False)
            blocks[stat.ino] = stat.blocks
    return sum(blocks.values()) * 512, len(blocks)


def remove_all(files: Files) -> None:
    for where, _, rest in reversed(list(files.walk("/"))):
        for name in rest:
            files.remove(f"{where.rstrip('/')}/{name}")
        if where != "/":
            files.rmdir(where)


def fresh(capacity_bytes: int = 1 << 20, now: Callable[[], float] = lambda: 1e9) -> Volume:
    return Volume(Disk("sda", capacity_bytes, 1000), now)


# -- space -------------------------------------------------------------------------------------


@given(sequences, st.sampled_from([1 << 20, 10 * BLOCK_BYTES]))
def test_what_is_used_is_what_the_files_occupy(sequence: list[Call], capacity_bytes: int) -> None:
    volume = fresh(capacity_bytes)
    files = Files(volume)
    perform(files, sequence)
    assert (volume.used_bytes, volume.inodes_used) == occupied(files)
    assert (volume.disk.used_bytes, volume.disk.inodes_used) == occupied(files)
    assert volume.used_bytes <= capacity_bytes
    remove_all(files)
    assert (volume.used_bytes, volume.inodes_used) == (0, 0)
    assert (volume.disk.used_bytes, volume.disk.inodes_used) == (0, 0)


def test_a_full_disk_takes_what_fits_and_then_nothing(files: Files, disk: Disk) -> None:
    files.write("/big", b"x" * (disk.capacity_bytes - 2 * BLOCK_BYTES))
    file = files.open("/more", write=True, create=True)
    assert file.write(b"y" * 3 * BLOCK_BYTES) == 2 * BLOCK_BYTES
    with pytest.raises(FileError, match="No space left on device") as caught:
        file.write(b"y")
    assert caught.value.path == "/more"
    assert error_of(files.mkdir, "/d") == "ENOSPC"
    assert error_of(files.write, "/text", b"1") == "ENOSPC"
    assert files.read("/text") == b""
    files.remove("/big")
    files.write("/text", b"1")
    assert disk.used_bytes == 3 * BLOCK_BYTES


def test_writing_inside_a_file_needs_no_space(files: Files, disk: Disk) -> None:
    files.write("/big", b"x" * disk.capacity_bytes)
    file = files.open("/big", write=True)
    assert file.write(b"yy") == 2
    assert error_of(files.append, "/big", b"z") == "ENOSPC"


def test_inodes_run_out(clock: Callable[[], float]) -> None:
    files = Files(Volume(Disk("sda", 1 << 20, inodes=3), clock))
    for name in "abc":
        files.write(name, b"")
    assert error_of(files.write, "d", b"") == "ENOSPC"
    assert error_of(files.symlink, "a", "d") == "ENOSPC"
    files.link("a", "d")
    files.remove("b")
    files.write("e", b"")


def test_a_quota_is_smaller_than_the_disk(disk: Disk, clock: Callable[[], float]) -> None:
    volume = Volume(disk, clock, quota_bytes=2 * BLOCK_BYTES)
    other = Volume(disk, clock)
    files = Files(volume)
    assert error_of(files.write, "/f", b"x" * 3 * BLOCK_BYTES) == "ENOSPC"
    assert files.stat("/f").size == 2 * BLOCK_BYTES
    Files(other).write("/g", b"x" * 3 * BLOCK_BYTES)
    assert disk.used_bytes == 5 * BLOCK_BYTES
    space = files.space("/")
    assert (space.total_bytes, space.used_bytes, space.free_bytes) == (2 * BLOCK_BYTES, 2 * BLOCK_BYTES, 0)
    assert Files(other).space("/").used_bytes == 5 * BLOCK_BYTES


def test_an_open_file_without_a_name_keeps_its_space_until_closed(files: Files, disk: Disk) -> None:
    files.write("/log", b"x" * 10_000)
    file = files.open("/log", write=True)
    files.remove("/log")
    assert disk.used_bytes == 3 * BLOCK_BYTES
    assert file.read(4) == b"xxxx"
    file.dup()
    file.close()
    assert disk.used_bytes == 3 * BLOCK_BYTES
    file.close()
    assert disk.used_bytes == 0


def test_what_a_dead_process_had_open_is_released(files: Files, disk: Disk) -> None:
    view = files.fork()
    file = view.open("/f", write=True, create=True)
    file.write(b"1")
    files.remove("/f")
    view.revoke()
    assert disk.used_bytes == 0
    file.close()


def test_allocating_occupies_space_without_writing(files: Files, disk: Disk) -> None:
    files.write("/f", b"head")
    files.allocate("/f", 100_000)
    assert files.stat("/f").size == 100_000
    assert disk.used_bytes == 25 * BLOCK_BYTES
    assert files.read("/f") == b"head".ljust(100_000, b"\0")
    assert error_of(files.allocate, "/f", 2 << 20) == "ENOSPC"
    files.truncate("/f", 1)
    assert disk.used_bytes == BLOCK_BYTES


def test_absurd_sizes_are_refused(files: Files) -> None:
    files.write("/f", b"")
    assert error_of(files.truncate, "/f", 1 << 60) == "EFBIG"
    files.truncate("/f", 1 << 40)
    assert files.stat("/f").blocks == 0
    assert error_of(files.read, "/f") == "ENOMEM"
    file = files.open("/f", write=True)
    assert file.read(3) == b"\0\0\0"
    file.seek((1 << 44) - BLOCK_BYTES)
    assert error_of(file.write, b"x") == "EFBIG"


# -- clones ------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=150)
@given(sequences, sequences, sequences, sequences)
def test_clones_behave_as_if_they_had_been_copied(
    before: list[Call], ours: list[Call], theirs: list[Call], last: list[Call]
) -> None:
    source = fresh()
    files = Files(source)
    perform(files, before)
    clone = source.clone("clone")
    copy = Files(clone)
    their_answers, our_answers = perform(copy, theirs), perform(files, ours)
    grandchild = Files(clone.clone())
    last_answers = perform(grandchild, last)

    expected, source_model = Files(fresh()), Files(fresh())
    perform(source_model, before)
    perform(expected, before)
    assert our_answers == perform(source_model, ours)
    assert their_answers == perform(expected, theirs)
    assert tree(copy) == tree(expected)
    assert last_answers == perform(expected, last)
    assert tree(files) == tree(source_model)
    assert tree(grandchild) == tree(expected)


def test_a_clone_is_charged_for_what_it_changes(disk: Disk, clock: Callable[[], float]) -> None:
    image = Volume(Disk("image", 1 << 30), clock)
    Files(image).put("/usr/lib/big", b"x" * 50_000)
    Files(image).put("/etc/conf", b"x")
    container = image.clone(disk=disk, quota_bytes=20 * BLOCK_BYTES)
    files = Files(container)
    assert container.used_bytes == 0
    files.chmod("/usr/lib/big", 0o600)
    assert container.used_bytes == 0
    assert container.inodes_used == 1
    files.append("/usr/lib/big", b"y")
    assert container.used_bytes == disk.used_bytes == 13 * BLOCK_BYTES
    assert error_of(files.write, "/more", b"x" * 50_000) == "ENOSPC"
    files.remove("/usr/lib/big")
    files.remove("/more")
    assert container.used_bytes == BLOCK_BYTES  # the directory /usr/lib
    assert Files(image).stat("/usr/lib/big").size == 50_000
    container.discard()
    assert disk.used_bytes == disk.inodes_used == 0


def test_copying_up_needs_room_for_the_whole_file(disk: Disk, clock: Callable[[], float]) -> None:
    image = Volume(Disk("image", 1 << 30), clock)
    Files(image).write("/big", b"x" * 50_000)
    files = Files(image.clone(disk=disk, quota_bytes=BLOCK_BYTES))
    assert error_of(files.append, "/big", b"y") == "ENOSPC"
    assert files.read("/big") == b"x" * 50_000
    files.write("/big", b"short")
    assert files.read("/big") == b"short"
    files.remove("/big")


def test_hard_links_stay_one_file_in_a_clone(volume: Volume, files: Files) -> None:
    files.write("/a", b"1")
    files.link("/a", "/b")
    copy = Files(volume.clone())
    copy.append("/a", b"2")
    assert copy.read("/b") == b"12"
    assert files.read("/b") == b"1"


def test_files_open_in_the_source_go_on_there_only(volume: Volume, files: Files) -> None:
    file = files.open("/log", write=True, create=True, append=True)
    file.write(b"1")
    reader = files.open("/log")
    copy = Files(volume.clone())
    file.write(b"2")
    assert reader.read() == b"12"
    assert copy.read("/log") == b"1"
    files.remove("/log")
    later = Files(volume.clone())
    assert not later.exists("/log")
    file.write(b"3")
    assert file.stat().size == 3


def test_a_long_chain_of_clones_stays_shallow() -> None:
    volume = fresh(1 << 30)
    for number in range(300):
        Files(volume).write(f"/f{number % 50}", b"%d" % number)
        volume = volume.clone()
    files = Files(volume)
    assert len(files.listdir("/")) == 50
    assert files.read("/f7") == b"257"
    assert len(volume._table._below) <= 8


def test_inode_numbers_are_not_used_twice(volume: Volume, files: Files) -> None:
    files.write("/a", b"")
    first = files.stat("/a").ino
    files.remove("/a")
    files.write("/a", b"")
    copy = Files(volume.clone())
    copy.write("/b", b"")
    assert first < files.stat("/a").ino < copy.stat("/b").ino


# -- durability --------------------------------------------------------------------------------


class Hand:
    """A clock turned by hand."""

    def __init__(self) -> None:
        self.now = 1e9

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def hand() -> Hand:
    return Hand()


@pytest.fixture
def lost(hand: Hand) -> Volume:
    return fresh(now=hand)


def test_what_was_synced_survives(lost: Volume) -> None:
    files = Files(lost)
    files.write("/f", b"safe")
    files.sync("/f")
    lost.power_loss()
    assert files.read("/f") == b"safe"


def test_a_new_file_is_gone_then_empty_then_whole(hand: Hand) -> None:
    def after(seconds: float) -> bytes | None:
        volume = fresh(now=hand)
        files = Files(volume)
        files.write("/f", b"data")
        hand.now += seconds
        volume.power_loss()
        return files.read("/f") if files.exists("/f") else None

    assert [after(1), after(10), after(31)] == [None, b"", b"data"]


def test_appended_lines_are_lost_from_the_end(lost: Volume, hand: Hand) -> None:
    files = Files(lost)
    file = files.open("/log", write=True, create=True, append=True)
    for second in range(100):
        file.write(b"%2d\n" % second)
        hand.now += 1
    lost.power_loss()
    assert files.read("/log") == b"".join(b"%2d\n" % second for second in range(90))
    assert files.stat("/log").mtime == 1e9 + 89


def test_overwritten_bytes_come_back(lost: Volume, hand: Hand) -> None:
    files = Files(lost)
    files.write("/f", b"old" * 5000)
    files.sync()
    hand.now += 60
    files.write("/f", b"new")
    file = files.open("/f", write=True)
    file.seek(9000)
    file.write(b"tail")
    lost.power_loss()
    assert files.read("/f") == b"old" * 5000


@pytest.mark.parametrize("synced", [True, False])
@pytest.mark.parametrize("seconds", [0, 3, 6, 40])
def test_replacing_by_rename_leaves_one_or_the_other(
    lost: Volume, hand: Hand, seconds: float, synced: bool
) -> None:
    files = Files(lost)
    files.write("/conf", b"old")
    files.sync()
    hand.now += 100
    files.write("/conf.tmp", b"new")
    if synced:
        files.sync("/conf.tmp")
    files.rename("/conf.tmp", "/conf")
    hand.now += seconds
    lost.power_loss()
    assert files.read("/conf") == (b"new" if seconds > 5 else b"old")


def test_renames_and_removals_are_taken_back_together(lost: Volume, hand: Hand) -> None:
    files = Files(lost)
    files.put("/d/a", b"1")
    files.link("/d/a", "/b")
    files.sync()
    before = tree(files)
    hand.now += 50
    files.rename("/d", "/e")
    files.remove("/b")
    files.remove("/e/a")
    files.rmdir("/e")
    files.mkdir("/d")
    lost.power_loss()
    assert tree(files) == before
    assert (lost.used_bytes, lost.inodes_used) == occupied(files)


def test_a_file_removed_while_open_is_gone_after_a_power_loss(lost: Volume, hand: Hand) -> None:
    files = Files(lost)
    files.write("/f", b"x")
    file = files.open("/f")
    files.remove("/f")
    hand.now += 60
    lost.power_loss()
    assert (lost.used_bytes, lost.inodes_used) == (0, 0)
    assert error_of(file.read) == "ESTALE"
    file.close()


def test_what_a_clone_froze_stays_charged_to_the_source(lost: Volume) -> None:
    files = Files(lost)
    files.write("/f", b"x" * 10_000)
    lost.clone()
    files.remove("/f")
    files.write("/g", b"x")
    lost.power_loss()
    assert tree(files).keys() == {"/f"}
    assert lost.used_bytes == lost.disk.used_bytes == 3 * BLOCK_BYTES
    files.remove("/f")
    assert lost.used_bytes == 3 * BLOCK_BYTES
    lost.discard()
    assert lost.disk.used_bytes == lost.disk.inodes_used == 0


def test_a_disk_that_fails_writes_does_not_sync(lost: Volume) -> None:
    files = Files(lost)
    files.write("/f", b"x")
    lost.disk.fail_writes = True
    assert error_of(files.sync, "/f") == "EIO"
    files.sync()
    lost.power_loss()
    assert not files.exists("/f")


pauses = st.sampled_from([0.0, 0.0, 1.0, 4.0, 20.0])


@pytest.mark.slow
@settings(max_examples=150)
@given(
    sequences, sequences, st.lists(pauses, min_size=25, max_size=25), st.sampled_from(["sync", "wait", ""])
)
def test_power_loss_after_any_history(
    base: list[Call], sequence: list[Call], times: list[float], end: str
) -> None:
    hand = Hand()
    image = fresh(now=hand)
    perform(Files(image), base)
    volume = image.clone(disk=Disk("sdb", 1 << 20, 1000))
    files = Files(volume)
    for call, pause_s in zip(sequence, times, strict=False):
        perform(files, [call])
        hand.now += pause_s
    if end == "sync":
        files.sync()
    elif end == "wait":
        hand.now += 30
    before = tree(files)
    volume.power_loss()
    after = tree(files)
    if end:
        assert after == before
    volume.power_loss()
    assert tree(files) == after
    assert volume.disk.used_bytes == volume.used_bytes
    remove_all(files)
    volume.sync()
    assert perform(files, sequence) == perform(Files(fresh()), sequence)


@given(sequences, sequences)
def test_power_loss_takes_back_exactly_the_uncommitted(base: list[Call], sequence: list[Call]) -> None:
    hand = Hand()
    volume = fresh(now=hand)
    files = Files(volume)
    perform(files, base)
    files.sync()
    before, used = tree(files), (volume.used_bytes, volume.inodes_used)
    hand.now += 100
    perform(files, [call for call in sequence if call[0] != "rename"])
    hand.now += 4
    volume.power_loss()
    assert tree(files) == before
    assert (volume.used_bytes, volume.inodes_used) == used
