"""The same commands to Debian's redis-server (7.0) and to ours: the replies are equal.

What 7.0 words otherwise than 6.2, the release of the image, stands in docs/differences/redis.md and is not compared.
"""

from __future__ import annotations

import io
import random
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as some

from simcloud.datastores.redis import redis_image
from simcloud.datastores.redis.config import Config
from simcloud.datastores.redis.dispatch import execute
from simcloud.datastores.redis.rdb import dump
from simcloud.datastores.redis.resp import Reply, Several, encode, split_words
from simcloud.datastores.redis.state import ServerState
from simcloud.machine.network import NetworkError
from simcloud.machine.process import Context
from simcloud.sim import TimedOut
from tests.simcloud.datastores.redis.genuine import Genuine, read_reply
from tests.simcloud.datastores.small_world import SmallWorld

pytestmark = pytest.mark.differential("redis")

SCRIPTS = (Path(__file__).parent / "scripts.txt").read_text().split("\n")
UNORDERED = (b"smembers", b"sunion", b"sinter", b"sdiff", b"keys", b"hkeys", b"hvals", b"hgetall", b"acl")


@pytest.fixture(scope="module")
def genuine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Genuine]:
    server = Genuine(tmp_path_factory.mktemp("redis"))
    try:
        yield server
    finally:
        server.stop()


def new_server() -> ServerState:
    return ServerState(Config(), lambda: 1_767_603_600.0, random.Random(1))


def ask_ours(commands: list[list[bytes]]) -> list[Any]:
    """The same of our server, through the wire's bytes."""
    client = new_server().connect("127.0.0.1:1", "127.0.0.1:2", lambda _reply: None)
    return on_wire(execute(client, words) for words in commands)


def on_wire(replies: Iterable[Reply]) -> list[Any]:
    flat = [each for reply in replies for each in (reply if isinstance(reply, Several) else [reply])]
    stream = io.BytesIO(b"".join(encode(reply) for reply in flat))
    return [read_reply(stream) for _ in flat]


def comparable(commands: list[list[bytes]], replies: list[Any]) -> list[Any]:
    """With the replies of unordered things in one order, and encodings by their names of 6.2."""
    return [
        sorted(reply) if words[0].lower() in UNORDERED and isinstance(reply, list) else renamed(reply)
        for words, reply in zip(commands, replies, strict=True)
    ]


def renamed(reply: Any) -> Any:
    """What 7.0 says otherwise, in the words of 6.2."""
    if reply == b"listpack":
        return b"ziplist"
    if not isinstance(reply, bytes) or not reply.startswith(b"-ERR"):
        return reply
    if reply.startswith(b"-ERR unknown command"):
        return re.sub(rb"'([^']*)',? ?", rb"`\1`, ", reply)
    reply = reply.replace(b"(proto-max-bulk-len)", b"(512MB)")
    return re.sub(rb"invalid expire time in '(\w+)' command", rb"invalid expire time in \1", reply)


def words_of(script: str) -> list[list[bytes]]:
    commands = []
    for line in script.split("|"):
        words = split_words(line.replace("{long}", "x" * 70).encode())
        assert words, line
        commands.append(words)
    return commands


@pytest.mark.parametrize("script", [script for script in SCRIPTS if script and not script.startswith("#")])
def test_replies_are_equal(genuine: Genuine, script: str) -> None:
    commands = words_of(script)
    ours, theirs = (comparable(commands, replies) for replies in (ask_ours(commands), genuine.ask(commands)))
    for words, mine, real in zip(commands, ours, theirs, strict=True):
        assert (words, mine) == (words, real)


KEYS = some.sampled_from(["a", "b", "c"])
MEMBERS = some.sampled_from(["x", "y", "z", "1", "2", "-3", "", "long" * 20])
SCORES = some.sampled_from(["0", "1", "-1", "2.5", "1e3", "inf", "-inf", "3", "(1", "x", "0.1"])
PLACES = some.sampled_from(["0", "1", "-1", "2", "-2", "10", "-10", "x"])
COMMANDS = some.one_of(
    some.tuples(some.just("zadd"), KEYS, SCORES, MEMBERS),
    some.tuples(some.just("zadd"), KEYS, some.sampled_from(["nx", "xx", "gt", "lt", "ch", "incr"]), SCORES, MEMBERS),
    some.tuples(some.just("zincrby"), KEYS, SCORES, MEMBERS),
    some.tuples(some.sampled_from(["zrange", "zrevrange"]), KEYS, PLACES, PLACES, some.just("withscores")),
    some.tuples(some.sampled_from(["zrangebyscore", "zrevrangebyscore"]), KEYS, SCORES, SCORES),
    some.tuples(some.sampled_from(["zrangebyscore"]), KEYS, SCORES, SCORES, some.just("limit"), PLACES, PLACES),
    some.tuples(some.just("zrange"), KEYS, SCORES, SCORES, some.just("byscore"), some.just("rev")),
    some.tuples(some.sampled_from(["zremrangebyrank", "ltrim", "lrange", "getrange"]), KEYS, PLACES, PLACES),
    some.tuples(some.sampled_from(["zremrangebyscore", "zcount"]), KEYS, SCORES, SCORES),
    some.tuples(some.sampled_from(["zrem", "zscore", "zrank", "zrevrank", "sadd", "srem", "sismember"]), KEYS, MEMBERS),
    some.tuples(some.sampled_from(["lpush", "rpush", "hget", "hdel", "set", "append", "setnx"]), KEYS, MEMBERS),
    some.tuples(some.sampled_from(["hset", "hsetnx", "hincrby"]), KEYS, MEMBERS, MEMBERS),
    some.tuples(some.just("lrem"), KEYS, PLACES, MEMBERS),
    some.tuples(some.sampled_from(["lpop", "rpop", "zpopmin", "zpopmax", "del", "get", "incr", "type", "strlen"]), KEYS),
    some.tuples(some.sampled_from(["llen", "hlen", "scard", "zcard", "smembers", "hgetall", "persist", "exists"]), KEYS),
    some.tuples(some.just("rename"), KEYS, KEYS),
    some.tuples(some.sampled_from(["incrby", "decrby"]), KEYS, SCORES),
    some.tuples(some.sampled_from(["sunion", "sinter", "sdiff", "mget"]), KEYS, KEYS),
    some.tuples(some.just("object"), some.just("encoding"), KEYS),
)  # fmt: skip


@pytest.mark.live("redis")
@settings(max_examples=150)
@given(some.lists(COMMANDS, min_size=5, max_size=40))
def test_any_sequence_gives_equal_replies(genuine: Genuine, sequence: list[tuple[str, ...]]) -> None:
    commands = [[word.encode() for word in words] for words in sequence]
    ours, theirs = (comparable(commands, replies) for replies in (ask_ours(commands), genuine.ask(commands)))
    for at, (mine, real) in enumerate(zip(ours, theirs, strict=True)):
        assert (commands[: at + 1], mine) == (commands[: at + 1], real)


def test_the_genuine_server_loads_our_snapshot(tmp_path: Path) -> None:
    script = "set s v|set n 123|set t 1 pxat 9999999999999|rpush l a b c|sadd i 3 1 2|sadd e x y|hset h f v g w|zadd z 1.5 a -inf b"
    commands = [
        *words_of(script),
        [b"set", b"big", b"x" * 20000],
        [b"select", b"3"],
        [b"set", b"there", b"1"],
    ]
    server = new_server()
    client = server.connect("127.0.0.1:1", "127.0.0.1:2", lambda _reply: None)
    for words in commands:
        execute(client, words)
    (tmp_path / "dump.rdb").write_bytes(dump(server.databases, server.clock(), 1))
    genuine = Genuine(tmp_path)
    try:
        asked = words_of(
            "get s|get n|lrange l 0 -1|smembers i|smembers e|hgetall h|zrange z 0 -1 withscores|strlen big|dbsize|select 3|get there"
        )
        client.db = server.databases[0]
        real = genuine.ask(asked, keep=True)
        assert comparable(asked, real) == comparable(
            asked, on_wire(execute(client, words) for words in asked)
        )
    finally:
        genuine.stop()


STREAMS = {
    "typed lines": b"PING\r\nset a 'b c'\nget a\r\n\r\n  get   a  \r\n",
    "arrays": b"*1\r\n$4\r\nPING\r\n*2\r\n$4\r\necho\r\n$2\r\nhi\r\n*0\r\n*-1\r\nping\r\n",
    "an open quote": b'set a "b\r\nping\r\n',
    "no bulk": b"*1\r\n:4\r\nPING\r\n",
    "a bad count": b"*x\r\n",
    "a huge count": b"*99999999999\r\n",
    "a bad length": b"*1\r\n$x\r\n",
    "a negative length": b"*1\r\n$-1\r\n",
    "a web request": b"GET / HTTP/1.1\r\nHost: x\r\n\r\nping\r\n",
    "a post": b"POST / HTTP/1.1\r\n\r\n",
    "quit": b"quit\r\nping\r\n",
    "not all of it": b"*2\r\n$4\r\necho\r\n$5\r\nhi",
    "a long line": b"x" * 70000,
    "wrong case": b"PiNg\r\nSeT a 1\r\nOBJECT ENCODING a\r\n",
    "a transaction": b"multi\r\nset a 1\r\nexec\r\nsubscribe a b\r\nget a\r\nping\r\n",
}


@pytest.mark.parametrize("name", STREAMS)
def test_bytes_are_answered_alike(genuine: Genuine, name: str) -> None:
    world = SmallWorld()
    world.run("redis", "10.1.0.9", redis_image())

    async def talk(ctx: Context) -> bytes:
        connection = await ctx.dial("10.1.0.9", 6379, "raw")
        connection.send(STREAMS[name], len(STREAMS[name]))
        answer = b""
        try:
            while True:
                answer += await connection.receive(1.0)
        except (NetworkError, TimedOut):
            return answer

    real = genuine.bytes(STREAMS[name]).replace(
        b"(P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE", b"(P)SUBSCRIBE / (P)UNSUBSCRIBE"
    )
    assert world.do(talk) == b"\r\n".join(renamed(line) for line in real.split(b"\r\n"))
