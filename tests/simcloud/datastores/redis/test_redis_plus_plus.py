"""The client library's pool: what it sends, and its words when things go wrong."""

from __future__ import annotations

import pytest

from simcloud.datastores.redis import RedisFailure, RedisPool, redis_image
from simcloud.datastores.redis.resp import Reply
from simcloud.machine.process import Context, Signal
from tests.simcloud.datastores.small_world import SmallWorld

ADDRESS = "10.1.0.9"


@pytest.fixture
def world() -> SmallWorld:
    return SmallWorld(home_timeline_redis=ADDRESS)


def start(world: SmallWorld, *args: str) -> None:
    world.run("redis", ADDRESS, redis_image(), *args)


def failure(world: SmallWorld, address: str = "home-timeline-redis:6379", **options: float) -> str:
    async def ask(ctx: Context) -> str:
        try:
            await RedisPool(ctx, address, **options).zrevrange("1", 0, 9)
        except RedisFailure as failed:
            return str(failed)
        return "answered"

    return str(world.do(ask))


def test_a_timeline_is_written_and_read(world: SmallWorld) -> None:
    start(world)

    async def use(ctx: Context) -> list[object]:
        pool = RedisPool(ctx, "home-timeline-redis:6379")
        pipeline = pool.pipeline()
        for number in range(5):
            pipeline.zadd("7", f"post{number}", 1000.0 + number, only_new=True)
        added = await pipeline.exec()
        again = await pool.zadd("7", "post0", 5000.0, only_new=True)
        return [added, again, await pool.zrevrange("7", 0, 1), await pool.command("ZCARD", "7")]

    assert world.do(use) == [[1, 1, 1, 1, 1], 0, [b"post4", b"post3"], 5]


def test_nobody_listens(world: SmallWorld) -> None:
    world.run("other", ADDRESS, redis_image(), "sleep", "100")
    assert failure(world) == "Failed to connect to Redis: Connection refused"


def test_no_such_name(world: SmallWorld) -> None:
    assert failure(world, "nowhere:6379") == "Failed to connect to Redis: Name or service not known"


def test_a_password_is_wanted(world: SmallWorld) -> None:
    start(world, "--requirepass", "secret")
    assert failure(world) == "NOAUTH Authentication required."


def test_the_server_goes_away_under_a_connection(world: SmallWorld) -> None:
    _, process = world.run("redis", ADDRESS, redis_image())

    async def ask(ctx: Context) -> str:
        pool = RedisPool(ctx, "home-timeline-redis:6379", lifetime_s=1000)
        await pool.command("ZCARD", "a")
        ctx.kernel.call_later(1.0, lambda _: process.send(Signal.KILL, outside=True))
        try:
            await pool.command("DEBUG", "SLEEP", "5")
        except RedisFailure as failed:
            return str(failed)
        return "answered"

    assert world.do(ask) == "Failed to get reply: Server closed the connection"


def test_a_connection_that_was_closed_meanwhile_fails_once(world: SmallWorld) -> None:
    container, process = world.run("redis", ADDRESS, redis_image())

    async def ask(ctx: Context) -> list[str]:
        pool = RedisPool(ctx, "home-timeline-redis:6379", lifetime_s=100)
        await pool.command("ZCARD", "a")
        process.send(Signal.KILL, outside=True)
        await ctx.sleep(1)
        container.start(["redis-server"])
        await ctx.sleep(1)
        outcomes = []
        for _ in range(2):
            try:
                outcomes.append(str(await pool.command("ZCARD", "a")))
            except RedisFailure as failed:
                outcomes.append(str(failed))
        return outcomes

    assert world.do(ask) == ["Failed to get reply: Server closed the connection", "0"]


def test_an_old_connection_is_made_anew(world: SmallWorld) -> None:
    start(world)

    async def ask(ctx: Context) -> list[Reply]:
        pool = RedisPool(ctx, "home-timeline-redis:6379", lifetime_s=10)
        numbers = [await pool.command("CLIENT", "ID"), await pool.command("CLIENT", "ID")]
        await ctx.sleep(11)
        return [*numbers, await pool.command("CLIENT", "ID")]

    assert world.do(ask) == [3, 3, 4]


def test_the_pool_is_exhausted(world: SmallWorld) -> None:
    start(world)

    async def ask(ctx: Context) -> str:
        pool = RedisPool(ctx, "home-timeline-redis:6379", size=1, wait_s=0.5)
        ctx.spawn(pool.command("DEBUG", "SLEEP", "3"), "slow")
        await ctx.sleep(0.1)
        try:
            await pool.command("ZCARD", "a")
        except RedisFailure as failed:
            return str(failed)
        return "answered"

    assert world.do(ask) == "Failed to fetch a connection in 500 milliseconds"
