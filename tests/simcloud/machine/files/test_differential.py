# ruff: noqa: PTH109, PTH115, PTH116, PTH208 (the bare system calls are the point)
"""The same system calls on our filesystem and on this computer's: the same answers, the same tree after.

The real calls run in a forked child confined to a temporary folder by chroot, so links and ``..``
may lead anywhere. That takes root.
"""

from __future__ import annotations

import errno
import json
import os
import stat as bits
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from simcloud.machine.files import Disk, FileError, Files, Volume

pytestmark = pytest.mark.live("root")

USER = 1234

Call = tuple[Any, ...]

names = st.sampled_from(["a", "b", "c", ".", "..", "n" * 255])
paths = st.builds(
    lambda lead, parts, tail: lead + "/".join(parts) + tail,
    st.sampled_from(["", "", "", "/", "//"]),
    st.lists(names, min_size=1, max_size=3),
    st.sampled_from(["", "", "", "", "/", "/."]),
)
odd_paths = st.one_of(
    paths, paths, paths, paths, st.sampled_from(["", "/", "n" * 256, "a/" * 2047 + "ab", "n/" * 2048])
)
modes = st.sampled_from([0o755, 0o644, 0o700, 0o600, 0o777, 0o000, 0o1755, 0o311, 0o444])
data = st.binary(max_size=6)

calls = st.one_of(
    st.tuples(st.just("mkdir"), odd_paths, modes),
    st.tuples(st.just("mkdir"), paths, st.just(0o777)),
    st.tuples(st.just("rmdir"), odd_paths),
    st.tuples(st.just("write"), odd_paths, data),
    st.tuples(st.just("write"), paths, data),
    st.tuples(st.just("append"), paths, data),
    st.tuples(st.just("create"), odd_paths, modes),
    st.tuples(st.just("read"), odd_paths),
    st.tuples(st.just("truncate"), paths, st.integers(0, 9000)),
    st.tuples(st.just("rename"), paths, paths),
    st.tuples(st.just("rename"), odd_paths, st.just("a")),
    st.tuples(st.just("rename"), st.just("a"), odd_paths),
    st.tuples(st.just("link"), paths, paths),
    st.tuples(st.just("link"), odd_paths, st.just("b")),
    st.tuples(st.just("symlink"), paths, paths),
    st.tuples(st.just("symlink"), odd_paths, st.just("c")),
    st.tuples(st.just("readlink"), odd_paths),
    st.tuples(st.just("remove"), odd_paths),
    st.tuples(st.just("chmod"), odd_paths, modes),
    st.tuples(st.just("mkfifo"), odd_paths),
    st.tuples(st.just("stat"), odd_paths, st.booleans()),
    st.tuples(st.just("listdir"), odd_paths),
    st.tuples(st.just("chdir"), paths),
    st.tuples(st.just("realpath"), paths),
)


# -- the real thing ----------------------------------------------------------------------------


def real_write(path: str, content: bytes, flags: int, mode: int = 0o666) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK | flags, mode)
    os.write(descriptor, content)
    os.close(descriptor)


def real_read(path: str) -> str:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, 1 << 20).hex()
    finally:
        os.close(descriptor)


def real_stat(path: str, follow: bool) -> list[int]:
    found = os.stat(path, follow_symlinks=follow)
    size = 0 if bits.S_ISDIR(found.st_mode) else found.st_size
    return [found.st_mode, found.st_nlink, size, found.st_uid, found.st_gid]


def real_chdir(path: str) -> str:
    os.chdir(path)
    return os.getcwd()


def real_become(uid: int) -> None:
    os.seteuid(0)
    os.setegid(uid)
    os.seteuid(uid)


REAL: dict[str, Callable[..., Any]] = {
    "mkdir": os.mkdir,
    "rmdir": os.rmdir,
    "write": lambda path, content: real_write(path, content, os.O_TRUNC),
    "append": lambda path, content: real_write(path, content, os.O_APPEND),
    "create": lambda path, mode: real_write(path, b"", os.O_EXCL, mode),
    "read": real_read,
    "truncate": os.truncate,
    "rename": os.rename,
    "link": os.link,
    "symlink": os.symlink,
    "readlink": os.readlink,
    "remove": os.unlink,
    "chmod": os.chmod,
    "mkfifo": os.mkfifo,
    "stat": real_stat,
    "listdir": lambda path: sorted(os.listdir(path)),
    "chdir": os.chdir,
    "realpath": real_chdir,
    "become": real_become,
}


def real_answer(call: Call) -> Any:
    try:
        return REAL[call[0]](*call[1:])
    except OSError as error:
        return errno.errorcode[error.errno or 0]


def real_answers(sequence: list[Call], folder: str) -> list[Any]:
    """Run all calls, and then list the whole tree, in a child that sees only the folder."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.chroot(folder)
            os.chdir("/")
            os.setgroups([])
            os.umask(0o022)
            answers = [real_answer(call) for call in sequence]
            real_become(0)
            os.chdir("/")
            answers += real_tree("/")
            with os.fdopen(writer, "w") as out:
                json.dump(answers, out)
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader) as incoming:
        text = incoming.read()
    assert os.waitpid(child, 0)[1] == 0
    received: list[Any] = json.loads(text)
    return received


def real_tree(path: str) -> list[Any]:
    found: list[Any] = [[path, *real_stat(path, False)]]
    mode = found[0][1]
    if bits.S_ISDIR(mode):
        for name in sorted(os.listdir(path)):
            found += real_tree(path.rstrip("/") + "/" + name)
    elif bits.S_ISREG(mode):
        found.append(real_read(path))
    elif bits.S_ISLNK(mode):
        found.append(os.readlink(path))
    return found


# -- ours --------------------------------------------------------------------------------------


def our_stat(files: Files, path: str, follow: bool) -> list[int]:
    found = files.stat(path, follow)
    return [found.mode, found.nlink, 0 if found.is_dir else found.size, found.uid, found.gid]


def our_call(files: Files, call: Call) -> Any:
    name, *arguments = call
    if name == "become":
        files.uid = files.gid = arguments[0]
        return None
    if name == "append":
        return files.append(*arguments)
    if name == "create":
        path, mode = arguments
        files.open(path, read=False, write=True, create=True, exclusive=True, mode=mode).close()
        return None
    if name == "read":
        return files.read(*arguments).hex()
    if name == "stat":
        return our_stat(files, *arguments)
    if name == "realpath":
        files.chdir(arguments[0])
        return files.cwd
    return getattr(files, name)(*arguments)


def our_answer(files: Files, call: Call) -> Any:
    try:
        return our_call(files, call)
    except FileError as error:
        return error.code


def our_tree(files: Files, path: str) -> list[Any]:
    found: list[Any] = [[path, *our_stat(files, path, False)]]
    kind = files.node_kind(path, follow=False)
    if kind == "directory":
        for name in files.listdir(path):
            found += our_tree(files, path.rstrip("/") + "/" + name)
    elif kind == "file":
        found.append(files.read(path).hex())
    elif kind == "link":
        found.append(files.readlink(path))
    return found


def our_answers(sequence: list[Call], volume: Volume) -> list[Any]:
    files = Files(volume)
    answers = [our_answer(files, call) for call in sequence]
    files.uid = files.gid = 0
    files.cwd = "/"
    return answers + our_tree(files, "/")


def stops_short_of_fifos(sequence: list[Call], volume: Volume) -> list[Call]:
    """The calls without those that would wait at a named pipe in real life."""
    files = Files(volume)
    kept = []
    for call in sequence:
        if call[0] == "read" and files.is_fifo(call[1]):
            continue
        our_answer(files, call)
        kept.append(call)
    return kept


def fresh_volume() -> Volume:
    return Volume(Disk("sda", 1 << 24, 1 << 12), lambda: 1e9)


def compare(sequence: list[Call]) -> None:
    sequence = stops_short_of_fifos(sequence, fresh_volume())
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        real = real_answers(sequence, folder)
    ours = our_answers(sequence, fresh_volume())
    for call, we, they in zip(sequence, ours, real, strict=False):
        assert we == they, f"{call}: ours {we}, real {they}; after {sequence}"
    assert ours == real, sequence


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(calls, min_size=1, max_size=25))
def test_root_gets_the_same_answers_and_the_same_tree(sequence: list[Call]) -> None:
    compare(sequence)


# Who may link to files of others is a setting of the host; ours is as Debian sets it.
PROTECTED = Path("/proc/sys/fs/protected_hardlinks")
SAME_LINK_RULE = PROTECTED.exists() and PROTECTED.read_text() == "1\n"
user_calls = calls if SAME_LINK_RULE else calls.filter(lambda call: call[0] != "link")
become = st.tuples(st.just("become"), st.sampled_from([0, USER]))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.one_of(user_calls, user_calls, user_calls, become), min_size=1, max_size=25))
def test_a_user_gets_the_same_answers_and_the_same_tree(sequence: list[Call]) -> None:
    compare([("chmod", "/", 0o777), ("become", USER), *sequence])


LINKS = [("symlink", f"l{n + 1}", f"l{n}") for n in range(45)]


@pytest.mark.parametrize(
    "sequence",
    [
        [("symlink", "x", "x"), ("read", "x"), ("stat", "x", False), ("write", "x", b"1")],
        [*LINKS, ("write", "l45", b"end"), ("read", "l5"), ("read", "l4"), ("stat", "l45", True)],
        [("symlink", "b", "a"), ("write", "a", b"1"), ("read", "b"), ("stat", "a", False)],
        [("symlink", "b/", "a"), ("write", "a", b"1"), ("mkdir", "a", 0o755), ("mkdir", "b", 0o755)],
        [("mkdir", "a", 0o755), ("rename", "a", "a/b"), ("rename", "a/.", "b"), ("rename", "a", "b/")],
        [("write", "a", b"1"), ("link", "a", "b"), ("rename", "a", "b"), ("listdir", "/"), ("remove", "a")],
        [("mkdir", "d", 0o1777), ("write", "d/f", b""), ("become", USER), ("remove", "d/f"), ("rmdir", "d")],
        [("chmod", "/", 0o1777), ("write", "f", b""), ("become", USER), ("remove", "f"), ("rename", "f", "")],
        [("mkdir", "d", 0o755), ("chmod", "d", 0o2755), ("write", "d/f", b""), ("mkdir", "d/e", 0o700)],
        [("write", "a", b"12345"), ("truncate", "a", 3), ("truncate", "a", 5), ("read", "a")],
        [("mkdir", "a", 0o755), ("symlink", "a", "l"), ("rmdir", "l"), ("remove", "l/"), ("listdir", "l/")],
        [("mkdir", "a", 0o755), ("mkdir", "a/b", 0o755), ("rename", "a/b", "a"), ("rename", "a", "a/b/c")],
        [("symlink", "..", "up"), ("mkdir", "a", 0o755), ("symlink", "../up", "a/up"), ("realpath", "a/up")],
        [("write", "é" * 127 + "x", b"1"), ("write", "é" * 128, b"1"), ("listdir", "/")],
    ],
)
def test_known_corners(sequence: list[Call]) -> None:
    compare(sequence)
