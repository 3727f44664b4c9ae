from __future__ import annotations

import pytest

from simcloud.kubernetes.kubelet.streams.forwards import PortForward
from simcloud.machine.network.http import HttpRequest, HttpResponse, respond, serve_http
from simcloud.machine.process import Container, Context
from tests.simcloud.kubernetes.kubelet.talking import make_container

SANDBOX = "c179f921c1df314e24f16bb14332dd34a04b5f081d2554fe41551d16773e57a7"
PLACE = "/var/run/netns/cni-cf1a4f94-38b4-b2a1-20c2-489d0f7a3e2a"


async def services(ctx: Context) -> int:
    """An echo on port 7, HTTP on port 80, a line and an end on port 13, redis on port 6379."""

    async def answer(request: HttpRequest) -> HttpResponse:
        return respond(200, f"{request.method} {request.path} {request.body.decode()}")

    serve_http(ctx, 80, answer)
    ctx.listen(6379, "redis")
    once = ctx.listen(13, "tcp")
    once.on_accept = lambda connection: (connection.send(b"bye\n", 4), connection.close())
    listener = ctx.listen(7, "tcp")
    while True:
        connection = await listener.accept()
        connection.on_message = lambda data, to=connection: to.send(data, len(data))


class Caller:
    """One who forwards a port and keeps what comes back."""

    def __init__(self, container: Container, port: int) -> None:
        self.received = b""
        self.ended: list[str] = []
        self.forward = PortForward(container.namespace, port, SANDBOX, PLACE)
        self.forward.on_data, self.forward.on_end = self._take, self.ended.append

    def _take(self, data: bytes) -> None:
        self.received += data


@pytest.fixture
def container() -> Container:
    made = make_container()
    made.start(["services"], program=services)
    made.kernel.run_for(0.1)
    return made


def test_bytes_go_both_ways_from_the_first_moment(container: Container) -> None:
    caller = Caller(container, 7)
    caller.forward.write(b"hello ")
    container.kernel.run_for(0.1)
    caller.forward.write(b"world")
    container.kernel.run_for(0.1)
    assert (caller.received, caller.ended) == (b"hello world", [])


def test_a_closed_port_is_told_in_the_runtimes_words(container: Container) -> None:
    caller = Caller(container, 8080)
    container.kernel.run_for(1)
    assert caller.ended == [
        f"error forwarding port 8080 to pod {SANDBOX}, uid : failed to execute portforward in network namespace "
        f'"{PLACE}": failed to connect to localhost:8080 inside namespace "{SANDBOX}", '
        "IPv4: dial tcp4 127.0.0.1:8080: connect: connection refused "
        "IPv6 dial tcp6: address localhost: no suitable address found "
    ]


def test_the_pod_hangs_up(container: Container) -> None:
    caller = Caller(container, 13)
    container.kernel.run_for(1)
    assert (caller.received, caller.ended) == (b"bye\n", [""])


def test_an_answer_after_the_clients_end_still_arrives(container: Container) -> None:
    caller = Caller(container, 80)
    caller.forward.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    caller.forward.close()
    container.kernel.run_for(5)
    assert caller.received.endswith(b"\r\n\r\nGET / ")
    assert caller.ended == [""]


def test_requests_are_whole_messages_however_they_come(container: Container) -> None:
    caller = Caller(container, 80)
    wire = b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhelloGET /b HTTP/1.1\r\nHost: x\r\n\r\n"
    for place in range(len(wire)):
        caller.forward.write(wire[place : place + 1])
        container.kernel.run_for(0.01)
    assert caller.received.count(b"HTTP/1.1 200 OK\r\n") == 2
    assert b"POST /a hello" in caller.received
    assert caller.received.endswith(b"GET /b ")


def test_noise_at_a_web_server_is_a_bad_request(container: Container) -> None:
    caller = Caller(container, 80)
    caller.forward.write(b"hello\r\n\r\n")
    container.kernel.run_for(1)
    assert caller.received.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert caller.ended == [""]


def test_a_port_of_another_protocol_hears_noise_and_hangs_up(container: Container) -> None:
    caller = Caller(container, 6379)
    caller.forward.write(b"hello")
    container.kernel.run_for(1)
    assert (caller.received, caller.ended) == (b"", [""])


def test_what_the_client_does_not_take_waits(container: Container) -> None:
    caller = Caller(container, 7)
    container.kernel.run_for(0.1)
    caller.forward.pause()
    caller.forward.write(b"hello")
    container.kernel.run_for(1)
    assert caller.received == b""
    caller.forward.resume()
    container.kernel.run_for(1)
    assert caller.received == b"hello"


def test_what_the_pod_does_not_read_is_counted(container: Container) -> None:
    container.namespace.listen(9, "tcp")
    caller = Caller(container, 9)
    caller.forward.write(bytes(1000))
    container.kernel.run_for(1)
    assert caller.forward.pending_bytes == 1000


def test_a_pod_that_is_gone_ends_its_connections(container: Container) -> None:
    caller = Caller(container, 7)
    container.kernel.run_for(0.1)
    container.machine.remove_container("ok_web")
    container.kernel.run_for(1)
    assert len(caller.ended) == 1
