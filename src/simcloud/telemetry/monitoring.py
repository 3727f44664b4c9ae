"""The monitoring of a cluster: scraping, rules and the query API.

Metrics are collected while it runs; log lines and spans come from its ``Telemetry``, also those from before its start.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from simcloud.kubernetes import Cluster
from simcloud.sim import Event
from simcloud.telemetry import logs
from simcloud.telemetry.collectors import cluster_targets, describe_families
from simcloud.telemetry.metrics import MetricStore, Retention
from simcloud.telemetry.prometheus_api import PrometheusApi
from simcloud.telemetry.promql import Engine
from simcloud.telemetry.rules import (
    DEFAULT_PATH,
    RuleGroup,
    RuleGroups,
    Spawn,
    default_rules,
    read_default_text,
)
from simcloud.telemetry.scrape import Scraper
from simcloud.telemetry.sink import Telemetry
from simcloud.telemetry.topology import Topology
from simcloud.telemetry.traces import JaegerApi


class Monitoring:
    """Monitors one cluster once it is started; ``api`` answers queries at any time."""

    def __init__(
        self,
        cluster: Cluster,
        telemetry: Telemetry,
        rules: Sequence[RuleGroup] | None = None,
        retention: Retention = Retention(),
    ) -> None:
        """``telemetry`` is what the cluster's software emits to; without ``rules`` the default ones are taken."""
        self._api = cluster.api
        self._held: Event[None] | None = None
        self.store = MetricStore(retention)
        describe_families(self.store)
        self.engine = Engine(self.store)
        self.scraper = Scraper(self.store, cluster_targets(cluster, telemetry))
        self.rules = RuleGroups(default_rules() if rules is None else rules, self.engine)
        if rules is None:
            self.rules.texts = {DEFAULT_PATH: read_default_text()}
        self.api = PrometheusApi(self.store, self.now_ms, self.rules, self.scraper)
        self.jaeger = JaegerApi(telemetry.traces, self.now_us)
        self.logs = telemetry.logs
        self.topology = Topology(telemetry.traces, self.now_us)

    @cached_property
    def loki(self) -> logs.LokiApi:
        """The query API of the log lines. Made at first use, because few sessions need its language."""
        return logs.LokiApi(self.logs, self.now_ns)

    def now_ms(self) -> int:
        """Return the world's time."""
        return round(self._api.now_s * 1000)

    def now_us(self) -> int:
        """Return the same, as traces count it."""
        return round(self._api.now_s * 1e6)

    def now_ns(self) -> int:
        """Return the same, as logs count it."""
        return self.now_us() * 1000

    def start(self, spawn: Spawn | None = None) -> None:
        """Scrape and evaluate from now on, in tasks that ``spawn`` starts: those of a Prometheus in the cluster end with it."""
        if self._held is not None:
            (spawn or self._api.kernel.spawn)(self._start_later(self._held, spawn), "monitoring")
            return
        self.scraper.start(self._api.kernel, self._api.epoch_s, spawn)
        self.start_rules(spawn)

    def hold(self) -> None:
        """Let whoever starts the monitoring wait for ``release``."""
        self._held = Event(self._api.kernel)

    def release(self) -> None:
        """Let the monitoring begin."""
        if self._held is not None:
            self._held.set(None)
            self._held = None

    async def _start_later(self, held: Event[None], spawn: Spawn | None) -> None:
        await held.wait()
        self.start(spawn)

    def start_rules(self, spawn: Spawn | None = None) -> None:
        """Evaluate the present rules from now on."""
        self.rules.start(self._api.kernel, self._api.epoch_s, spawn)
