"""One seed, one run: eviction, random choices and figures are the same every time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from simcloud.datastores.redis import RedisPool, redis_image
from simcloud.machine.process import Context
from simcloud.sim import check_determinism
from tests.simcloud.datastores.small_world import SmallWorld


def scenario(seed: int) -> Iterator[str]:
    world = SmallWorld(seed, redis="10.1.0.9")
    container, _ = world.run(
        "redis", "10.1.0.9", redis_image(), "--maxmemory", "1mb", "--maxmemory-policy", "allkeys-lru"
    )

    async def service(ctx: Context) -> None:
        pool = RedisPool(ctx, "redis:6379")
        for number in range(100):
            await pool.command("SET", f"k{number}", "x" * 4000)
            await pool.command("SADD", "s", str(number))
            await ctx.sleep(0.01)
        await pool.command("SPOP", "s", "5")

    world.do(service)
    for line in ("redis-cli info", "redis-cli keys '*'", "redis-cli smembers s", "redis-cli acl genpass"):
        yield world.shell(line, container).stdout.decode()


@pytest.mark.slow
def test_the_same_every_time() -> None:
    assert check_determinism(scenario, seed=7).deterministic
