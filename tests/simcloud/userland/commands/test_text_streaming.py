"""Text tools pass data on as it arrives, follow files in virtual time, and leave what they do not need."""

from __future__ import annotations

import pytest

from simcloud.machine.computer import Machine
from simcloud.machine.process import Capture, FileStream, Pipe, Process
from tests.simcloud.userland.commands.text_harness import FILES, WORK, make_machine, run


class Running:
    """A command at work: what it has written so far, and a pipe to feed it by."""

    def __init__(self, machine: Machine, *argv: str) -> None:
        self._machine = machine
        self._pipe = Pipe(machine.kernel)
        self._out, self._err = Capture(), Capture()
        self.process: Process = machine.host.start(
            list(argv), cwd=WORK, streams={0: self._pipe.reader, 1: self._out, 2: self._err}
        )
        self._pipe.reader.close()
        self.wait(0.01)

    def feed(self, data: bytes) -> None:
        kernel = self._machine.kernel
        kernel.run_task(kernel.spawn(self._pipe.writer.write(data), "feeder"))
        self.wait(0.01)

    def end_input(self) -> None:
        self._pipe.writer.close()
        self.wait(0.01)

    def wait(self, seconds: float) -> None:
        self._machine.kernel.run_for(seconds)

    @property
    def stdout(self) -> bytes:
        return bytes(self._out.data)

    @property
    def stderr(self) -> bytes:
        return bytes(self._err.data)


@pytest.mark.parametrize(
    ("argv", "shown"),
    [
        (["cat", "-n"], b"     1\tb a\n"),
        (["cut", "-d ", "-f2"], b"a\n"),
        (["tr", "a-z", "A-Z"], b"B A\n"),
        (["uniq"], b"b a\n"),
        (["paste", "-", "/dev/null"], b"b a\t\n"),
        (["fold", "-w2"], b"b \na\n"),
        (["rev"], b"a b\n"),
        (["tee"], b"b a\n"),
        (["head"], b"b a\n"),
        (["tail", "-n+1"], b"b a\n"),
        (["envsubst"], b"b a\n"),
    ],
)
def test_output_as_input_arrives(argv: list[str], shown: bytes) -> None:
    command = Running(make_machine({}), *argv)
    command.feed(b"b a\n")
    assert command.stdout == shown
    assert command.process.alive
    command.end_input()
    assert not command.process.alive


def test_head_ends_without_waiting_for_more() -> None:
    command = Running(make_machine({}), "head", "-n1")
    command.feed(b"one\ntwo\n")
    assert command.stdout == b"one\n"
    assert command.process.status == 0
    assert not command.process.alive


def test_head_leaves_the_rest_of_a_file_to_the_next_reader() -> None:
    machine = make_machine({"list": b"name size\nb 2\na 1\n"})
    shared = FileStream(machine.kernel, machine.host.files.open(f"{WORK}/list"))
    assert run(machine, ["head", "-n1"], shared) == (b"name size\n", b"", 0)
    assert run(machine, ["sort"], shared) == (b"a 1\nb 2\n", b"", 0)


def test_yes_ends_with_its_reader() -> None:
    machine = make_machine({})
    pipe = Pipe(machine.kernel)
    process = machine.host.start(["yes"], cwd=WORK, streams={1: pipe.writer})
    pipe.writer.close()
    machine.kernel.run_for(0.1)
    assert process.alive
    pipe.reader.close()
    machine.kernel.run_for(0.1)
    assert process.status == 128 + 13


def test_cat_does_not_chase_its_own_output() -> None:
    machine = make_machine({"log": b"line\n"})
    files = machine.host.files
    output = FileStream(machine.kernel, files.open(f"{WORK}/log", read=False, write=True, append=True))
    errors = Capture()
    process = machine.host.start(["cat", "log"], cwd=WORK, streams={1: output, 2: errors})
    machine.kernel.run_for(1.0)
    assert (bytes(errors.data), process.status) == (b"cat: log: input file is output file\n", 1)
    assert files.read(f"{WORK}/log") == b"line\n"


# -- tail -f -----------------------------------------------------------------------------------


def append(machine: Machine, name: str, data: bytes) -> None:
    machine.host.files.write(f"{WORK}/{name}", data, append=True)


def test_tail_follows_once_a_second() -> None:
    machine = make_machine({"log": b"1\n2\n3\n"})
    tail = Running(machine, "tail", "-n1", "-f", "log")
    assert tail.stdout == b"3\n"
    append(machine, "log", b"4\n")
    tail.wait(0.5)
    assert tail.stdout == b"3\n"
    tail.wait(1.0)
    assert tail.stdout == b"3\n4\n"
    assert tail.process.alive


def test_tail_shows_whose_lines_come() -> None:
    machine = make_machine({"a": b"1\n", "b": b"2\n"})
    tail = Running(machine, "tail", "-f", "a", "b")
    append(machine, "a", b"3\n")
    tail.wait(1.1)
    append(machine, "a", b"4\n")
    append(machine, "b", b"5\n")
    tail.wait(1.1)
    first = b"==> a <==\n1\n\n==> b <==\n2\n"
    assert tail.stdout == first + b"\n==> a <==\n3\n4\n\n==> b <==\n5\n"


def test_tail_by_descriptor_stays_with_a_renamed_file() -> None:
    machine = make_machine({"log": b"old\n"})
    tail = Running(machine, "tail", "-f", "log")
    machine.host.files.rename(f"{WORK}/log", f"{WORK}/log.1")
    append(machine, "log", b"new\n")
    append(machine, "log.1", b"late\n")
    tail.wait(1.1)
    assert tail.stdout == b"old\nlate\n"


def test_tail_by_name_goes_on_with_a_rotated_log() -> None:
    machine = make_machine({"log": b"old\n"})
    tail = Running(machine, "tail", "-F", "log")
    append(machine, "log", b"last\n")
    machine.host.files.rename(f"{WORK}/log", f"{WORK}/log.1")
    tail.wait(1.1)
    assert tail.stderr == b"tail: 'log' has become inaccessible: No such file or directory\n"
    append(machine, "log", b"new\n")
    tail.wait(1.1)
    assert tail.stdout == b"old\nlast\nnew\n"
    assert tail.stderr.endswith(b"tail: 'log' has appeared;  following new file\n")


def test_tail_by_name_notices_a_replacement() -> None:
    machine = make_machine({"log": b"old\n", "other": b"new\n"})
    tail = Running(machine, "tail", "--follow=name", "log")
    machine.host.files.rename(f"{WORK}/other", f"{WORK}/log")
    tail.wait(1.1)
    assert tail.stdout == b"old\nnew\n"
    assert tail.stderr == b"tail: 'log' has been replaced;  following new file\n"


def test_tail_begins_anew_after_truncation() -> None:
    machine = make_machine({"log": b"a long line\n"})
    tail = Running(machine, "tail", "-f", "log")
    machine.host.files.write(f"{WORK}/log", b"short\n")
    tail.wait(1.1)
    assert tail.stdout == b"a long line\nshort\n"
    assert tail.stderr == b"tail: log: file truncated\n"


def test_tail_waits_for_a_file_only_when_told_to() -> None:
    machine = make_machine({})
    assert run(machine, ["tail", "-f", "log"])[1:] == (
        b"tail: cannot open 'log' for reading: No such file or directory\ntail: no files remaining\n",
        1,
    )
    tail = Running(machine, "tail", "-F", "log")
    append(machine, "log", b"first\n")
    tail.wait(1.1)
    assert tail.stdout == b"first\n"
    assert tail.stderr.endswith(b"tail: 'log' has appeared;  following new file\n")


def test_tail_ends_after_the_process_it_watches() -> None:
    machine = make_machine({"log": b""})
    watched = Running(machine, "cat")
    tail = Running(machine, "tail", "-f", f"--pid={watched.process.pid}", "log")
    tail.wait(5.0)
    assert tail.process.alive
    watched.end_input()
    append(machine, "log", b"its last words\n")
    tail.wait(2.0)
    assert (tail.stdout, tail.process.status, tail.process.alive) == (b"its last words\n", 0, False)


def test_tail_ends_soon_after_its_reader() -> None:
    machine = make_machine({"log": b"1\n"})
    pipe = Pipe(machine.kernel)
    process = machine.host.start(["tail", "-f", "log"], cwd=WORK, streams={1: pipe.writer})
    pipe.writer.close()
    machine.kernel.run_for(5.0)
    assert process.alive
    pipe.reader.close()
    machine.kernel.run_for(1.1)
    assert process.status == 128 + 13


def test_every_listed_file_can_be_followed_for_a_day() -> None:
    machine = make_machine(FILES)
    tail = Running(machine, "tail", "-n0", "-F", "log")
    for _ in range(24):
        append(machine, "log", b"x" * 100_000 + b"\n")
        tail.wait(3600.0)
    assert len(tail.stdout) == 24 * 100_001
    assert tail.process.alive
