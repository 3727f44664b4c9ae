from __future__ import annotations

import re

import pytest

from simcloud.kubernetes.kubelet.streams.sessions import ContainerSession
from simcloud.machine.process import Container, Context
from tests.simcloud.kubernetes.kubelet.talking import Listener, make_container


@pytest.fixture
def container() -> Container:
    """A container that lives: its first process, as everywhere, cannot be killed from inside."""
    made = make_container()
    made.start(["pause"], program=idle)
    return made


async def idle(ctx: Context) -> int:
    while True:
        await ctx.sleep(1_000)


def running(container: Container) -> list[str]:
    """The commands that run besides the container's own."""
    return [each.argv[0] for each in container.processes.values() if each.pid != 1]


def begin(
    container: Container, *argv: str, stdin: bool = False, stderr: bool = True, tty: bool = False
) -> tuple[ContainerSession, Listener]:
    session = ContainerSession(container, list(argv), stdin=stdin, stderr=stderr, tty=tty)
    return session, Listener(session)


def test_outputs_are_apart_and_the_exit_code_is_told(container: Container) -> None:
    _, listener = begin(container, "sh", "-c", "echo out; echo err >&2; exit 7")
    container.kernel.run_for(1)
    assert (listener.out, listener.ended) == ({1: b"out\n", 2: b"err\n"}, [(7, "")])


def test_errors_that_nobody_wants_are_lost(container: Container) -> None:
    _, listener = begin(container, "sh", "-c", "echo out; echo err >&2", stderr=False)
    container.kernel.run_for(1)
    assert (listener.out, listener.ended) == ({1: b"out\n", 2: b""}, [(0, "")])


def test_a_signal_is_an_exit_code_too(container: Container) -> None:
    _, listener = begin(container, "sh", "-c", "kill -9 $$")
    container.kernel.run_for(1)
    assert listener.ended == [(137, "")]


def test_input_is_read_to_its_end(container: Container) -> None:
    session, listener = begin(container, "cat", stdin=True)
    session.write(b"piped ")
    container.kernel.run_for(1)
    assert (listener.out[1], listener.ended) == (b"piped ", [])
    session.write(b"input\n")
    session.close_input()
    container.kernel.run_for(1)
    assert (listener.out[1], listener.ended) == (b"piped input\n", [(0, "")])


def test_without_input_there_is_nothing_to_read(container: Container) -> None:
    _, listener = begin(container, "cat")
    container.kernel.run_for(1)
    assert listener.ended == [(0, "")]


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("nosuchcmd", 'exec: "nosuchcmd": executable file not found in $PATH'),
        ("/bin/nosuch", 'exec: "/bin/nosuch": stat /bin/nosuch: no such file or directory'),
        ("/etc/hosts", 'exec: "/etc/hosts": permission denied'),
        ("/etc", 'exec: "/etc": is a directory'),
    ],
)
def test_a_command_that_cannot_run_is_told_in_the_runtimes_words(
    container: Container, command: str, why: str
) -> None:
    _, listener = begin(container, command)
    container.kernel.run_for(1)
    [(_, told)] = listener.ended
    assert re.sub("[0-9a-f]{64}", "ID", told) == (
        'error executing command in container: failed to exec in container: failed to start exec "ID": '
        f"OCI runtime exec failed: exec failed: unable to start container process: {why}"
    )


def test_the_end_waits_for_children_that_still_write(container: Container) -> None:
    _, listener = begin(container, "sh", "-c", "(sleep 5; echo late) & echo soon")
    container.kernel.run_for(1)
    assert (listener.out[1], listener.ended) == (b"soon\n", [])
    container.kernel.run_for(10)
    assert (listener.out[1], listener.ended) == (b"soon\nlate\n", [(0, "")])


def test_a_client_that_holds_makes_the_process_wait(container: Container) -> None:
    session, listener = begin(container, "sh", "-c", "for i in 1 2 3; do echo $i; sleep 1; done")
    container.kernel.run_for(0.5)
    session.pause()
    container.kernel.run_for(10)
    assert (listener.out[1], listener.ended) == (b"1\n", [])
    session.resume()
    container.kernel.run_for(10)
    assert (listener.out[1], listener.ended) == (b"1\n2\n3\n", [(0, "")])


def test_what_is_typed_and_not_read_is_counted(container: Container) -> None:
    session, _ = begin(container, "sleep", "10", stdin=True)
    session.write(bytes(1000))
    assert session.pending_bytes == 1000
    container.kernel.run_for(20)
    assert session.pending_bytes == 0


def test_when_the_client_goes_a_reader_ends_and_a_writer_breaks(container: Container) -> None:
    reader, _ = begin(container, "cat", stdin=True)
    writer, _ = begin(container, "sh", "-c", "while true; do echo x; sleep 1; done")
    sleeper, _ = begin(container, "sleep", "100")
    container.kernel.run_for(1.5)
    for session in (reader, writer, sleeper):
        session.stop()
    container.kernel.run_for(5)
    assert running(container) == ["sleep"]


def test_a_client_that_holds_and_goes_leaves_no_writer_behind(container: Container) -> None:
    session, _ = begin(container, "sh", "-c", "echo 1; sleep 1; echo 2; sleep 1000")
    session.pause()
    container.kernel.run_for(5)
    session.stop()
    container.kernel.run_for(5)
    assert running(container) == []


def test_a_lost_machine_is_told_once(container: Container) -> None:
    session, listener = begin(container, "sleep", "10")
    container.kernel.run_for(1)
    container.machine.lose()
    session.lose("the node is gone")
    session.lose("the node is gone")
    container.kernel.run_for(100)
    assert listener.ended == [(1, "the node is gone")]


def test_a_terminal_shows_what_is_typed_and_returns_the_carriage(container: Container) -> None:
    session, listener = begin(container, "cat", stdin=True, tty=True)
    session.write(b"helo\x7f\x7fllo\r")
    container.kernel.run_for(1)
    assert listener.out == {1: b"helo\b \b\b \bllo\r\nhello\r\n", 2: b""}
    session.write(b"\x04")
    container.kernel.run_for(1)
    assert listener.ended == [(0, "")]


def test_both_outputs_of_a_terminal_are_one(container: Container) -> None:
    _, listener = begin(container, "sh", "-c", "test -t 1 && echo yes; echo err >&2", tty=True)
    container.kernel.run_for(1)
    assert listener.out == {1: b"yes\r\nerr\r\n", 2: b""}


def test_control_c_reaches_what_runs_in_the_foreground(container: Container) -> None:
    session, listener = begin(container, "bash", "-c", "sleep 100; echo after", stdin=True, tty=True)
    container.kernel.run_for(1)
    session.write(b"\x03")
    container.kernel.run_for(1)
    assert listener.out[1].startswith(b"^C")
    assert "sleep" not in running(container)


def test_a_client_that_hangs_up_its_terminal_ends_the_process(container: Container) -> None:
    session, _ = begin(container, "sleep", "100", stdin=True, tty=True)
    container.kernel.run_for(1)
    session.stop()
    container.kernel.run_for(1)
    assert running(container) == []


def test_a_process_learns_of_another_size(container: Container) -> None:
    session, listener = begin(
        container, "bash", "-c", "trap 'echo resized' WINCH; sleep 1; sleep 1", tty=True
    )
    container.kernel.run_for(0.5)
    session.resize(80, 24)
    container.kernel.run_for(5)
    assert session.size == (80, 24)
    assert b"resized" in listener.out[1]
