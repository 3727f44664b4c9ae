"""tmpfs, devices, trees from mappings, and computed filesystems."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from simcloud.machine.files import (
    FileError,
    Files,
    VirtualDirectory,
    VirtualEntry,
    VirtualFile,
    VirtualLink,
    VirtualVolume,
    device_volume,
    tmpfs,
    tree_volume,
    update_tree,
    virtual_directory,
)


def error_of(action: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    with pytest.raises(FileError) as caught:
        action(*arguments, **options)
    return caught.value.code


# -- tmpfs and devices -------------------------------------------------------------------------


def test_tmpfs_has_a_size_and_forgets(clock: Any) -> None:
    volume = tmpfs(8192, clock)
    files = Files(volume, uid=7, gid=7)
    assert error_of(files.write, "/f", b"x" * 9000) == "ENOSPC"
    files.sync()
    volume.power_loss()
    assert files.listdir("/") == []
    assert volume.used_bytes == 0


@pytest.fixture
def dev(clock: Any) -> Files:
    stream = Random(1)
    return Files(device_volume(lambda: stream, clock))


def test_devices_give_and_take(dev: Files) -> None:
    dev.write("/null", b"gone")
    assert dev.read("/null") == b""
    zero = dev.open("/zero", write=True)
    assert (zero.read(3), zero.write(b"abc")) == (b"\0\0\0", 3)
    assert error_of(dev.read, "/zero") == "ENOMEM"
    assert dev.open("/full").read(2) == b"\0\0"
    with pytest.raises(FileError, match="No space left on device"):
        dev.append("/full", b"x")
    assert error_of(dev.open, "/tty") == "ENXIO"
    stat = dev.stat("/null")
    assert (stat.is_device, stat.mode & 0o777, stat.rdev) == (True, 0o666, 0x103)
    assert dev.readlink("/stdout") == "/proc/self/fd/1"


def test_no_read_of_an_endless_device_is_unbounded(dev: Files) -> None:
    assert len(dev.open("/zero").read(1 << 50)) == 1 << 28
    assert len(dev.open("/urandom").read(1 << 50)) == (1 << 25) - 1


def test_random_bytes_come_from_the_given_stream(clock: Any) -> None:
    draws = [Files(device_volume(lambda: Random(5), clock)).open("/urandom").read(16) for _ in range(2)]
    assert draws[0] == draws[1] == Random(5).randbytes(16)


def test_devices_are_there_after_a_power_loss(dev: Files) -> None:
    names = dev.listdir("/")
    dev.write("/junk", b"")
    dev.power_loss()
    assert dev.listdir("/") == names


def test_a_device_can_be_written_on_a_read_only_mount(dev: Files) -> None:
    dev.mounts()[0].read_only = True
    dev.write("/null", b"x")
    assert error_of(dev.write, "/new", b"x") == "EROFS"


# -- trees from mappings -----------------------------------------------------------------------


def test_a_tree_is_laid_out_as_the_kubelet_does(clock: Any) -> None:
    clock.now = 1_700_000_000.25
    files = Files(tree_volume({"app.conf": b"a=1", "certs/tls.key": b"k"}, clock))
    stamp = "..2023_11_14_22_13_20.250000000"
    assert files.listdir("/") == [stamp, "..data", "app.conf", "certs"]
    assert files.readlink("/..data") == stamp
    assert files.readlink("/app.conf") == "..data/app.conf"
    assert files.read("/certs/tls.key") == b"k"
    assert files.stat("/app.conf").mode & 0o777 == 0o644
    assert error_of(files.write, "/app.conf", b"") == error_of(files.remove, "/app.conf") == "EROFS"


def test_an_update_replaces_everything_at_once(files: Files, clock: Any) -> None:
    volume = tree_volume({"keep": b"1", "drop": b"1"}, clock, mode=0o400)
    files.mkdir("/etc/config", parents=True)
    files.mount("/etc/config", volume, read_only=True)
    files.write("/one", b"")
    files.mount("/one", volume, read_only=True, subpath="keep")
    reader = files.open("/etc/config/keep")
    update_tree(volume, {"keep": b"2", "new": b"2"}, mode=0o400)
    names = files.listdir("/etc/config")
    assert [name for name in names if not name.startswith("..")] == ["keep", "new"]
    assert len(names) == 4
    assert files.read("/etc/config/keep") == b"2"
    assert reader.read() == b"1"
    assert files.read("/one") == b"1"
    assert files.stat("/etc/config/new").mode & 0o777 == 0o400
    assert error_of(files.write, "/etc/config/keep", b"") == "EROFS"


def test_an_update_without_a_difference_does_nothing(clock: Any) -> None:
    volume = tree_volume({"a": b"1", "d/b": b"2"}, clock)
    before = Files(volume).listdir("/")
    clock.pass_s(60)
    update_tree(volume, {"d/b": b"2", "a": b"1"})
    assert Files(volume).listdir("/") == before


def test_a_tree_survives_a_power_loss_and_frees_old_states(clock: Any) -> None:
    volume = tree_volume({"a": b"1"}, clock)
    used = volume.used_bytes
    for number in range(10):
        update_tree(volume, {"a": b"%d" % number})
    volume.power_loss()
    assert Files(volume).read("/a") == b"9"
    assert volume.used_bytes == used


# -- computed filesystems ----------------------------------------------------------------------


@pytest.fixture
def proc(files: Files, clock: Any) -> Files:
    """A small /proc: processes that come and go, a knob, links."""
    running = {"1": b"init", "17": b"sh"}
    knob = [b"60\n"]

    def process(pid: str) -> VirtualEntry | None:
        name = running.get(pid)
        return name and virtual_directory({"comm": VirtualFile(lambda: name + b"\n")})

    def find(name: str) -> VirtualEntry | None:
        return fixed.get(name) or process(name)

    def kill(data: bytes) -> None:
        running.pop(data.decode())

    fixed: dict[str, VirtualEntry] = {
        "uptime": VirtualFile(lambda: b"%.2f\n" % clock()),
        "self": VirtualLink(lambda: "17"),
        "kill": VirtualFile(lambda: b"", kill, mode=0o200),
        "sys": virtual_directory(
            {"swappiness": VirtualFile(lambda: knob[0], lambda text: knob.__setitem__(0, text), mode=0o644)}
        ),
    }
    root = VirtualDirectory(lambda: [*fixed, *running], find)
    files.mkdir("/proc")
    files.mount("/proc", VirtualVolume(root, clock), source="proc", fstype="proc")
    return files


def test_computed_files_are_made_when_read(proc: Files, clock: Any) -> None:
    uptime = proc.open("/proc/uptime")
    first = uptime.read(5) + uptime.read()
    clock.pass_s(1.5)
    assert uptime.read() == b""
    uptime.seek(0)
    assert (first, uptime.read()) == (b"1000000000.00\n", b"1000000001.50\n")
    stat = proc.stat("/proc/uptime")
    assert (stat.size, stat.mode, stat.is_file) == (0, 0o100444, True)
    assert stat.ino == proc.stat("/proc/uptime").ino


def test_computed_directories_change_between_looks(proc: Files) -> None:
    assert proc.listdir("/proc") == ["1", "17", "kill", "self", "sys", "uptime"]
    assert proc.read("/proc/self/comm") == b"sh\n"
    assert proc.realpath("/proc/self/../1/comm") == "/proc/1/comm"
    proc.write("/proc/kill", b"17")
    assert "17" not in proc.listdir("/proc")
    assert error_of(proc.read, "/proc/17/comm") == error_of(proc.read, "/proc/self/comm") == "ENOENT"
    proc.chdir("/proc/1")
    assert proc.realpath("../..") == "/"


def test_computed_files_take_what_is_written(proc: Files) -> None:
    proc.write("/proc/sys/swappiness", b"10\n")
    assert proc.read("/proc/sys/swappiness") == b"10\n"
    assert error_of(proc.write, "/proc/uptime", b"1") == "EIO"
    stranger = proc.fork()
    stranger.uid = 7
    assert error_of(stranger.write, "/proc/sys/swappiness", b"1") == "EACCES"


def test_nothing_can_be_made_or_removed_in_a_computed_tree(proc: Files) -> None:
    assert error_of(proc.write, "/proc/new", b"") == error_of(proc.mkdir, "/proc/new") == "ENOENT"
    assert error_of(proc.remove, "/proc/uptime") == error_of(proc.chmod, "/proc/uptime", 0) == "EPERM"
    assert error_of(proc.rename, "/proc/uptime", "/proc/new") == "EPERM"
    assert error_of(proc.link, "/proc/uptime", "/proc/new") == "EPERM"
    assert error_of(proc.truncate, "/proc/uptime", 0) == "EINVAL"
    space = proc.space("/proc")
    assert (space.total_bytes, space.fstype) == (0, "proc")
    proc.sync()
    proc.power_loss()
