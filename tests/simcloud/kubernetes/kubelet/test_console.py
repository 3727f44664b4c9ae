from __future__ import annotations

from simcloud.kubernetes.kubelet.streams.console import AttachedSession, Console
from simcloud.machine.process import Container
from tests.simcloud.kubernetes.kubelet.talking import Listener, make_container


def run(script: str, *, stdin: bool = False, stdin_once: bool = False) -> tuple[Container, Console]:
    container = make_container()
    console = Console(container, stdin=stdin, stdin_once=stdin_once)
    console.follow(container.start(["bash", "-c", script], streams=console.streams))
    return container, console


def attach(console: Console, *, stdin: bool = False, stderr: bool = True) -> tuple[AttachedSession, Listener]:
    session = console.attach(stdin=stdin, stderr=stderr)
    return session, Listener(session)


def logged(container: Container) -> list[str]:
    text = container.machine.host.files.open("/var/log/containers/ok_web.log").read(65_536).decode()
    return [line.split(" ", 3)[3] for line in text.splitlines()]


SCRIPT = "for i in 1 2 3 4; do echo out $i; echo err $i >&2; sleep 1; done; exit 3"


def test_one_who_joins_sees_what_comes_and_the_end_but_not_how() -> None:
    container, console = run(SCRIPT)
    container.kernel.run_for(2.5)
    _, listener = attach(console)
    container.kernel.run_for(10)
    assert listener.out == {1: b"out 4\n", 2: b"err 4\n"}
    assert listener.ended == [(0, "")]


def test_the_log_has_everything_whoever_is_attached() -> None:
    container, console = run("echo a; sleep 1; echo b >&2")
    session, _ = attach(console)
    container.kernel.run_for(0.5)
    session.stop()
    container.kernel.run_for(5)
    assert logged(container) == ["a", "b"]


def test_several_see_the_same_and_each_what_it_asked_for() -> None:
    container, console = run("echo out; echo err >&2")
    _, first = attach(console)
    _, second = attach(console, stderr=False)
    container.kernel.run_for(1)
    assert (first.out, second.out) == ({1: b"out\n", 2: b"err\n"}, {1: b"out\n", 2: b""})


def test_what_is_typed_is_read_by_the_container() -> None:
    container, console = run("while read x; do echo got $x; done", stdin=True)
    session, listener = attach(console, stdin=True)
    session.write(b"one\n")
    container.kernel.run_for(1)
    session.close_input()
    session.write(b"two\n")
    container.kernel.run_for(1)
    assert (listener.out[1], listener.ended) == (b"got one\n", [])


def test_input_that_is_read_once_ends_with_its_first_client() -> None:
    container, console = run("cat; echo done", stdin=True, stdin_once=True)
    session, _ = attach(console, stdin=True)
    session.write(b"one\n")
    container.kernel.run_for(1)
    session.stop()
    container.kernel.run_for(1)
    assert not container.processes


def test_one_who_leaves_hears_no_more_and_the_container_runs_on() -> None:
    container, console = run(SCRIPT)
    session, listener = attach(console)
    container.kernel.run_for(0.5)
    session.stop()
    container.kernel.run_for(1)
    assert (listener.out[1], len(container.processes) > 0) == (b"out 1\n", True)


def test_one_who_takes_nothing_holds_the_container_until_it_leaves() -> None:
    container, console = run(SCRIPT)
    session, _ = attach(console)
    session.pause()
    container.kernel.run_for(100)
    assert container.processes
    session.stop()
    container.kernel.run_for(100)
    assert not container.processes


def test_a_container_that_reads_once_reads_the_end_of_what_a_client_types() -> None:
    container, console = run("cat; echo over", stdin=True, stdin_once=True)
    session, listener = attach(console, stdin=True)
    session.write(b"one\n")
    session.close_input()
    container.kernel.run_for(1)
    assert listener.out[1] == b"one\nover\n"
    assert listener.ended == [(0, "")]


def test_a_console_says_when_its_process_is_over() -> None:
    container, console = run("sleep 1")
    assert not console.ended
    container.kernel.run_for(2)
    assert console.ended
