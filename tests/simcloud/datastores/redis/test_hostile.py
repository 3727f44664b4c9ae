"""Whatever is sent, the server answers; and nobody makes it hold more than it should."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings, strategies as some

from simcloud.datastores.redis import redis_image
from simcloud.datastores.redis.commands import COMMANDS
from simcloud.datastores.redis.config import Config
from simcloud.datastores.redis.dispatch import execute
from simcloud.datastores.redis.engine.patterns import Pattern
from simcloud.datastores.redis.rdb import BadSnapshot, load
from simcloud.datastores.redis.resp import ProtocolError, RequestReader, encode
from simcloud.datastores.redis.state import ServerState
from tests.simcloud.datastores.small_world import SmallWorld

WORDS = some.one_of(
    some.sampled_from(
        [b"a", b"b", b"0", b"1", b"-1", b"", b"10", b"1.5", b"nx", b"ex", b"limit", b"withscores", b"get", b"set", b"*",
         b"inf", b"nan", b"99999999999999999999", b"1e400", b"-9223372036854775808", b"count", b"list", b"default",
         b"maxmemory", b"save", b"on", b">pw", b"+@all", b"~*", b"usage", b"kill", b"id", b"type", b"0x1p3", b"1_0"]
    ),
    some.binary(max_size=6),
)  # fmt: skip
LINES = some.tuples(some.sampled_from(sorted(COMMANDS)), some.lists(WORDS, max_size=6))


def new_server() -> ServerState:
    return ServerState(Config(), lambda: 1_767_603_600.0, random.Random(1))


@settings(max_examples=300)
@given(some.lists(LINES, max_size=30))
def test_every_command_gets_an_answer(lines: list[tuple[bytes, list[bytes]]]) -> None:
    server = new_server()
    client = server.connect("127.0.0.1:1", "127.0.0.1:2", lambda _reply: None)
    for name, words in lines:
        encode(execute(client, [name, *words]))
    measured = sum(value.accounted for db in server.databases for value in db.values.values())
    expiring = sum(len(db.expires) for db in server.databases)
    assert server.account.bytes == measured + 32 * expiring
    assert all(db.values.keys() >= db.expires.keys() for db in server.databases)


@given(some.binary(max_size=200), some.integers(1, 50))
def test_any_bytes_are_read_or_refused(data: bytes, piece: int) -> None:
    def read(size: int) -> list[object]:
        reader, found = RequestReader(), list[object]()
        try:
            for at in range(0, len(data), size):
                reader.feed(data[at : at + size])
                while (words := reader.next()) is not None:
                    found.append(words)
        except ProtocolError as error:
            found.append(str(error))
        return found

    assert read(piece) == read(1 << 20)


@given(some.binary(max_size=100))
def test_any_file_is_loaded_or_refused(data: bytes) -> None:
    server = new_server()
    try:
        load(b"REDIS0009" + data, server.databases, 0, server.limits)
    except BadSnapshot:
        pass


def test_a_pattern_of_many_stars_takes_no_time() -> None:
    assert not Pattern(b"*a" * 50 + b"b").matches(b"a" * 5000)
    assert Pattern(b"*a" * 50).matches(b"a" * 5000)


def test_a_server_that_holds_too_much_aborts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simcloud.datastores.redis.server.USED_MAX_BYTES", 2 << 20)
    world = SmallWorld()
    container, process = world.run("redis", "10.1.0.9", redis_image())
    world.shell("head -c 1500000 /dev/zero | redis-cli -x set big", container)
    assert not process.alive
    assert "Out Of Memory allocating 16384 bytes!" in world.emitter.logs[-1].text


def test_whoever_asks_for_too_much_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simcloud.datastores.redis.connection.OUTPUT_MAX_BYTES", 10_000)
    world = SmallWorld()
    container, _ = world.run("redis", "10.1.0.9", redis_image())
    world.shell("redis-cli set a " + "x" * 1000, container)
    shown = world.shell(f"redis-cli mget {'a ' * 20}; redis-cli ping", container)
    assert (shown.stdout, shown.stderr) == (b"PONG\n", b"Error: Server closed the connection\n")
