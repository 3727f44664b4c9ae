"""A living cluster that is scraped and watched by the default rules."""

from __future__ import annotations

from collections.abc import Iterator

from simcloud.kubernetes.images import ImageRegistry, standard_registry
from simcloud.machine.image import Image
from simcloud.machine.process import Context
from simcloud.services.tracing import Tracer
from simcloud.telemetry.metrics import Labels
from simcloud.telemetry.monitoring import Monitoring
from simcloud.telemetry.traces import TraceView, records
from simcloud.telemetry.traces.view import EVER_US
from tests.simcloud.kubernetes.lab import Lab

CRASH = ["sh", "-c", "exit 1"]


class Watched(Lab):
    """A cluster of two nodes that is scraped and watched."""

    def __init__(self, seed: int = 3, registry: ImageRegistry | None = None) -> None:
        super().__init__(seed, nodes=2, registry=registry)
        self.monitoring = Monitoring(self.cluster, self.world.emitter)
        self.rules = self.monitoring.rules
        self.monitoring.start()

    def ask(self, query: str) -> dict[Labels, float]:
        return dict(self.monitoring.engine.instant(query, self.monitoring.now_ms()).vector)

    def number(self, query: str) -> float:
        (value,) = self.ask(query).values()
        return value

    def firing(self) -> set[str]:
        return {dict(alert.labels)["alertname"] for alert in self.rules.alerts if alert.state == "firing"}


async def talkative(ctx: Context) -> int:
    """A program that counts, measures, logs and traces what it does."""
    calls, tracer = ctx.metrics.counter("calls_total"), Tracer(ctx, "talkative")
    while True:
        span = tracer.begin("work")
        await ctx.sleep(ctx.random("work").uniform(1.0, 9.0))
        span.finish(None if ctx.random("luck").random() < 0.9 else "no luck")
        calls.add()
        ctx.log(f"{calls.value:g} calls")


def watched_life(seed: int) -> Iterator[str]:
    """A crash, an alert, a lost machine; every series and alert, every line and span is observed."""
    registry = standard_registry()
    registry.add("talkative:1", Image("talkative", {"talkative": talkative}))
    lab = Watched(seed, registry)
    lab.deploy("web", "nginx:1.19", 2)
    lab.deploy("talk", "talkative:1", 2, ["talkative"])
    lab.deploy("bad", "busybox:1.36", 1, CRASH)
    lab.world.run_for(200)
    lab.world.machines["kind-worker"].lose()
    lab.world.run_for(60)
    for series in lab.monitoring.store.select([]):
        yield f"{series.labels} {series.times.tolist()} {series.values.tolist()}"
    for alert in lab.rules.alerts:
        yield str(alert.document())
    telemetry = lab.world.emitter
    for record in telemetry.logs.records():
        yield repr(record)
    for span in records(TraceView(telemetry.traces), 0, EVER_US):
        yield repr(span)
    yield lab.world.fingerprint()
