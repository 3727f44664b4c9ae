"""Whatever a tool is given, it ends: by its work, or by a count limit with a plain message, the same every time."""

from __future__ import annotations

import gzip
import tracemalloc

import pytest
from hypothesis import given, settings, strategies as st

from simcloud.machine.files import FileError
from simcloud.machine.process import Capture, FileStream, Limits
from tests.simcloud.userland.commands.text_harness import FILES, WORK, image, make_machine, own_commands, run

MIB = 1024 * 1024
DATA = b"limit exceeded: more than 64 MiB of data without a pause\n"
STEPS = b"limit exceeded: more than 200000 steps without a pause\n"


@pytest.mark.parametrize(
    "line",
    [
        "cat /dev/zero",
        "head -c 1T /dev/zero",
        "head -n 9999999999 /dev/zero",
        "tail -c 5 /dev/zero",
        "tail -c 10G /dev/zero",
        "tac /dev/zero",
        "sort /dev/urandom",
        "uniq /dev/zero",
        "wc /dev/zero",
        "md5sum /dev/zero",
        "base64 /dev/zero",
        "gzip -c /dev/zero",
        "cut -c1 /dev/zero",
        "fold -b -w1 /dev/zero",
        "paste /dev/zero /dev/zero",
        "comm /dev/zero /dev/zero",
        "column /dev/zero",
        "diff -a /dev/zero a.txt",
        "cmp /dev/zero /dev/full",
        "tee -a /dev/null /dev/zero",
        "tr -d x",
        "yes",
        "yes a long word",
        "seq -s xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx 99999999",
        "seq -f %999999999f 3",
        "tr a [x*999999999]",
    ],
)
def test_endless_data_ends_by_a_limit(line: str) -> None:
    outcomes = []
    for _ in range(2):
        machine = make_machine(FILES)
        stdin = FileStream(machine.kernel, machine.host.files.open("/dev/zero"))
        _, stderr, status = run(machine, line.split(), stdin)
        outcomes.append((stderr, status))
    assert outcomes[0] == outcomes[1]
    assert outcomes[0] == (line.split(maxsplit=1)[0].encode() + b": " + DATA, 125)


def test_endless_work_ends_by_a_limit() -> None:
    _, stderr, status = run(make_machine({}), ["seq", "0", ".1", "inf"])
    assert status == 125
    assert stderr.startswith(b"seq: limit exceeded: more than ")


@pytest.mark.parametrize("argv", [["cut", "-c1"], ["uniq"], ["tail"]])
def test_lines_without_anything_in_them_are_counted(argv: list[str]) -> None:
    machine = make_machine({})
    machine.host.limits = Limits(turns=1000)
    assert run(machine, argv, b"\n" * 50_000)[2] == 0
    _, stderr, status = run(machine, argv, b"\n" * 100_000)
    assert (stderr, status) == (
        argv[0].encode() + b": limit exceeded: more than 1000 steps without a pause\n",
        125,
    )


def test_a_bomb_does_not_unpack() -> None:
    machine = make_machine({"bomb.gz": gzip.compress(bytes(100 * MIB))})
    _, stderr, status = run(machine, ["gunzip", "bomb.gz"])
    assert (stderr, status) == (b"gunzip: " + DATA, 125)
    assert machine.host.files.stat(f"{WORK}/bomb").size <= 64 * MIB


@pytest.mark.slow
def test_two_unlike_files_of_many_lines_are_bounded() -> None:
    one = b"".join(b"%d\n" % (number * 7919 % 5000) for number in range(20_000))
    two = b"".join(b"%d\n" % (number * 104729 % 5000) for number in range(20_000))
    _, stderr, status = run(make_machine({"one": one, "two": two}), ["diff", "one", "two"])
    assert (stderr, status) in {(b"", 1), (b"diff: " + STEPS, 125)}


@pytest.mark.parametrize("line", ["sort", "tac", "tail -n 9999999"])
def test_many_lines_without_anything_in_them_are_not_kept(line: str) -> None:
    _, stderr, status = run(make_machine({}), line.split(), b"\n" * (3 * MIB))
    assert (stderr, status) == (line.split(maxsplit=1)[0].encode() + b": " + DATA, 125)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize(
    "argv",
    [
        ["seq", "-s", "x" * 100_000, "1000"],
        ["seq", "-f", "%200000g", "1000"],
        ["paste", "-s", "-d", "x"],
    ],
)
def test_long_lines_are_made_bit_by_bit(argv: list[str]) -> None:
    machine = make_machine({})
    tracemalloc.start()
    try:
        status = run(machine, argv, b"\n" * MIB)[2]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert status == (0 if argv[0] == "paste" else 125)
    assert peak < 150 * MIB  # what was written, to the limit, and as much again


def test_a_daemon_that_pauses_is_not_limited() -> None:
    machine = make_machine({"big": bytes(20 * MIB)})
    for _ in range(10):
        assert run(machine, ["cat", "big"])[2] == 0
        machine.kernel.run_for(60.0)


def test_a_full_disk_is_told() -> None:
    machine = make_machine({})
    output = FileStream(machine.kernel, machine.host.files.open("/dev/full", read=False, write=True))
    for argv, message in (
        (["seq", "3"], b"seq: write error: No space left on device\n"),
        (["cat", "/etc/passwd"], b"cat: write error: No space left on device\n"),
        (["sort", "/etc/passwd"], b"sort: write failed: 'standard output': No space left on device\n"),
    ):
        errors = Capture()
        process = machine.host.start(argv, cwd=WORK, streams={1: output, 2: errors})
        machine.kernel.run_for(1.0)
        assert bytes(errors.data) == message
        assert process.status != 0


def test_a_failing_disk_is_told() -> None:
    machine = make_machine(FILES)
    machine.disk.fail_reads = lambda path: path.startswith((WORK, "a.txt"))
    assert run(machine, ["cat", "a.txt"]) == (b"", b"cat: a.txt: Input/output error\n", 1)
    assert run(machine, ["wc", "-l", "a.txt"])[1] == b"wc: a.txt: Input/output error\n"
    assert run(machine, ["sort", "a.txt"])[1:] == (b"sort: read failed: a.txt: Input/output error\n", 2)


# -- anything at all ---------------------------------------------------------------------------

# "yes" never ends, and the others end with their machine.
TOOLS = sorted(set(own_commands()) - {"yes", "reboot", "halt", "poweroff", "shutdown"})
WORDS = [
    "-", "--", "0", "1", "2", "-1", "+2", "x", "", "1K", "9" * 80, "²", "1,2", "2-", "1.5", "%d", "%5.2f", "é", "\\",
    "[:alpha:]", "a-z", "l/3", "si", "iec", "/", "0x10", "d", "x1z", ":", "\t", "$", "\\(", "[a", "*", "\udc80",
    "a.txt", "noeol", "bin", "empty", "d", "nope", "w1", "w2", "z.gz", "trunc.gz", "o.tar", "o.tgz", "/dev/null",
    "-n", "-c", "-f", "-d", "-k2", "-t", "-u", "-r", "-s", "-z", "-i", "-w", "-l", "-b", "-v", "-x", "-o", "-e", "-p",
    "-n3", "-c5", "-f1", "-d:", "-w10", "--help", "--version", "--bogus", "(", ")", "+", "length", "match", "-C", "-tx1",
]  # fmt: skip
INPUTS = [
    b"",
    b"a\nb\n",
    b"1 2 3\n",
    bytes(range(256)),
    b"x" * 5000,
    b"\0\0\n",
    "é\n".encode(),
]


@pytest.mark.slow
@settings(max_examples=400)
@given(
    st.sampled_from(TOOLS),
    st.lists(st.sampled_from(WORDS) | st.text(max_size=5), max_size=5),
    st.sampled_from(INPUTS) | st.binary(max_size=40),
)
def test_always_an_exit_status(tool: str, words: list[str], stdin: bytes) -> None:
    words = [word.replace("\0", "") for word in words]
    machine = make_machine(FILES)
    _, _, status = run(machine, ["timeout", "60", tool, *words], stdin)  # tail -f never ends by itself
    assert 0 <= status <= 255


def test_nothing_of_the_host_is_reached() -> None:
    machine = make_machine({"link.cases": b""})
    with pytest.raises(FileError):
        machine.host.files.read(__file__)
    for argv in (
        ["cat", __file__],
        ["md5sum", __file__],
        ["tar", "cf", "-", __file__],
        ["diff", __file__, "link.cases"],
    ):
        stdout, stderr, status = run(machine, argv)
        assert b"No such file or directory" in stderr
        assert status != 0
        assert b"nothing_of_the_host" not in stdout


def test_every_tool_helps_and_tells_its_version() -> None:
    for tool in sorted(own_commands()):
        stdout, _, status = run(make_machine({}), [tool, "--help"])
        assert (stdout.startswith(b"Usage: "), status) == (True, tool == "false"), tool
        stdout, _, status = run(make_machine({}), [tool, "--version"])
        assert stdout.count(b"\n") == 1, tool
    assert len(image().programs) > 55
