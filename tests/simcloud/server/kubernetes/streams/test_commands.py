"""The channels of exec, attach and port-forward, whatever comes on them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from hypothesis import given, strategies as st

from simcloud.server.kubernetes.streams.channels import COMMANDS, PLAIN, PORTS, BadMessage, Dialect
from simcloud.server.kubernetes.streams.commands import Talk
from simcloud.server.kubernetes.streams.ports import Connections
from simcloud.server.kubernetes.streams.requests import StreamOptions

MESSAGES = st.lists(
    st.one_of(
        st.binary(max_size=20),
        st.text(max_size=20),
        st.builds(lambda channel, data: bytes([channel]) + data, st.integers(0, 5), st.binary(max_size=20)),
        st.sampled_from([b"\xff\0", b'\4{"Width":80,"Height":24}', b'\4{"Width":1e999,"Height":"x"}', b"\4" + b"[" * 5_000]),
    ),
    max_size=20,
)  # fmt: skip
WISHES = st.builds(
    StreamOptions, st.just(""), st.just(("sh",)), st.booleans(), st.booleans(), st.booleans(), st.booleans()
)


class Process:
    """A process that only keeps what it is told."""

    def __init__(self) -> None:
        self.on_output: Callable[[int, bytes], None] | None = None
        self.on_end: Callable[[int, str], None] | None = None
        self.typed = b""
        self.ended = False
        self.sizes: list[tuple[int, int]] = []

    def write(self, data: bytes) -> None:
        self.typed += data

    def close_input(self) -> None:
        self.ended = True

    def resize(self, columns: int, rows: int) -> None:
        self.sizes.append((columns, rows))

    def stop(self) -> None: ...


class Pod:
    """A connection that only keeps what it is sent."""

    def __init__(self) -> None:
        self.on_data: Callable[[bytes], None] | None = None
        self.on_end: Callable[[str], None] | None = None
        self.received = b""
        self.closed = False

    def write(self, data: bytes) -> None:
        self.received += data

    def close(self) -> None:
        self.closed = True


def hear(take: Callable[[bytes | str], Any], messages: list[bytes | str]) -> None:
    async def scenario() -> None:
        for message in messages:
            await take(message)

    try:
        asyncio.run(scenario())
    except BadMessage:
        pass


APP: Any = SimpleNamespace(live=SimpleNamespace(poke=lambda: None))


@given(st.sampled_from([*COMMANDS, PLAIN]), WISHES, MESSAGES)
def test_a_process_gets_only_what_was_asked_for(
    dialect: Dialect, options: StreamOptions, messages: list[bytes | str]
) -> None:
    process = Process()
    talk = Talk(APP, process, options, dialect)
    hear(talk.take, messages)
    assert options.stdin or not process.typed
    assert options.tty or not process.sizes
    assert dialect.closes or not process.ended
    assert all(0 < side <= 65_535 for size in process.sizes for side in size)


@given(st.sampled_from([*PORTS, PLAIN]), MESSAGES)
def test_ports_get_what_is_on_their_channels(dialect: Dialect, messages: list[bytes | str]) -> None:
    pods = [Pod(), Pod()]
    waiting = iter(pods)
    connections = Connections(dialect, lambda: None)
    runtime: Any = SimpleNamespace(forward=lambda pod, port: next(waiting))
    connections.open(runtime, {}, [80, 81])
    hear(connections.take, messages)
    connections.close()
    assert [pod.closed for pod in pods] == [True, True]
    assert all(pod.on_data is None for pod in pods)


def test_ports_begin_with_their_numbers_and_end_with_why() -> None:
    pods = [Pod(), Pod()]
    waiting = iter(pods)
    connections = Connections(PORTS[0], lambda: None)
    runtime: Any = SimpleNamespace(forward=lambda pod, port: next(waiting))
    sent: list[bytes | str] = []

    async def scenario() -> None:
        connections.open(runtime, {}, [80, 8080])
        await connections.take(b"\2hello")
        assert pods[1].on_data is not None
        pods[1].on_data(b"world")
        for pod, why in zip(pods, ("", "refused"), strict=True):
            assert pod.on_end is not None
            pod.on_end(why)
        await connections.outbox.deliver(keep)

    async def keep(message: bytes | str) -> None:
        sent.append(message)

    asyncio.run(scenario())
    assert pods[1].received == b"hello"
    assert sent == [b"\0\x50\0", b"\1\x50\0", b"\2\x90\x1f", b"\3\x90\x1f", b"\2world", b"\3refused"]
