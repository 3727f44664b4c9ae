"""What file commands do that cannot be compared line by line: physics, limits, permissions, kinds of data.

Texts of tree and file are what tree 2.1.0 and file 5.44 write of the same files.
"""

from __future__ import annotations

import pytest

from simcloud.machine.computer import Machine
from simcloud.machine.files import Disk, Volume, tmpfs
from simcloud.machine.process import Capture, Completed
from tests.simcloud.conftest import WORK, make_machine, type_line


@pytest.fixture
def machine() -> Machine:
    return make_machine()


def text(machine: Machine, line: str) -> str:
    return type_line(machine, line).stdout.decode()


def errors(machine: Machine, line: str) -> str:
    return type_line(machine, line).stderr.decode()


def as_user(machine: Machine, line: str, uid: int = 1000) -> Completed:
    out, err = Capture(), Capture()
    process = machine.host.start(
        ["bash", "-c", line], env={"LC_ALL": "C"}, cwd=WORK, uid=uid, gid=uid, streams={1: out, 2: err}
    )
    machine.kernel.run_task(machine.kernel.spawn(process.wait(), "typed line"))
    return Completed(process.status, bytes(out.data), bytes(err.data))


def test_permissions_hold_for_users(machine: Machine) -> None:
    type_line(
        machine,
        "mkdir d; echo x > d/f; chmod 700 d; echo y > own; chmod 644 own; mkdir open; chmod 777 open; touch open/f",
    )
    assert as_user(machine, "ls d").stderr == b"ls: cannot open directory 'd': Permission denied\n"
    assert as_user(machine, "ls -l d/f").stderr == b"ls: cannot access 'd/f': Permission denied\n"
    assert as_user(machine, "find d").stderr == b"find: 'd': Permission denied\n"
    assert as_user(machine, "du d").stderr == b"du: cannot read directory 'd': Permission denied\n"
    assert as_user(machine, "cp own /root/x").stderr == b"cp: cannot stat '/root/x': Permission denied\n"
    assert as_user(machine, "rm own").stderr == b"rm: cannot remove 'own': Permission denied\n"
    assert as_user(machine, "rm -rf d").stderr == b"rm: cannot remove 'd': Permission denied\n"
    assert (
        as_user(machine, "chmod 777 own").stderr
        == b"chmod: changing permissions of 'own': Operation not permitted\n"
    )
    assert (
        as_user(machine, "chown 1000 own").stderr
        == b"chown: changing ownership of 'own': Operation not permitted\n"
    )
    assert as_user(machine, "mkdir x").stderr == b"mkdir: cannot create directory 'x': Permission denied\n"
    assert as_user(machine, "mv own new").stderr == b"mv: cannot move 'own' to 'new': Permission denied\n"
    assert as_user(machine, "touch -d @5 own").stderr == b"touch: cannot touch 'own': Permission denied\n"
    assert as_user(machine, "rm open/f; ls open").stdout == b""


def test_a_folder_without_the_right_to_look_into_it(machine: Machine) -> None:
    type_line(machine, "mkdir d; touch d/f; chmod 744 d")
    done = as_user(machine, "ls -l d")
    assert done.stderr == b"ls: cannot access 'd/f': Permission denied\n"
    assert done.stdout == b"total 0\n-????????? ? ? ? ?            ? f\n"
    assert done.status == 1


def test_a_failing_disk(machine: Machine) -> None:
    disk = Disk("bad", 1 << 30)
    machine.host.files.mkdir("/bad")
    machine.host.files.mount("/bad", Volume(disk, machine.clock, name="bad"), source="/dev/sdc")
    type_line(machine, "echo data > /bad/f")
    disk.fail_reads = True
    assert errors(machine, "cp /bad/f x") == "cp: error reading '/bad/f': Input/output error\n"
    assert "dd: error reading '/bad/f': Input/output error\n" in errors(machine, "dd if=/bad/f of=/dev/null")
    disk.fail_reads = False
    disk.fail_writes = True
    refused = "cp: cannot create regular file '/bad/g': Read-only file system\n"
    assert errors(machine, "cp /bad/f /bad/g") == refused


def test_a_slow_disk_takes_its_time(machine: Machine) -> None:
    disk = Disk("slow", 1 << 30)
    disk.bytes_per_s = 1 << 20
    machine.host.files.mkdir("/slow")
    machine.host.files.mount("/slow", Volume(disk, machine.clock, name="slow"), source="/dev/sdc")
    machine.host.files.write("/w/f", b"x" * (5 << 20))
    start = machine.kernel.now
    done = type_line(machine, "cp f /slow/f; dd if=/slow/f of=/dev/null bs=1M")
    assert machine.kernel.now - start == pytest.approx(10, abs=1)
    assert (
        done.stderr.decode()
        .splitlines()[-1]
        .startswith("5242880 bytes (5.2 MB, 5.0 MiB) copied, 5 s, 1.0 MB/s")
    )


def test_moving_to_another_file_system_copies(machine: Machine) -> None:
    machine.host.files.mkdir("/other")
    machine.host.files.mount("/other", tmpfs(1 << 20, machine.clock), fstype="tmpfs", source="tmpfs")
    type_line(machine, "mkdir -p d/e; echo x > d/e/f; ln -s f d/e/l; chmod 750 d; touch -d @5 d/e/f")
    assert text(machine, "mv -v d /other/ | sort") == (
        "copied 'd' -> '/other/d'\ncopied 'd/e' -> '/other/d/e'\ncopied 'd/e/f' -> '/other/d/e/f'\n"
        "copied 'd/e/l' -> '/other/d/e/l'\nremoved 'd/e/f'\nremoved 'd/e/l'\nremoved directory 'd'\n"
        "removed directory 'd/e'\n"
    )
    assert text(machine, "stat -c '%a %Y %F' /other/d /other/d/e/f /other/d/e/l; ls -d d").splitlines()[
        1
    ] == ("644 5 regular file")
    assert (
        text(machine, "find /other -xdev -name f; find / -xdev -name f -path '/other/*'") == "/other/d/e/f\n"
    )
    assert errors(machine, "ln /other/d/e/f hard") == (
        "ln: failed to create hard link 'hard' => '/other/d/e/f': Invalid cross-device link\n"
    )


def test_a_disk_is_filled_with_zeros_until_there_is_no_room(machine: Machine) -> None:
    done = type_line(
        machine, "dd if=/dev/zero of=half bs=1M count=20000; df -h / | tail -1; dd if=/dev/zero of=rest bs=1M"
    )
    lines = done.stderr.decode().splitlines()
    assert lines[:2] == ["20000+0 records in", "20000+0 records out"]
    assert lines[3] == "dd: error writing 'rest': No space left on device"
    assert text(machine, "stat -c %s half") == f"{20000 << 20}\n"
    assert errors(machine, "echo x > more") == "bash: line 1: echo: write error: No space left on device\n"
    assert text(machine, "rm half rest; echo x > more; cat more") == "x\n"


def test_what_is_written_to_nowhere_costs_a_core_and_no_steps() -> None:
    machine = make_machine()
    for line in ("timeout 600 yes > /dev/null", "timeout 600 dd if=/dev/zero of=/dev/null"):
        before = machine.cpu.used_s
        assert type_line(machine, line).status == 124
        assert machine.cpu.used_s - before == pytest.approx(600, rel=0.02)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize(
    "line",
    [
        "cp /dev/zero x",
        "dd if=/dev/urandom of=x bs=1M",
        "tr '\\0' '\\n' < /dev/zero | xargs",
        "yes a a a a a a a a | xargs > /dev/null",
        "xargs -0 echo < /dev/urandom > /dev/null",
        "date -f /dev/zero",
        "yes | xargs -n1 true",
        "curl -d @/dev/zero http://10.0.0.1:1/",
        "while :; do find / > /dev/null; done",
    ],
)
def test_endless_work_ends_by_a_count_and_always_the_same_way(line: str) -> None:
    first = type_line(make_machine(), line)
    assert b"limit exceeded: more than" in first.stderr
    second = type_line(make_machine(), line)
    assert (first.status, first.stdout, first.stderr) == (second.status, second.stdout, second.stderr)


@pytest.mark.slow
def test_deep_trees_are_walked_without_recursion(machine: Machine) -> None:
    deep = "/".join(["d"] * 700)
    type_line(machine, f"mkdir -p {deep}; touch {deep}/leaf")
    assert text(machine, "find d -name leaf | wc -c").strip() == str(len(deep) + 6)
    assert text(machine, "du -s d | cut -f1").strip() == str(4 * 700)
    assert text(machine, "ls -R d | grep -c :").strip() == "700"
    assert (
        type_line(machine, "chmod -R u+w d; chown -R 0 d; cp -r d e; rm -r d; tree e | tail -1").status == 0
    )
    assert text(machine, "ls") == "e\n"


def test_nested_expressions_of_find_are_bounded(machine: Machine) -> None:
    line = "find . " + "'(' " * 500 + "-true " + "')' " * 500
    assert errors(machine, line) == "find: limit exceeded: the expression is nested too deeply\n"


def test_tree(machine: Machine) -> None:
    type_line(machine, "mkdir -p d/e/f; touch d/.hid d/g a.txt; ln -s a.txt l")
    assert text(machine, "tree") == (
        ".\n|-- a.txt\n|-- d\n|   |-- e\n|   |   `-- f\n|   `-- g\n`-- l -> a.txt\n\n4 directories, 3 files\n"
    )
    assert text(machine, "tree -a d") == "d\n|-- .hid\n|-- e\n|   `-- f\n`-- g\n\n3 directories, 2 files\n"
    assert text(machine, "tree -d d") == "d\n`-- e\n    `-- f\n\n3 directories\n"
    assert (
        text(machine, "tree -L 1 d; tree -fi --noreport d")
        == "d\n|-- e\n`-- g\n\n2 directories, 1 file\nd\nd/e\nd/e/f\nd/g\n"
    )
    assert text(machine, "tree -ps d") == (
        "[drwxr-xr-x        4096]  d\n|-- [drwxr-xr-x        4096]  e\n|   `-- [drwxr-xr-x        4096]  f\n"
        "`-- [-rw-r--r--           0]  g\n\n3 directories, 1 file\n"
    )
    assert text(machine, "LC_ALL=C.UTF-8 tree d").splitlines()[1] == "├── e"
    done = type_line(machine, "tree nope")
    assert (done.status, done.stdout) == (2, b"nope  [error opening dir]\n\n0 directories, 0 files\n")
    assert errors(machine, "tree -L x") == "tree: Invalid level, must be greater than 0.\n"
    assert errors(machine, "tree --du").splitlines()[0] == "tree: Invalid argument `--du'."
    assert errors(machine, "tree -Z").splitlines()[0] == "tree: Invalid argument -`Z'."


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"hello\n", "ASCII text"),
        ("héllo\n".encode(), "Unicode text, UTF-8 text"),
        (b"a\r\nb\r\n", "ASCII text, with CRLF line terminators"),
        (b"no newline", "ASCII text, with no line terminators"),
        (b"x" * 5000 + b"\n", "ASCII text, with very long lines (5000)"),
        (b"#!/bin/sh\necho\n", "POSIX shell script, ASCII text executable"),
        (b"#!/usr/bin/env bash\n", "Bourne-Again shell script, ASCII text executable"),
        (b"#!/usr/bin/env python3\n", "Python script, ASCII text executable"),
        (b"#!/usr/bin/perl\n", "Perl script text executable"),
        (b"#!/bin/dash\n", "a /bin/dash script, ASCII text executable"),
        (b'{"a": 1}\n', "JSON text data"),
        (b'{"a": 1\n', "ASCII text"),
        (b"a,b\n1,2\n3,4\n", "CSV text"),
        (b"\x00\x01\x02", "data"),
        (b"\x1f\x8b\x08\x00", "gzip compressed data"),
        (b"<html><body></body></html>", "HTML document, ASCII text, with no line terminators"),
        (b'<?xml version="1.0"?><a/>', "XML 1.0 document, ASCII text, with no line terminators"),
        (b"-----BEGIN CERTIFICATE-----\n", "PEM certificate"),
        (b"%PDF-1.4\n", "PDF document, version 1.4"),
        (b"\x1b[31mred\x1b[0m\n", "ASCII text, with escape sequences"),
        (b"apiVersion: v1\nkind: Pod\n", "ASCII text"),
    ],
)
def test_file_tells_kinds_of_data(data: bytes, words: str) -> None:
    machine = make_machine(files={"f": data})
    assert text(machine, "file f") == f"f: {words}\n"


def test_file_tells_other_kinds_and_mime_types(machine: Machine) -> None:
    type_line(machine, "mkdir d; echo x > a.txt; ln -s a.txt l; ln -s nope br; mkfifo p; echo '{}' > j.json")
    assert text(machine, "file d l br p nope") == (
        "d:    directory\nl:    symbolic link to a.txt\nbr:   broken symbolic link to nope\np:    fifo (named pipe)\n"
        "nope: cannot open `nope' (No such file or directory)\n"
    )
    assert text(machine, "file -i a.txt d j.json") == (
        "a.txt:  text/plain; charset=us-ascii\nd:      inode/directory; charset=binary\n"
        "j.json: application/json; charset=us-ascii\n"
    )
    assert text(machine, "file -b a.txt; file -L l; echo hi | file -; file --mime-type a.txt") == (
        "ASCII text\nl: ASCII text\n/dev/stdin: ASCII text\na.txt: text/plain\n"
    )
    assert text(machine, "file /bin/ls").startswith("/bin/ls: ELF 64-bit LSB pie executable, x86-64")


def test_links_at_the_terminal_and_recent_times(machine: Machine) -> None:
    machine.kernel.run_for(3600)
    type_line(
        machine, "touch new; touch -d '1 hour ago' hour; touch -d '1 year ago' year; touch -d tomorrow future"
    )
    rows = {line.split()[-1]: line.split()[5:8] for line in text(machine, "ls -l").splitlines()[1:]}
    assert rows["new"] == ["Jan", "5", "10:00"]
    assert rows["hour"] == ["Jan", "5", "09:00"]
    assert rows["year"] == ["Jan", "5", "2025"]
    assert rows["future"] == ["Jan", "6", "2026"]


def test_xargs_runs_side_by_side(machine: Machine) -> None:
    start = machine.kernel.now
    assert type_line(machine, "seq 8 | xargs -P 4 -n 1 sh -c 'sleep 10'").status == 0
    assert machine.kernel.now - start == pytest.approx(20, abs=0.5)


def test_xargs_takes_what_arrives_as_it_arrives(machine: Machine) -> None:
    line = "(echo a; sleep 5; echo b; sleep 5) | xargs -n1 sh -c 'echo $0 $(date +%S)'"
    assert text(machine, line) == "a 00\nb 05\n"


def test_xargs_refuses_an_argument_without_end(machine: Machine) -> None:
    assert errors(machine, "xargs < /dev/zero") == (
        "xargs: WARNING: a NUL character occurred in the input.  It cannot be passed through in the argument list.  "
        "Did you mean to use the --null option?\nxargs: argument line too long\n"
    )


def test_mktemp_draws_from_the_world(machine: Machine) -> None:
    names = text(machine, "mktemp; mktemp; mktemp -d").split()
    assert len(set(names)) == 3
    assert names == text(make_machine(), "mktemp; mktemp; mktemp -d").split()


def test_dd_reports_when_asked(machine: Machine) -> None:
    done = type_line(
        machine, "mkfifo p; (echo x; sleep 10) > p & dd if=p of=out & sleep 2; kill -USR1 $!; wait"
    )
    assert done.stderr.decode().count("records in\n") == 2


def test_fallocate_takes_the_space_at_once(machine: Machine) -> None:
    before = int(text(machine, "df --output=used / | tail -1"))
    assert text(machine, "fallocate -l 100M f; stat -c %s f; fallocate -v -l 1K g") == (
        "104857600\ng: 1024 bytes allocated.\n"
    )
    assert int(text(machine, "df --output=used / | tail -1")) - before >= 100 * 1024
    assert errors(machine, "fallocate f") == "fallocate: no length argument specified\n"
    assert errors(machine, "fallocate -l x f") == "fallocate: failed to parse length\n"
