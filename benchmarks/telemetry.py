"""The cost of telemetry: the same world twice in one process, with and without monitoring, in turns.

Monitoring changes nothing in a world, so both runs are the same, and the difference is the cost. Without monitoring, nothing
is scraped, no rule is evaluated, and emitted data is dropped. The budget is a third of the CPU time of a run, also for a
quiet cluster, where hardly anything else happens. ``python benchmarks/telemetry.py [--json] [--short]``
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

from _measure import Stopwatch
from _report import Budget, Report, run, tabulate_rows

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.cloud.apps import deploy
from aiopslab.cloud.outside import find_front_door, start_outside
from aiopslab.cloud.scenarios import build_synthetic_cloud
from aiopslab.generators.workload.arrivals import OpenLoop
from aiopslab.generators.workload.shapes import Steady
from aiopslab.generators.workload.users import Users
from simcloud.kubernetes.cluster import Cluster
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.telemetry.collectors.exposition import Programs
from simcloud.telemetry.metrics import MetricStore
from simcloud.telemetry.monitoring import Monitoring
from simcloud.telemetry.promql import Engine
from simcloud.telemetry.rules import RuleGroups, default_rules
from simcloud.telemetry.scrape import Scraper
from simcloud.world.clusters import add_cluster
from simcloud.world.world import World

PODS = 100
TURNS = 12
SHARE_PERCENT = Budget(33.0)

Build = Callable[[bool], World]


def build_empty_cluster(monitored: bool) -> tuple[World, Cluster]:
    """Return a cluster with only its system pods."""
    world = World(7, telemetry=monitored)
    cluster = add_cluster(world, 4)
    cluster.start()
    if monitored:
        Monitoring(cluster, world.emitter).start()
    world.run_for(40)
    return world, cluster


def build_quiet_cluster(monitored: bool) -> World:
    """Return a cluster with a hundred pods that do nothing."""
    world, cluster = build_empty_cluster(monitored)
    labels = {"app": "web"}
    container = {"name": "main", "image": "nginx:1.19"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"replicas": PODS, "selector": {"matchLabels": labels}, "template": template}
    metadata = {"name": "web", "namespace": "default"}
    client = ComponentClient(cluster.api, "kubernetes-admin", "kubectl")
    client.create({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec})
    world.run_for(300)
    return world


def hotel(rate: float) -> Build:
    """HotelReservation at this many requests per second; its own Jaeger runs in either case."""

    def build(monitored: bool) -> World:
        world, cluster = build_empty_cluster(monitored)
        app = HotelReservation()
        deploy(world, cluster, app)
        door = find_front_door(cluster, app.namespace, app.front_door.service)
        start_outside(world, "users", Users(door, app.journeys, OpenLoop(Steady(rate))).program)
        world.run_for(30)
        return world

    return build


def synthetic_app(rate: float) -> Build:
    """27 services and a store at this many requests per second."""

    def build(monitored: bool) -> World:
        world = build_synthetic_cloud(1, rate=rate, telemetry=monitored).world
        if monitored:
            store = MetricStore()
            Scraper(store, Programs(world.emitter).targets).start(world.kernel, world.epoch_s)
            RuleGroups(default_rules(), Engine(store)).start(world.kernel, world.epoch_s)
        world.run_for(10)
        return world

    return build


WORLDS: tuple[tuple[str, Build, float], ...] = (
    (f"quiet cluster, {PODS} pods", build_quiet_cluster, 1_800),
    ("synthetic app, 10 requests/s", synthetic_app(10.0), 900),
    ("synthetic app, 100 requests/s", synthetic_app(100.0), 120),
    ("hotel, 10 requests/s", hotel(10.0), 600),
    ("hotel, 50 requests/s", hotel(50.0), 240),
)
"""The name of a world, its builder, and how many virtual seconds are measured."""
SHORT = (
    ("empty cluster", lambda monitored: build_empty_cluster(monitored)[0], 15),
    ("synthetic app, 10 requests/s", synthetic_app(10.0), 15),
)


def measure_share(name: str, build: Build, virtual_s: float) -> dict[str, Any]:
    gc.collect()  # what the worlds before left, or their collection counts as this one's
    worlds = {monitored: build(monitored) for monitored in (False, True)}
    spent_s = {False: 0.0, True: 0.0}
    for turn in range(TURNS):
        for monitored in (turn % 2 == 0, turn % 2 == 1):
            watch = Stopwatch()
            worlds[monitored].run_for(virtual_s / TURNS)
            spent_s[monitored] += watch.cpu_s
    return {
        "world": name,
        "virtual s": virtual_s,
        "without monitoring, CPU s": spent_s[False],
        "with monitoring, CPU s": spent_s[True],
        "telemetry, %": (1 - spent_s[False] / spent_s[True]) * 100,
        "budget": str(SHARE_PERCENT),
    }


def measure(short: bool) -> Report:
    gc.disable()  # as in a running world, whose kernel collects at fixed event counts
    rows = []
    missed: dict[str, str] = {}
    for name, build, virtual_s in SHORT if short else WORLDS:
        row = measure_share(name, build, virtual_s)
        rows.append(row)
        missed |= SHARE_PERCENT.find_missed(f"{name}, telemetry, %", row["telemetry, %"])
    return Report({"telemetry": rows}, [tabulate_rows("The cost of telemetry", rows)], missed)


if __name__ == "__main__":
    sys.exit(run(__doc__, measure))
