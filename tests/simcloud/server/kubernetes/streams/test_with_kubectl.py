"""Genuine kubectls talk to processes in containers."""

from __future__ import annotations

import os
import pty
import re
import select
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.simcloud.server.kubernetes.served import CLIENTS, OLD, PATIENCE_S, Served
from tests.simcloud.server.kubernetes.streams.conftest import World
from tests.simcloud.server.kubernetes.streams.world import ECHO_PORT, HTTP_PORT, PAGE, PLACE, SANDBOX


def test_output_errors_and_the_exit_code(client: Served) -> None:
    done = client.kubectl("exec", "ok", "--", "sh", "-c", "echo out; echo err >&2; exit 7")
    assert (done.stdout, done.stderr, done.exit) == ("out\n", "err\ncommand terminated with exit code 7\n", 7)


def test_success_is_silent(client: Served) -> None:
    done = client.kubectl("exec", "ok", "--", "id")
    assert (done.stdout, done.stderr, done.exit) == ("uid=0(root) gid=0(root) groups=0(root)\n", "", 0)


def test_a_signal(client: Served) -> None:
    done = client.kubectl("exec", "ok", "--", "sh", "-c", "kill -9 $$")
    assert (done.stderr, done.exit) == ("command terminated with exit code 137\n", 137)


def test_input_is_piped_to_its_end(client: Served) -> None:
    done = client.kubectl("exec", "-i", "ok", "--", "cat", stdin="piped input\n")
    assert (done.stdout, done.stderr, done.exit) == ("piped input\n", "", 0)


def test_much_input_and_output(client: Served) -> None:
    text = "0123456789abcde\n" * 20_000
    done = client.kubectl("exec", "-i", "ok", "--", "cat", stdin=text)
    assert (len(done.stdout), done.stdout == text, done.exit) == (len(text), True, 0)


def test_a_command_that_is_not_there(client: Served) -> None:
    done = client.kubectl("exec", "ok", "--", "nosuchcmd")
    assert (re.sub("[0-9a-f]{64}", "ID", done.stderr), done.exit) == (
        "error: Internal error occurred: Internal error occurred: error executing command in container: failed to "
        'exec in container: failed to start exec "ID": OCI runtime exec failed: exec failed: unable to start '
        'container process: exec: "nosuchcmd": executable file not found in $PATH\n',
        1,
    )


def test_the_container_is_chosen_by_name_or_is_the_first(client: Served) -> None:
    done = client.kubectl("exec", "two", "--", "hostname")
    assert (done.stdout, done.stderr) == ("two\n", 'Defaulted container "app" out of: app, side\n')
    assert client.kubectl("exec", "two", "-c", "side", "--", "hostname").stdout == "two\n"


def test_asking_for_a_terminal_without_having_one(client: Served) -> None:
    done = client.kubectl("exec", "-it", "ok", "--", "echo", "hi")
    warning = "Unable to use a TTY - input is not a terminal or the right kind of file\n"
    assert (done.stdout, done.stderr, done.exit) == ("hi\n", warning, 0)


def test_a_terminal_with_a_shell_in_it(client: Served) -> None:
    with in_terminal(client, "exec", "-it", "ok", "--", "bash", "-i") as screen:
        screen.wait_for("# ")
        screen.type("echo $((40 + 2))\r")
        screen.wait_for("\r\n42\r\n")
        screen.type("tty >/dev/null && echo is one\r")
        screen.wait_for("\r\nis one\r\n")
        screen.type("exit 3\r")
        screen.wait_for("command terminated with exit code 3")


def test_joining_a_container_that_writes(client: Served) -> None:
    with started(client, "attach", "two", "-c", "side") as running:
        assert running.stdout is not None
        assert [running.stdout.readline() for _ in range(3)] == ["tick\n"] * 3


def test_joining_a_container_that_reads(client: Served) -> None:
    with started(client, "attach", "-i", "two", "-c", "app") as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write("hello\n")
        running.stdin.flush()
        assert running.stdout.readline() == "got hello\n"


def test_copying_files_both_ways(client: Served) -> None:
    (client.home / "there.txt").write_text("data\n")
    assert client.ok("cp", "there.txt", "default/ok:/tmp/there.txt") == ""
    assert client.ok("exec", "ok", "--", "cat", "/tmp/there.txt") == "data\n"
    assert client.kubectl("cp", "default/ok:/tmp/there.txt", "back.txt").exit == 0
    assert (client.home / "back.txt").read_text() == "data\n"


def test_copying_a_folder_with_bytes_of_every_kind(client: Served) -> None:
    folder = client.home / "folder"
    (folder / "deeper").mkdir(parents=True)
    data = bytes(range(256)) * 800
    (folder / "deeper" / "all.bin").write_bytes(data)
    client.ok("cp", "folder", f"ok:/tmp/{client.version}")
    client.ok("cp", f"ok:/tmp/{client.version}", "again")
    assert (client.home / "again" / "deeper" / "all.bin").read_bytes() == data


def test_forwarding_a_port_with_several_connections(client: Served) -> None:
    with forwarding(client, "pod/ok", ECHO_PORT) as local:
        connections = [connect(local) for _ in range(5)]
        for number, connection in enumerate(connections):
            connection.sendall(b"hello %d" % number)
        heard = [read(connection, 7) for connection in connections]
        for connection in connections:
            connection.close()
    assert heard == [b"hello %d" % number for number in range(5)]


def test_forwarding_much(client: Served) -> None:
    data = os.urandom(500_000)
    with forwarding(client, "pod/ok", ECHO_PORT) as local, connect(local) as connection:
        place, heard = 0, b""
        while len(heard) < len(data):
            if place < len(data):
                connection.sendall(data[place : place + 50_000])
                place += 50_000
            heard += read(connection, min(50_000, len(data) - len(heard)))
    assert heard == data


def test_a_page_through_a_forwarded_port(client: Served) -> None:
    with forwarding(client, "pod/ok", HTTP_PORT) as local, connect(local) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answer = b""
        while data := connection.recv(65_536):
            answer += data
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert answer.endswith(PAGE)


def test_forwarding_a_port_on_which_nothing_listens(client: Served) -> None:
    with forwarding(client, "pod/ok", 8080) as local, connect(local) as connection:
        assert connection.recv(10) == b""
        error_text = forwarding_ended(client)
    assert (
        f"error forwarding port 8080 to pod {SANDBOX}, uid : failed to execute portforward in network namespace "
        f'\\"{PLACE}\\": failed to connect to localhost:8080 inside namespace \\"{SANDBOX}\\", IPv4: dial tcp4 '
        "127.0.0.1:8080: connect: connection refused IPv6 dial tcp6: address localhost: no suitable address found "
    ) in error_text
    assert error_text.endswith("error: lost connection to pod\n")


def test_when_kubectl_is_gone_its_process_meets_the_end(client: Served, world: World) -> None:
    with started(client, "exec", "-i", "ok", "--", "sh", "-c", "echo on; cat; sleep 0.1; echo $$") as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "on\n"
        session = world.runtime.sessions[-1]
        running.kill()
    deadline = time.monotonic() + PATIENCE_S
    while session.on_end is not None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert session.on_end is None, "the session was not told that its client has gone"


@pytest.mark.live("kubectl-1.20")
@pytest.mark.parametrize("arguments", [("exec", "ok", "--", "id"), ("attach", "ok")])
def test_an_old_kubectl_is_told_what_to_do(world: World, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    old = Served(world.folder / "kubeconfig", tmp_path, OLD)
    done = old.kubectl(*arguments)
    assert done.exit == 1
    assert done.stderr.endswith(
        "Error from server (BadRequest): this server streams over WebSocket only and the client asked for SPDY; "
        "use kubectl 1.31 or newer\n"
    )


@contextmanager
def started(client: Served, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """kubectl in the background, ended with the block."""
    with (client.home / "stderr").open("w") as errors:
        running = subprocess.Popen(
            [str(CLIENTS / f"kubectl-{client.version}"), *arguments],
            env={"PATH": os.environ["PATH"], "HOME": str(client.home), "KUBECONFIG": str(client.kubeconfig)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=client.home,
            text=True,
        )
    try:
        yield running
    finally:
        running.kill()
        running.communicate()


@contextmanager
def forwarding(client: Served, what: str, port: int) -> Iterator[int]:
    """A port-forward; the local port at which it listens."""
    with started(client, "port-forward", what, f":{port}", "--address", "127.0.0.1") as running:
        assert running.stdout is not None
        line = running.stdout.readline()
        found = re.fullmatch(rf"Forwarding from 127\.0\.0\.1:(\d+) -> {port}\n", line)
        assert found, line + (client.home / "stderr").read_text()
        yield int(found[1])


def forwarding_ended(client: Served) -> str:
    deadline = time.monotonic() + PATIENCE_S
    while "lost connection" not in (error_text := (client.home / "stderr").read_text()):
        assert time.monotonic() < deadline, error_text
        time.sleep(0.01)
    return error_text


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), PATIENCE_S)


def read(connection: socket.socket, size: int) -> bytes:
    heard = b""
    while len(heard) < size and (data := connection.recv(size - len(heard))):
        heard += data
    return heard


class Screen:
    """A person at a terminal."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._seen = ""

    def type(self, keys: str) -> None:
        os.write(self._handle, keys.encode())

    def wait_for(self, text: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while text not in self._seen:
            ready, _, _ = select.select([self._handle], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, self._seen
            try:
                self._seen += os.read(self._handle, 65_536).decode()
            except OSError:  # the other end is gone
                assert text in self._seen, self._seen
        self._seen = self._seen.partition(text)[2]


@contextmanager
def in_terminal(client: Served, *arguments: str) -> Iterator[Screen]:
    """kubectl with a terminal of its own."""
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        [str(CLIENTS / f"kubectl-{client.version}"), *arguments],
        env={"PATH": os.environ["PATH"], "HOME": str(client.home), "KUBECONFIG": str(client.kubeconfig)},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield Screen(ours)
    finally:
        running.kill()
        running.wait()
        os.close(ours)
