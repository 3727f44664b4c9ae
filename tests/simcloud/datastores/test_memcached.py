"""Memcached alive: a client program, a person with nc, memory, eviction, and what failures look like."""

from __future__ import annotations

import pytest

from simcloud.datastores.memcached import CacheMiss, MemcachedClient, MemcacheError, memcached_image
from simcloud.machine.process import Context
from tests.simcloud.datastores.small_world import SmallWorld

ADDRESS = "10.1.0.1"
USER = 11211


@pytest.fixture
def world() -> SmallWorld:
    return SmallWorld(memcached_rate=ADDRESS)


async def _client(ctx: Context) -> MemcachedClient:
    return await MemcachedClient.new(ctx, "memcached-rate:11211")


async def _words(work: object) -> str:
    try:
        return repr(await work)
    except MemcacheError as error:
        return str(error)


def test_values_are_kept_until_they_expire(world: SmallWorld) -> None:
    world.run("mmc", ADDRESS, memcached_image(), "memcached", uid=USER)

    async def work(ctx: Context) -> list[object]:
        client = await _client(ctx)
        await client.set("a", b"one")
        await client.set("b", b"two", ttl_s=10)
        seen: list[object] = [await client.get_multi(["a", "b", "c"])]
        await ctx.sleep(11.0)
        seen.append(await client.get_multi(["a", "b", "c"]))
        with pytest.raises(CacheMiss, match="memcache: cache miss"):
            await client.get("b")
        seen.append(await client.get("a"))
        return seen

    assert world.do(work) == [{"a": b"one", "b": b"two"}, {"a": b"one"}, b"one"]


def test_one_connection_serves_many_requests(world: SmallWorld) -> None:
    world.run("mmc", ADDRESS, memcached_image(), "memcached", uid=USER)

    async def work(ctx: Context) -> None:
        client = await _client(ctx)
        for number in range(50):
            await client.set(f"k{number}", b"x")

    world.do(work)
    stats = world.shell("printf 'stats\\r\\nquit\\r\\n' | nc memcached-rate 11211").stdout.decode()
    assert "STAT cmd_set 50\r\n" in stats
    assert "STAT total_connections 3\r\n" in stats  # the listener, the client's, nc's


def test_somebody_types_at_it(world: SmallWorld) -> None:
    world.run("mmc", ADDRESS, memcached_image(), uid=USER)
    done = world.shell(
        "printf 'set a 5 0 3\\r\\nabc\\r\\nget a\\r\\nbogus\\r\\nquit\\r\\n' | nc memcached-rate 11211"
    )
    assert done.stdout == b"STORED\r\nVALUE a 5 3\r\nabc\r\nEND\r\nERROR\r\n"
    assert world.do(lambda ctx: _get(ctx, "a")) == "b'abc'"
    curl = world.shell("curl -sS http://memcached-rate:11211/")
    assert (curl.status, curl.stderr) == (52, b"curl: (52) Empty reply from server\n")


async def _get(ctx: Context, key: str) -> str:
    return await _words((await _client(ctx)).get(key))


def test_failures_in_the_words_of_the_client(world: SmallWorld) -> None:
    assert (
        world.do(lambda ctx: _words(MemcachedClient.new(ctx, "nowhere:11211")))
        == "lookup nowhere: no such host"
    )
    container, process = world.run("mmc", ADDRESS, memcached_image(), uid=USER)

    async def across_a_restart(ctx: Context) -> list[str]:
        client = await _client(ctx)
        await client.set("a", b"1")
        process.exit(0)
        await ctx.sleep(1.0)
        return [await _words(client.get("a")), await _words(client.get("a"))]

    # The kept connection is at its end, which only the request that meets it finds out.
    assert world.do(across_a_restart) == ["EOF", "dial tcp 10.1.0.1:11211: connect: connection refused"]
    container.namespace.down()
    assert world.do(lambda ctx: _get(ctx, "a")) == "memcache: connect timeout to 10.1.0.1:11211"


def test_a_silent_server_times_out(world: SmallWorld) -> None:
    container, _ = world.run("mmc", ADDRESS, memcached_image(), uid=USER)

    async def work(ctx: Context) -> tuple[str, float]:
        client = await _client(ctx)
        await client.set("a", b"1")
        container.namespace.down()
        began = ctx.now
        return await _words(client.get("a")), ctx.now - began

    words, took_s = world.do(work)
    assert words.startswith("read tcp 10.1.0.200:") and words.endswith("->10.1.0.1:11211: i/o timeout")
    assert took_s == pytest.approx(2.0)


def test_a_value_that_is_too_large_is_refused_and_the_old_one_is_gone(world: SmallWorld) -> None:
    world.run("mmc", ADDRESS, memcached_image(), uid=USER)

    async def work(ctx: Context) -> list[str]:
        client = await _client(ctx)
        await client.set("a", b"1")
        return [
            await _words(client.set("a", b"x" * 1_048_576)),
            await _words(client.get("a")),
            await _words(client.set("b c", b"")),
        ]

    assert world.do(work) == [
        'memcache: unexpected response line from "set": "SERVER_ERROR object too large for cache\\r\\n"',
        "memcache: cache miss",
        "malformed: key is too long or contains invalid characters",
    ]


def test_memory_fills_up_to_the_limit_and_then_the_oldest_go(world: SmallWorld) -> None:
    container, process = world.run("mmc", ADDRESS, memcached_image(), "-m", "8", uid=USER)

    async def fill(ctx: Context) -> dict[str, bytes]:
        client = await _client(ctx)
        for number in range(1000):
            await client.set(f"k{number}", b"x" * 10_000)
        return await client.get_multi(["k0", "k999"])

    assert list(world.do(fill)) == ["k999"]
    assert 8 << 20 < container.memory_bytes < 16 << 20
    stats = world.shell("printf 'stats\\r\\nquit\\r\\n' | nc memcached-rate 11211").stdout.decode()
    evictions = int(stats.partition("STAT evictions ")[2].partition("\r\n")[0])
    assert evictions > 200
    assert process.alive


def test_a_container_smaller_than_the_cache_is_killed(world: SmallWorld) -> None:
    _, process = world.run("mmc", ADDRESS, memcached_image(), uid=USER, memory_limit_bytes=12 << 20)

    async def fill(ctx: Context) -> str:
        client = await _client(ctx)
        for number in range(2000):
            try:
                await client.set(f"k{number}", b"x" * 10_000)
            except MemcacheError as error:
                return str(error)
        return "survived"

    assert world.do(fill) == "EOF"
    assert process.status == 137


def test_too_many_connections_are_told_so(world: SmallWorld) -> None:
    world.run("mmc", ADDRESS, memcached_image(), "-c", "1", uid=USER)

    async def work(ctx: Context) -> list[str]:
        first, second = await _client(ctx), await _client(ctx)
        await first.set("a", b"1")
        return [await _words(second.get("a"))]

    assert world.do(work) == [
        'memcache: unexpected line in get response: "ERROR Too many open connections\\r\\n"'
    ]


def test_it_does_not_run_as_root_and_says_why_it_stops(world: SmallWorld) -> None:
    _, process = world.run("root", "10.1.0.2", memcached_image(), "memcached")
    assert process.status == 64
    container, process = world.run("mmc", ADDRESS, memcached_image(), uid=USER)
    world.shell("kill 1", container)
    world.kernel.run_for(1.0)
    assert process.status == 0
    logs = [line.text for line in world.emitter.logs]
    assert logs == ["can't run as root without the -u switch", "Exiting normally"]


def test_listening_on_loopback_only_is_refused_from_outside(world: SmallWorld) -> None:
    container, _ = world.run("mmc", ADDRESS, memcached_image(), "-l", "127.0.0.1", uid=USER)
    assert world.do(lambda ctx: _get(ctx, "a")) == "dial tcp 10.1.0.1:11211: connect: connection refused"
    inside = world.shell(
        "exec 3<>/dev/tcp/127.0.0.1/11211; printf 'version\\r\\nquit\\r\\n' >&3; cat <&3", container
    )
    assert inside.stdout == b"VERSION 1.6.18\r\n"


def test_asking_for_far_too_much_at_once_ends_the_connection(world: SmallWorld) -> None:
    _, process = world.run("mmc", ADDRESS, memcached_image(), uid=USER)

    async def work(ctx: Context) -> None:
        await (await _client(ctx)).set("a", b"x" * 1_000_000)

    world.do(work)
    line = "(printf 'get'; i=0; while [ $i -lt 500 ]; do printf ' a'; i=$((i+1)); done; printf '\\r\\n') | nc memcached-rate 11211 | wc -c"
    assert 10_000_000 < int(world.shell(line).stdout) < 20_000_000
    assert process.alive
