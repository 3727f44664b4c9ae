"""One seed, one run: registry, cache and traces do the same every time."""

from __future__ import annotations

from collections.abc import Iterator

from simcloud.datastores.consul import ConsulAddresses, ConsulClient, consul_image
from simcloud.datastores.memcached import MemcachedClient, memcached_image
from simcloud.machine.process import Context
from simcloud.services.jaeger import jaeger_image
from simcloud.services.tracing import Tracer
from simcloud.sim import check_determinism
from tests.simcloud.datastores.small_world import SmallWorld


def scenario(seed: int) -> Iterator[str]:
    world = SmallWorld(seed, consul="10.1.0.1", cache="10.1.0.2", jaeger="10.1.0.3")
    world.run("consul", "10.1.0.1", consul_image(), "agent", "-dev", "-client", "0.0.0.0")
    world.run("cache", "10.1.0.2", memcached_image(), uid=11211)
    world.run("jaeger", "10.1.0.3", jaeger_image(), uid=10001)

    async def service(ctx: Context) -> None:
        reports: list[str] = []
        ConsulAddresses(ctx, "consul:8500", "srv").watch(reports.extend)
        tracer = await Tracer.open(ctx, "srv", "jaeger:6831")
        cache = await MemcachedClient.new(ctx, "cache:11211")
        for number in range(5):
            span = tracer.begin("round")
            await ConsulClient(ctx, "consul:8500").register("srv", f"id-{number}", "10.1.0.9", number)
            await cache.set(f"k{number}", str(reports).encode())
            await ctx.sleep(ctx.random("pause").random())
            span.finish()
        await ctx.sleep(2.0)

    world.do(service)
    for line in world.emitter.logs:
        yield f"{line.time:.6f} {line.text}"
    yield world.shell("curl -s 'http://jaeger:16686/api/traces?service=srv'").stdout.decode()
    yield world.shell(
        "printf 'stats\\r\\nlru_crawler metadump all\\r\\nquit\\r\\n' | nc cache 11211"
    ).stdout.decode()


def test_the_same_every_time() -> None:
    assert check_determinism(scenario, seed=7).deterministic
