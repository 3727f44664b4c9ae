"""A living cluster that is scraped and watched by the default rules."""

from __future__ import annotations

from collections.abc import Iterator

from aiopslab.observer.metrics import Labels
from aiopslab.observer.monitoring import Monitoring
from tests.cluster.lab import Lab

CRASH = ["sh", "-c", "exit 1"]


class Watched(Lab):
    """A cluster of two nodes that is scraped and watched."""

    def __init__(self, seed: int = 3) -> None:
        super().__init__(seed, nodes=2)
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


def watched_life(seed: int) -> Iterator[str]:
    """A crash, an alert, a lost machine; every series and every alert is observed."""
    lab = Watched(seed)
    lab.deploy("web", "nginx:1.19", 2)
    lab.deploy("bad", "busybox:1.36", 1, CRASH)
    lab.world.run_for(330)
    lab.world.machines["kind-worker"].lose()
    lab.world.run_for(90)
    for series in lab.monitoring.store.select([]):
        yield f"{series.labels} {series.times.tolist()} {series.values.tolist()}"
    for alert in lab.rules.alerts:
        yield str(alert.document())
