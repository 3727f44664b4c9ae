from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st

from simcloud.kubernetes.api.errors import BadRequest
from simcloud.server.kubernetes.spdy import (
    Data,
    Frame,
    FrameReader,
    FrameWriter,
    GoAway,
    Headers,
    Ping,
    ResetStream,
    Settings,
    SpdyError,
    SynReply,
    SynStream,
    WindowUpdate,
)
from simcloud.server.kubernetes.streams.flow import HIGH_BYTES, Message
from simcloud.server.kubernetes.streams.tunnel import PAIRS_AT_MOST, Tunnel


class Pod:
    """A pod's end of one connection, which the test plays."""

    def __init__(self, port: int) -> None:
        self.on_data: Callable[[bytes], None] | None = None
        self.on_end: Callable[[str], None] | None = None
        self.port = port
        self.received = b""
        self.closed = self.paused = False
        self.pending_bytes = 0

    def write(self, data: bytes) -> None:
        self.received += data

    def close(self) -> None:
        self.closed = True

    def pause(self) -> None:
        self.paused = True

    def resume(self) -> None:
        self.paused = False


class Client:
    """A client that speaks SPDY to a tunnel, as kubectl does."""

    def __init__(self) -> None:
        self.pods: list[Pod] = []
        self.tunnel = Tunnel(self._connect, lambda: None)
        self._writer, self._reader = FrameWriter(), FrameReader()

    def _connect(self, port: int) -> Pod:
        if port == 13:
            raise BadRequest("no such thing as port 13")
        self.pods.append(Pod(port))
        return self.pods[-1]

    def send(self, *frames: Frame) -> list[Frame]:
        """What the tunnel answers to some frames."""

        async def scenario() -> None:
            await self.tunnel.take(b"".join(self._writer.write(frame) for frame in frames))

        asyncio.run(scenario())
        return self.heard()

    def heard(self) -> list[Frame]:
        heard: list[Frame] = []
        waiting = self.tunnel.outbox._waiting
        while waiting:
            message = waiting.popleft()
            assert isinstance(message, bytes)
            self.tunnel.outbox._waiting_bytes -= len(message)
            heard += self._reader.feed(message)
        return heard

    def connect(self, number: int = 0, port: int = 80) -> tuple[int, int]:
        """Open a pair of streams; the numbers of the error and the data stream."""
        error, data = 4 * number + 1, 4 * number + 3
        stream_headers = {"port": str(port), "requestid": str(number)}
        self.send(
            SynStream(error, {"streamtype": "error", **stream_headers}),
            Data(error, b"", fin=True),
            SynStream(data, {"streamtype": "data", **stream_headers}),
        )
        return error, data


@pytest.fixture
def client() -> Client:
    return Client()


def test_a_pair_of_streams_is_a_connection(client: Client) -> None:
    stream_headers = {"port": "80", "requestid": "0"}
    assert client.send(SynStream(1, {"streamtype": "error", **stream_headers})) == [SynReply(1)]
    assert client.pods == []
    assert client.send(SynStream(3, {"streamtype": "data", **stream_headers})) == [SynReply(3)]
    assert [pod.port for pod in client.pods] == [80]


def test_bytes_go_both_ways_and_the_client_ends_its_side(client: Client) -> None:
    _, data = client.connect()
    client.send(Data(data, b"GET"), Data(data, b" /", fin=True))
    assert client.pods[0].received == b"GET /"
    assert client.pods[0].closed
    assert client.pods[0].on_data is not None
    client.pods[0].on_data(b"page")
    assert client.heard() == [Data(data, b"page")]


def test_the_pod_ends_a_connection(client: Client) -> None:
    error, data = client.connect()
    assert client.pods[0].on_end is not None
    client.pods[0].on_end("")
    assert client.heard() == [Data(data, b"", fin=True), Data(error, b"", fin=True)]
    assert client.send(Data(data, b"late")) == []
    assert client.pods[0].received == b""


def test_a_failure_is_told_on_the_error_stream(client: Client) -> None:
    error, data = client.connect()
    assert client.pods[0].on_end is not None
    client.pods[0].on_end("connection refused")
    assert client.heard() == [Data(data, b"", fin=True), Data(error, b"connection refused", fin=True)]


def test_a_refusal_of_the_runtime_is_told_on_the_error_stream(client: Client) -> None:
    stream_headers = {"port": "13", "requestid": "0"}
    heard = client.send(
        SynStream(1, {"streamtype": "error", **stream_headers}),
        SynStream(3, {"streamtype": "data", **stream_headers}),
    )
    assert heard[-1] == Data(1, b"no such thing as port 13", fin=True)


def test_several_connections_are_apart(client: Client) -> None:
    streams = [client.connect(number)[1] for number in range(3)]
    for number, stream in enumerate(streams):
        client.send(Data(stream, b"%d" % number))
    assert [pod.received for pod in client.pods] == [b"0", b"1", b"2"]


def test_old_clients_that_number_no_requests_are_paired_by_their_streams(client: Client) -> None:
    client.send(
        SynStream(1, {"streamtype": "error", "port": "80"}),
        SynStream(3, {"streamtype": "data", "port": "80"}),
    )
    assert len(client.pods) == 1


def test_pings_of_the_client_come_back(client: Client) -> None:
    assert client.send(Ping(1), Ping(2)) == [Ping(1)]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"streamtype": "data"},
        {"streamtype": "data", "port": "x"},
        {"streamtype": "data", "port": "0"},
        {"streamtype": "data", "port": "65536"},
        {"streamtype": "other", "port": "80"},
    ],
)
def test_streams_that_make_no_sense_are_reset(client: Client, headers: dict[str, str]) -> None:
    assert client.send(SynStream(1, headers)) == [ResetStream(1, 5)]


def test_stream_numbers_of_the_server_or_used_ones_are_reset(client: Client) -> None:
    stream_headers = {"streamtype": "error", "port": "80", "requestid": "0"}
    assert client.send(SynStream(2, stream_headers)) == [ResetStream(2, 1)]
    client.send(SynStream(5, stream_headers))
    assert client.send(SynStream(5, stream_headers)) == [ResetStream(5, 1)]
    assert client.send(SynStream(3, stream_headers)) == [ResetStream(3, 1)]


def test_a_second_stream_of_a_kind_is_told_so(client: Client) -> None:
    stream_headers = {"streamtype": "error", "port": "80", "requestid": "9"}
    heard = client.send(SynStream(1, stream_headers), SynStream(3, stream_headers))
    sentence = b"error processing stream for request 9: error stream already assigned"
    assert heard == [SynReply(1), SynReply(3), Data(1, sentence)]


def test_there_are_only_so_many_connections(client: Client) -> None:
    for number in range(PAIRS_AT_MOST):
        client.connect(number)
    stream_headers = {"streamtype": "error", "port": "80", "requestid": "more"}
    stream = 4 * PAIRS_AT_MOST + 1
    assert client.send(SynStream(stream, stream_headers)) == [ResetStream(stream, 3)]
    assert len(client.pods) == PAIRS_AT_MOST


def test_a_reset_hangs_up_on_the_pod(client: Client) -> None:
    _, data = client.connect()
    client.send(ResetStream(data, 5))
    assert client.pods[0].closed
    assert client.pods[0].on_data is None


def test_the_client_going_hangs_up_on_every_pod(client: Client) -> None:
    client.connect(0)
    client.connect(1)
    client.tunnel.close()
    assert [pod.closed for pod in client.pods] == [True, True]


def test_pods_are_held_while_the_client_does_not_read(client: Client) -> None:
    client.connect(0)
    pod = client.pods[0]
    assert pod.on_data is not None
    while not pod.paused:
        pod.on_data(bytes(HIGH_BYTES // 4))
    client.connect(1)
    assert client.pods[1].paused


def test_goaway_ends_the_tunnel(client: Client) -> None:
    client.send(GoAway(0))

    async def keep(message: Message) -> None:
        raise AssertionError("nothing is left to send")

    asyncio.run(client.tunnel.outbox.deliver(keep))


STREAMS = st.integers(0, 40)
HEADERS = st.fixed_dictionaries(
    {},
    optional={
        "streamtype": st.sampled_from(["data", "error", "x"]),
        "port": st.sampled_from(["80", "13", "0", "a", ""]),
        "requestid": st.sampled_from(["1", "2", "3"]),
    },
)
FRAMES: st.SearchStrategy[Frame] = st.one_of(
    st.builds(SynStream, STREAMS, HEADERS, st.booleans()),
    st.builds(Data, STREAMS, st.binary(max_size=10), st.booleans()),
    st.builds(ResetStream, STREAMS, st.integers(0, 9)),
    st.builds(SynReply, STREAMS),
    st.builds(Headers, STREAMS, HEADERS),
    st.builds(Ping, STREAMS),
    st.builds(WindowUpdate, STREAMS, STREAMS),
    st.builds(Settings),
    st.builds(GoAway, STREAMS),
)


@given(st.lists(st.one_of(FRAMES, st.integers(0, 5)), max_size=40))
def test_whatever_a_client_sends_the_tunnel_stays_in_bounds(actions: list[Frame | int]) -> None:
    """Numbers stand for pods that answer and hang up."""
    client = Client()
    for action in actions:
        if isinstance(action, int):
            for pod in client.pods[action : action + 1]:
                if pod.on_data is not None:
                    pod.on_data(b"x")
                if pod.on_end is not None and action % 2:
                    pod.on_end("over")
        else:
            client.send(action)
    tunnel = client.tunnel
    assert len(tunnel._pairs) <= 3 + 40
    assert len(tunnel._by_stream) <= 2 * len(tunnel._pairs)
    tunnel.close()
    assert (tunnel._pairs, tunnel._by_stream) == ({}, {})


@given(st.lists(st.binary(max_size=50), max_size=20))
def test_any_bytes_are_served_or_end_the_tunnel(pieces: list[bytes]) -> None:
    client = Client()

    async def scenario() -> None:
        for piece in pieces:
            await client.tunnel.take(piece)

    try:
        asyncio.run(scenario())
    except SpdyError:
        pass
