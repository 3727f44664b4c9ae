"""The client libraries that people script with talk to processes in containers."""

from __future__ import annotations

import io
import time

import pytest
from kubernetes import client as official, config
from kubernetes.stream import portforward, stream
from lightkube import Client, KubeConfig

from tests.simcloud.server.kubernetes.served import PATIENCE_S
from tests.simcloud.server.kubernetes.streams.conftest import World
from tests.simcloud.server.kubernetes.streams.world import ECHO_PORT, HTTP_PORT, PAGE, PLACE, SANDBOX


@pytest.fixture
def core(world: World) -> official.CoreV1Api:
    return official.CoreV1Api(config.new_client_from_config(str(world.folder / "kubeconfig")))


@pytest.fixture
def light(world: World) -> Client:
    return Client(config=KubeConfig.from_file(world.folder / "kubeconfig"), namespace="default")


def test_the_official_client_runs_a_command(core: official.CoreV1Api) -> None:
    said = stream(
        core.connect_get_namespaced_pod_exec, "ok", "default", command=["sh", "-c", "echo out; echo err >&2"],
        stdout=True, stderr=True, stdin=False, tty=False,
    )  # fmt: skip
    assert sorted(said.splitlines()) == ["err", "out"]


def test_the_official_client_talks_to_a_shell(core: official.CoreV1Api) -> None:
    talk = stream(
        core.connect_get_namespaced_pod_exec, "ok", "default", command=["sh"],
        stdout=True, stderr=True, stdin=True, tty=False, _preload_content=False,
    )  # fmt: skip
    talk.write_stdin("echo $((6 * 7))\n")
    assert talk.readline_stdout(timeout=PATIENCE_S) == "42"
    talk.write_stdin(b"echo err >&2; exit 5\n")
    talk.run_forever(timeout=PATIENCE_S)
    assert (talk.read_stderr(), talk.returncode) == ("err\n", 5)


def test_the_official_client_ends_the_input(core: official.CoreV1Api) -> None:
    talk = stream(
        core.connect_get_namespaced_pod_exec, "ok", "default", command=["cat"],
        stdout=True, stderr=True, stdin=True, tty=False, _preload_content=False,
    )  # fmt: skip
    talk.write_stdin("to the end")
    talk.close_channel(0)
    talk.run_forever(timeout=PATIENCE_S)
    assert (talk.read_stdout(), talk.returncode) == ("to the end", 0)


def test_the_official_client_is_told_why_it_may_not(core: official.CoreV1Api) -> None:
    with pytest.raises(official.ApiException) as caught:
        stream(core.connect_get_namespaced_pod_exec, "nosuch", "default", command=["ls"], stdout=True)
    assert 'pods \\"nosuch\\" not found' in str(caught.value)
    assert "404" in str(caught.value)


def test_the_official_client_forwards_ports(core: official.CoreV1Api) -> None:
    forward = portforward(
        core.connect_get_namespaced_pod_portforward, "ok", "default", ports=f"{ECHO_PORT},{HTTP_PORT}"
    )
    echo, page = forward.socket(ECHO_PORT), forward.socket(HTTP_PORT)
    for each in (echo, page):
        each.settimeout(PATIENCE_S)
    echo.sendall(b"hello")
    assert echo.recv(5) == b"hello"
    page.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    answer = b""
    while not answer.endswith(PAGE):
        data = page.recv(65_536)
        assert data, answer
        answer += data
    forward.close()


def test_the_official_client_is_told_that_a_port_is_closed(core: official.CoreV1Api) -> None:
    forward = portforward(core.connect_get_namespaced_pod_portforward, "ok", "default", ports="8080")
    deadline = time.monotonic() + PATIENCE_S
    while forward.error(8080) is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert forward.error(8080) == (
        f"error forwarding port 8080 to pod {SANDBOX}, uid : failed to execute portforward in network namespace "
        f'"{PLACE}": failed to connect to localhost:8080 inside namespace "{SANDBOX}", IPv4: dial tcp4 '
        "127.0.0.1:8080: connect: connection refused IPv6 dial tcp6: address localhost: no suitable address found "
    )


def test_lightkube_runs_a_command(light: Client) -> None:
    done = light.exec("ok", command=["sh", "-c", "echo out; echo err >&2; exit 4"], stdout=True, stderr=True)
    assert (done.stdout, done.stderr, done.exit_code) == ("out\n", "err\n", 4)


def test_lightkube_pipes_input(light: Client) -> None:
    data = bytes(range(256)) * 2_000
    received = io.BytesIO()
    done = light.exec("ok", command="cat", stdin=io.BytesIO(data), stdout=received, timeout=PATIENCE_S)
    assert (done.exit_code, received.getvalue() == data) == (0, True)
