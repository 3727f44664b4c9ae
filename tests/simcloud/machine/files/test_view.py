"""What a process sees: times, permissions, mounts, faults, and the conveniences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from simcloud.machine.files import Disk, FileError, Files, Volume, tmpfs


def error_of(action: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    with pytest.raises(FileError) as caught:
        action(*arguments, **options)
    return caught.value.code


def user(files: Files, uid: int, gid: int = 100) -> Files:
    """The same world seen by somebody else."""
    other = files.fork()
    other.uid, other.gid = uid, gid
    return other


def times(files: Files, path: str) -> tuple[float, float, float]:
    stat = files.stat(path, follow=False)
    return stat.atime, stat.mtime, stat.ctime


def test_an_error_knows_its_code_path_and_sentence(files: Files) -> None:
    with pytest.raises(FileError) as caught:
        files.read("missing")
    error = caught.value
    assert (error.code, error.path, error.strerror) == ("ENOENT", "missing", "No such file or directory")
    assert str(error) == "No such file or directory"


def test_names_are_listed_by_their_bytes(files: Files) -> None:
    names = ["é", "z", "B", "a", "\udcff", "10", "9", "€", "𝄞"]
    for name in names:
        files.write(name, b"")
    assert files.listdir() == ["10", "9", "B", "a", "z", "é", "€", "𝄞", "\udcff"]


@pytest.mark.parametrize("name", ["nul\0byte", "\ud800"])
def test_text_that_is_no_name_is_invalid(files: Files, name: str) -> None:
    assert error_of(files.write, name, b"") == "EINVAL"
    assert not files.exists(name)


# -- times -------------------------------------------------------------------------------------


def test_each_change_sets_the_times_that_linux_sets(files: Files, clock: Any) -> None:
    start = clock.now
    files.mkdir("/d")
    files.write("/d/f", b"1")
    clock.pass_s(10)
    files.append("/d/f", b"2")
    assert times(files, "/d/f") == (start, start + 10, start + 10)
    assert times(files, "/d") == (start, start, start)
    clock.pass_s(10)
    files.chmod("/d/f", 0o600)
    assert times(files, "/d/f") == (start, start + 10, start + 20)
    clock.pass_s(10)
    files.rename("/d/f", "/d/g")
    assert times(files, "/d") == (start, start + 30, start + 30)
    assert times(files, "/d/g") == (start, start + 10, start + 30)
    files.utime("/d/g", 5.0, 6.0)
    assert times(files, "/d/g") == (5.0, 6.0, start + 30)


def test_access_times_follow_relatime(files: Files, clock: Any) -> None:
    start = clock.now
    files.write("/f", b"1")
    clock.pass_s(10)
    files.read("/f")
    assert times(files, "/f")[0] == start + 10
    clock.pass_s(3600)
    files.read("/f")
    assert times(files, "/f")[0] == start + 10
    clock.pass_s(86_400)
    files.read("/f")
    assert times(files, "/f")[0] == start + 10 + 3600 + 86_400


# -- permissions -------------------------------------------------------------------------------


def test_mode_bits_decide_for_users_and_not_for_root(files: Files) -> None:
    files.write("/secret", b"s", mode=0o600)
    files.chown("/secret", 7, 8)
    owner, group, other = user(files, 7), user(files, 9, 8), user(files, 9)
    assert owner.read("/secret") == files.read("/secret") == b"s"
    assert error_of(group.read, "/secret") == error_of(other.read, "/secret") == "EACCES"
    files.chmod("/secret", 0o040)
    assert error_of(owner.read, "/secret") == "EACCES"
    assert group.read("/secret") == b"s"
    helped = user(files, 9)
    helped.groups = (8,)
    assert helped.read("/secret") == b"s"


def test_access_tells_what_would_be_allowed(files: Files) -> None:
    files.write("/run.sh", b"", mode=0o644)
    assert files.access("/run.sh", "rw")
    assert not files.access("/run.sh", "x")
    files.chmod("/run.sh", 0o100)
    assert files.access("/run.sh", "x")
    assert not user(files, 7).access("/run.sh", "x")
    assert not files.access("/missing", "r")
    files.mounts()[0].read_only = True
    assert not files.access("/run.sh", "w")


def test_a_directory_without_x_cannot_be_passed(files: Files) -> None:
    files.put("/d/f", b"1")
    files.chmod("/d", 0o644)
    other = user(files, 7)
    assert other.listdir("/d") == ["f"]
    assert error_of(other.read, "/d/f") == error_of(other.chdir, "/d") == "EACCES"


def test_in_a_sticky_directory_only_owners_delete(files: Files) -> None:
    files.mkdir("/tmp")
    files.chmod("/tmp", 0o1777)
    mine, yours = user(files, 7), user(files, 8)
    mine.write("/tmp/f", b"")
    assert error_of(yours.remove, "/tmp/f") == error_of(yours.rename, "/tmp/f", "/tmp/g") == "EPERM"
    mine.remove("/tmp/f")


def test_only_the_owner_changes_attributes(files: Files) -> None:
    files.write("/f", b"")
    files.chmod("/f", 0o666)
    other = user(files, 7)
    for action, *arguments in (
        (other.chmod, "/f", 0o777),
        (other.chown, "/f", 7, 7),
        (other.utime, "/f", 1.0, 1.0),
    ):
        assert error_of(action, *arguments) == "EPERM"
    other.utime("/f")
    files.chown("/f", 7, -1)
    other.chmod("/f", 0o600)
    other.chown("/f", -1, 100)
    assert error_of(other.chown, "/f", 7, 5) == error_of(other.chown, "/f", 8, -1) == "EPERM"
    assert error_of(user(files, 8).utime, "/f") == "EACCES"


def test_umask_and_mode_make_the_permissions(files: Files) -> None:
    files.umask = 0o027
    files.write("/f", b"")
    files.mkdir("/d")
    files.mkfifo("/p")
    modes = [files.stat(path).mode & 0o7777 for path in ("/f", "/d", "/p")]
    assert modes == [0o640, 0o750, 0o640]
    child = files.fork()
    child.umask = 0
    child.put("/x/y", b"", mode=0o751)
    assert files.stat("/x").mode & 0o7777 == 0o777
    assert files.stat("/x/y").mode & 0o7777 == 0o751
    assert files.umask == 0o027


# -- working directory, trees ------------------------------------------------------------------


def test_forks_have_working_directories_of_their_own(files: Files) -> None:
    files.mkdir("/a/b", parents=True)
    files.symlink("/a/b", "/l")
    child = files.fork()
    child.chdir("/l")
    child.write("f", b"1")
    assert (child.cwd, files.cwd) == ("/a/b", "/")
    assert files.read("/a/b/f") == b"1"
    assert child.realpath("../../l/f") == "/a/b/f"
    assert child.absolute("../x/./y//") == "/a/x/y"
    child.chdir("..")
    assert child.cwd == "/a"


def test_mkdir_with_parents_is_content_with_what_is_there(files: Files) -> None:
    files.mkdir("/a/b/c/", parents=True)
    files.mkdir("/a/b", parents=True)
    files.write("/a/f", b"")
    assert error_of(files.mkdir, "/a/f", parents=True) == "EEXIST"
    assert error_of(files.mkdir, "/a/f/x", parents=True) == "ENOTDIR"
    assert error_of(files.mkdir, "", parents=True) == "ENOENT"


def test_walk_goes_top_down_in_order_and_not_through_links(files: Files) -> None:
    files.put("/t/b/x", b"")
    files.put("/t/a/y", b"")
    files.symlink("/t/a", "/t/link")
    assert list(files.walk("/t")) == [
        ("/t", ["a", "b"], ["link"]),
        ("/t/a", [], ["y"]),
        ("/t/b", [], ["x"]),
    ]
    assert [where for where, _, _ in files.walk("/")][:2] == ["/", "/t"]


def test_a_very_deep_tree_can_be_walked(files: Files, disk: Disk) -> None:
    disk.capacity_bytes, disk.inodes = 1 << 30, 1 << 20
    files.mkdir("/d" * 1100, parents=True)
    assert sum(1 for _ in files.walk("/")) == 1101


def test_a_revoked_view_is_of_no_use(files: Files) -> None:
    process = files.fork()
    file = process.open("/f", write=True, create=True)
    handed_on = process.open("/g", write=True, create=True).share()
    process.revoke()
    assert error_of(file.write, b"last words") == "EBADF"
    assert error_of(process.write, "/f", b"last words") == error_of(process.stat, "/f") == "EBADF"
    handed_on.write(b"1")
    assert (files.read("/f"), files.read("/g")) == (b"", b"1")


# -- mounts ------------------------------------------------------------------------------------


def test_a_mounted_volume_covers_what_was_there(files: Files, clock: Any) -> None:
    files.put("/mnt/old", b"")
    data = tmpfs(1 << 20, clock)
    Files(data).write("/new", b"1")
    files.mount("/mnt", data, source="tmpfs", fstype="tmpfs")
    child = files.fork()
    assert child.listdir("/mnt") == ["new"]
    assert child.realpath("/mnt/../mnt/new") == "/mnt/new"
    assert child.stat("/mnt").dev != child.stat("/").dev
    assert [(m.path, m.fstype) for m in child.mounts()] == [("/", "ext4"), ("/mnt", "tmpfs")]
    space = child.space("/mnt/new")
    assert (space.total_bytes, space.mounted_on, space.source) == (1 << 20, "/mnt", "tmpfs")
    files.unmount("/mnt")
    assert child.listdir("/mnt") == ["old"]
    assert error_of(files.unmount, "/mnt") == "EINVAL"


def test_dots_climb_out_of_nested_mounts(files: Files, clock: Any) -> None:
    files.mkdir("/a/b", parents=True)
    outer, inner = tmpfs(1 << 20, clock), tmpfs(1 << 20, clock)
    Files(outer).mkdir("/c")
    files.mount("/a/b", outer)
    files.mount("/a/b/c", inner)
    files.chdir("/a/b/c")
    assert [files.realpath(path) for path in ("..", "../..", "../../..")] == ["/a/b", "/a", "/"]
    files.write("f", b"inner")
    assert Files(inner).read("/f") == b"inner"


def test_mounts_can_be_stacked_on_one_place(files: Files, clock: Any) -> None:
    files.mkdir("/a/b", parents=True)
    for name in ("lower", "upper"):
        layer = tmpfs(1 << 20, clock)
        Files(layer).write(name, b"")
        files.mount("/a/b", layer)
    assert files.listdir("/a/b") == ["upper"]
    assert files.realpath("/a/b/../b/..") == "/a"
    assert files.listdir("/a/b/..") == ["b"]
    files.unmount("/a/b")
    assert files.listdir("/a/b") == ["lower"]


def test_borders_between_mounts(files: Files, clock: Any) -> None:
    files.mkdir("/m")
    files.write("/f", b"")
    files.mount("/m", tmpfs(1 << 20, clock))
    files.write("/m/g", b"")
    assert error_of(files.rename, "/f", "/m/f") == error_of(files.link, "/f", "/m/f") == "EXDEV"
    assert error_of(files.rmdir, "/m") == error_of(files.rename, "/m", "/n") == "EBUSY"
    assert error_of(files.mount, "/f", tmpfs(1 << 20, clock)) == "ENOTDIR"
    assert error_of(files.mount, "/missing", tmpfs(1 << 20, clock)) == "ENOENT"
    open_file = files.open("/m/g")
    assert error_of(files.unmount, "/m") == "EBUSY"
    open_file.close()
    files.unmount("/m")
    assert error_of(files.unmount, "/") == "EBUSY"


def test_a_file_can_be_mounted_over_a_file(files: Files, clock: Any) -> None:
    files.put("/etc/hosts", b"image")
    data = Volume(Disk("d", 1 << 20), clock)
    Files(data).put("/pod/hosts", b"pod")
    files.mount("/etc/hosts", data, subpath="pod/hosts")
    assert files.read("/etc/hosts") == b"pod"
    assert error_of(files.remove, "/etc/hosts") == "EBUSY"
    Files(data).remove("/pod/hosts")
    files.append("/etc/hosts", b"!")
    assert files.read("/etc/hosts") == b"pod!"
    files.unmount("/etc/hosts")
    assert data.used_bytes == 4096  # the directory /pod


def test_two_views_of_one_volume_see_the_same(files: Files, clock: Any) -> None:
    shared = Volume(Disk("d", 1 << 20), clock)
    other = Files(Volume(Disk("e", 1 << 20), clock))
    for view in (files, other):
        view.mkdir("/data")
        view.mount("/data", shared, read_only=view is other)
    files.write("/data/f", b"1")
    assert other.read("/data/f") == b"1"
    assert error_of(other.write, "/data/f", b"2") == "EROFS"


# -- faults ------------------------------------------------------------------------------------


def changes(files: Files) -> list[Callable[[], Any]]:
    return [
        lambda: files.write("/f", b"2"),
        lambda: files.write("/new", b""),
        lambda: files.mkdir("/new"),
        lambda: files.symlink("f", "/new"),
        lambda: files.link("/f", "/new"),
        lambda: files.mkfifo("/new"),
        lambda: files.remove("/f"),
        lambda: files.rmdir("/d"),
        lambda: files.rename("/f", "/new"),
        lambda: files.chmod("/f", 0o600),
        lambda: files.chown("/f", 1, 1),
        lambda: files.utime("/f", 1.0, 1.0),
        lambda: files.truncate("/f", 0),
        lambda: files.allocate("/f", 100),
    ]


@pytest.mark.parametrize("where", ["mount", "volume", "disk"])
def test_read_only_refuses_every_change(files: Files, volume: Volume, disk: Disk, where: str) -> None:
    files.write("/f", b"1")
    files.mkdir("/d")
    places: dict[str, Any] = {"mount": files.mounts()[0], "volume": volume, "disk": disk}
    places[where].read_only = True
    for change in changes(files):
        assert error_of(change) == "EROFS"
    assert files.read("/f") == b"1"
    assert files.listdir("/") == ["d", "f"]


def test_a_disk_that_fails_to_write(files: Files, disk: Disk) -> None:
    files.write("/f", b"1")
    files.mkdir("/d")
    file = files.open("/f", write=True)
    disk.fail_writes = True
    assert error_of(file.sync) == "EIO"
    on_open_file: list[Callable[[], Any]] = [lambda: file.write(b"2"), file.sync, lambda: file.truncate(0)]
    for change in changes(files) + on_open_file:
        assert error_of(change) == "EROFS"  # the journal is aborted
    assert files.mounts()[0].flags().startswith("ro,") and disk.file_system_errors == 1
    assert files.read("/f") == b"1"
    disk.fail_writes = False
    file.write(b"2")
    assert files.read("/f") == b"2"


def test_a_disk_that_fails_to_read_some_paths(files: Files, disk: Disk) -> None:
    files.put("/bad/f", b"1")
    files.put("/good/f", b"1")
    disk.fail_reads = lambda path: path.startswith("/bad")
    files.chdir("/bad")
    assert error_of(files.read, "f") == error_of(files.listdir, "../bad") == "EIO"
    assert files.read("/good/f") == b"1"
    assert files.stat("/bad/f").size == 1
    files.write("/bad/f", b"2")


def test_a_disk_gone_read_only_stops_open_files(files: Files, disk: Disk) -> None:
    file = files.open("/log", write=True, create=True, append=True)
    disk.read_only = True
    assert error_of(file.write, b"x") == "EROFS"


# -- fifos -------------------------------------------------------------------------------------


def test_a_fifo_is_where_processes_meet(files: Files, volume: Volume) -> None:
    files.mkfifo("/p")
    assert files.is_fifo("/p")
    assert files.node_kind("/p") == "fifo"
    assert files.stat("/p").is_fifo
    files.fifo("/p").pipe = "meeting"
    files.chmod("/p", 0o600)
    assert files.fork().fifo("/p", read=True).pipe == "meeting"
    assert Files(volume.clone()).fifo("/p").pipe is None
    assert error_of(files.open, "/p") == "ENXIO"
    assert error_of(user(files, 7).fifo, "/p", write=True) == "EACCES"
    files.write("/f", b"")
    assert error_of(files.fifo, "/f") == "ENXIO"
