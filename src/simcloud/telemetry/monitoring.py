"""The monitoring of a cluster: scraping, rules and the query API.

Metrics are collected while it runs; log lines and spans come from its ``Telemetry``, also those from before its start.
"""

from __future__ import annotations

from collections.abc import Sequence

from simcloud.kubernetes import Cluster
from simcloud.telemetry.collectors import cluster_targets, describe_families
from simcloud.telemetry.logs import LokiApi
from simcloud.telemetry.metrics import MetricStore, Retention
from simcloud.telemetry.prometheus_api import PrometheusApi
from simcloud.telemetry.promql import Engine
from simcloud.telemetry.rules import RuleGroup, RuleGroups, default_rules
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
        self.store = MetricStore(retention)
        describe_families(self.store)
        self.engine = Engine(self.store)
        self.scraper = Scraper(self.store, cluster_targets(cluster, telemetry))
        self.rules = RuleGroups(default_rules() if rules is None else rules, self.engine)
        self.api = PrometheusApi(self.store, self.now_ms, self.rules, self.scraper)
        self.jaeger = JaegerApi(telemetry.traces, self.now_us)
        self.loki = LokiApi(telemetry.logs, self.now_ns)
        self.topology = Topology(telemetry.traces, self.now_us)

    def now_ms(self) -> int:
        """Return the world's time."""
        return round(self._api.now_s * 1000)

    def now_us(self) -> int:
        """Return the same, as traces count it."""
        return round(self._api.now_s * 1e6)

    def now_ns(self) -> int:
        """Return the same, as logs count it."""
        return self.now_us() * 1000

    def start(self) -> None:
        """Scrape and evaluate from now on."""
        kernel, epoch_s = self._api.kernel, self._api.epoch_s
        self.scraper.start(kernel, epoch_s)
        self.rules.start(kernel, epoch_s)
