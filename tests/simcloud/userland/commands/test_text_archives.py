"""What is packed comes out again, and chance is the world's."""

from __future__ import annotations

import gzip
import io
import tarfile

import pytest
from hypothesis import given, settings, strategies as st

from tests import genuine
from tests.simcloud.userland.commands.text_harness import FILES, TIME_S, WORK, make_machine, run


@settings(max_examples=50)
@given(st.binary(max_size=3000), st.sampled_from(["-1", "-6", "-9", "-n"]))
def test_gzip_and_back(data: bytes, option: str) -> None:
    machine = make_machine({"file": data})
    files = machine.host.files
    files.chmod(f"{WORK}/file", 0o640)
    assert run(machine, ["gzip", option, "file"]) == (b"", b"", 0)
    assert not files.exists(f"{WORK}/file")
    assert gzip.decompress(files.read(f"{WORK}/file.gz")) == data
    assert run(machine, ["zcat", "file.gz"]) == (data, b"", 0)
    assert run(machine, ["gunzip", "file"]) == (b"", b"", 0)
    assert files.read(f"{WORK}/file") == data
    stat = files.stat(f"{WORK}/file")
    assert (stat.mode & 0o777, stat.mtime) == (0o640, TIME_S)


@pytest.mark.live("gzip")
def test_genuine_gzip_reads_ours() -> None:
    data = bytes(range(256)) * 100
    packed, _, _ = run(make_machine({}), ["gzip", "-c"], data)
    done = genuine.run(["gzip", "-dc"], stdin=packed)
    assert (done.status, done.stdout) == (0, data)


def test_tar_and_back() -> None:
    machine = make_machine(FILES)
    files = machine.host.files
    files.symlink("x", f"{WORK}/da/link")
    files.chmod(f"{WORK}/da/x", 0o755)
    files.chown(f"{WORK}/da/x", 33, 33)
    files.mkdir(f"{WORK}/out")
    assert run(machine, ["tar", "czf", "all.tgz", "da", "bin"])[2] == 0
    assert run(machine, ["tar", "xzf", "all.tgz", "-C", "out"]) == (b"", b"", 0)
    assert files.read(f"{WORK}/out/bin") == FILES["bin"]
    assert files.readlink(f"{WORK}/out/da/link") == "x"
    stat = files.stat(f"{WORK}/out/da/x")
    assert (stat.mode & 0o777, stat.uid, stat.gid, stat.mtime) == (0o755, 33, 33, TIME_S)
    assert run(machine, ["diff", "-r", "da", "out/da"]) == (b"", b"", 0)


def test_tar_lists_names_from_the_containers_own_users() -> None:
    machine = make_machine({"f": b"12345\n"})
    machine.host.files.chown(f"{WORK}/f", 33, 33)
    run(machine, ["tar", "cf", "a.tar", "f"])
    assert run(machine, ["tar", "tvf", "a.tar"])[0] == b"-rw-r--r-- www-data/www-data 6 2024-01-01 00:00 f\n"


@pytest.mark.differential("tar")
def test_genuine_tar_reads_ours() -> None:
    archive, _, _ = run(make_machine(FILES), ["tar", "cf", "-", "d", "a.txt"])
    done = genuine.run(["tar", "tf", "-"], stdin=archive)
    assert done.status == 0
    assert done.stdout == b"d/\nd/one\nd/two\na.txt\n"


def test_tar_does_not_leave_its_folder() -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in ("/etc/evil", "../evil", "ok"):
            entry = tarfile.TarInfo(name)
            entry.size = 1
            archive.addfile(entry, io.BytesIO(b"x"))
    machine = make_machine({"in/evil.tar": buffer.getvalue()})
    _, stderr, status = run(machine, ["tar", "xf", "in/evil.tar", "-C", "in"])
    files = machine.host.files
    assert status == 2
    assert b"Member name contains '..'" in stderr
    assert not files.exists("/etc/evil")
    assert not files.exists(f"{WORK}/evil")
    assert files.read(f"{WORK}/in/etc/evil") == files.read(f"{WORK}/in/ok") == b"x"


def test_chance_is_the_same_in_the_same_world() -> None:
    first, again = (run(make_machine(FILES), ["sort", "-R", "s"]) for _ in range(2))
    assert first == again
    assert first[0] != b"".join(sorted(first[0].splitlines(keepends=True)))


def test_random_sort_keeps_every_line() -> None:
    wanted = sorted(FILES["s"].splitlines())
    assert sorted(run(make_machine(FILES), ["sort", "-R", "s"])[0].splitlines()) == wanted


def test_random_sort_keeps_equal_lines_together() -> None:
    stdout, _, _ = run(make_machine({}), ["sort", "-R"], b"a\nb\nc\na\nb\nc\na\n")
    assert [line for line in (b"a\na\na\n", b"b\nb\n", b"c\nc\n") if line in stdout] == [
        b"a\na\na\n",
        b"b\nb\n",
        b"c\nc\n",
    ]


def test_times_in_headings_are_virtual() -> None:
    machine = make_machine({"one": b"1\n"})
    machine.kernel.run_for(90.5)
    machine.host.files.write(f"{WORK}/two", b"2\n")
    stdout, _, _ = run(machine, ["diff", "-u", "one", "two"])
    assert stdout.splitlines()[:2] == [
        b"--- one\t2024-01-01 00:00:00.000000000 +0000",
        b"+++ two\t2024-01-01 00:01:30.500000000 +0000",
    ]
