"""Open files: offsets, sharing, appending, and what may not be done with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from simcloud.machine.files import SEEK_CUR, SEEK_END, Disk, FileError, Files


def error_of(action: Callable[..., Any], *arguments: Any) -> str:
    with pytest.raises(FileError) as caught:
        action(*arguments)
    return caught.value.code


def test_reading_and_writing_share_one_offset(files: Files) -> None:
    file = files.open("/f", write=True, create=True)
    assert file.write(b"hello world") == 11
    assert file.seek(6) == 6
    assert file.read(3) == b"wor"
    file.write(b"LD")
    assert file.tell() == 11
    assert file.seek(-4, SEEK_END) == 7
    assert file.seek(1, SEEK_CUR) == 8
    assert file.read() == b"rLD"
    assert file.read() == b""
    assert error_of(file.seek, -1) == "EINVAL"


def test_dup_shares_and_counts(files: Files) -> None:
    file = files.open("/f", write=True, create=True)
    same = file.dup()
    file.write(b"ab")
    same.write(b"cd")
    file.close()
    assert not same.closed
    same.write(b"ef")
    same.close()
    assert same.closed
    assert error_of(same.write, b"x") == error_of(same.read) == "EBADF"
    same.close()
    assert files.read("/f") == b"abcdef"


def test_appending_always_goes_to_the_end(files: Files) -> None:
    one = files.open("/log", append=True, create=True)
    two = files.open("/log", append=True)
    for number in range(3000):
        (one if number % 2 else two).write(b"%04d\n" % number)
    one.seek(0)
    assert one.read(5) == b"0000\n"
    one.write(b"end\n")
    assert files.read("/log") == b"".join(b"%04d\n" % number for number in range(3000)) + b"end\n"


def test_writing_beyond_the_end_leaves_a_hole(files: Files) -> None:
    file = files.open("/f", write=True, create=True)
    file.seek(10_000)
    file.write(b"x")
    assert file.stat().size == 10_001
    assert file.stat().blocks == 8
    assert file.read_at(0, 4) == bytes(4)
    assert file.tell() == 10_001


def test_rights_are_fixed_when_opening(files: Files) -> None:
    files.write("/f", b"1")
    reader, writer = files.open("/f"), files.open("/f", read=False, write=True)
    files.chmod("/f", 0)
    assert error_of(reader.write, b"2") == error_of(writer.read) == error_of(reader.truncate, 0) == "EBADF"
    assert reader.read() == b"1"


def test_a_directory_is_open_but_not_to_be_read(files: Files) -> None:
    files.mkdir("/d")
    directory = files.open("/d")
    assert (directory.kind, directory.path) == ("directory", "/d")
    assert error_of(directory.read) == error_of(directory.read_at, 0, 1) == "EISDIR"
    assert error_of(directory.write, b"") == "EBADF"
    directory.sync()


def test_open_modes(files: Files) -> None:
    assert error_of(files.open, "/f") == "ENOENT"
    files.open("/f", write=True, create=True, exclusive=True).write(b"12345")
    with pytest.raises(FileError, match="File exists"):
        files.open("/f", create=True, exclusive=True)
    files.open("/f", write=True, create=True).write(b"ab")
    assert files.read("/f") == b"ab345"
    files.open("/f", write=True, truncate=True)
    assert files.read("/f") == b""


def test_a_rename_does_not_disturb_an_open_file(files: Files) -> None:
    file = files.open("/log", append=True, create=True)
    files.rename("/log", "/log.1")
    file.write(b"1")
    assert file.path == "/log"
    assert files.read("/log.1") == b"1"


def test_truncating_under_a_reader(files: Files) -> None:
    files.write("/f", b"12345")
    file = files.open("/f", write=True)
    file.read(4)
    file.truncate(2)
    assert file.read() == b""
    assert error_of(file.truncate, -1) == "EINVAL"
    file.write(b"x")
    assert files.read("/f") == b"12\0\0x"


def test_a_slow_disk_tells_how_long_it_takes(files: Files, disk: Disk) -> None:
    file = files.open("/f", write=True, create=True)
    assert file.io_delay_s(1 << 30) == 0.0
    disk.latency_s, disk.bytes_per_s = 0.01, 1000.0
    assert file.io_delay_s(500) == pytest.approx(0.51)
