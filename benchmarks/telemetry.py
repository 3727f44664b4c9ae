"""What telemetry costs: the same world twice in one process, watched and unwatched, in turns.

Watching changes nothing in a world, so both go the same way, and the difference is the cost. Unwatched means that
nothing is scraped, no rule is evaluated, and what software emits is forgotten. The budget is a third of a run's CPU
time; of a quiet cluster, where nearly nothing else happens, a fifth. ``python benchmarks/telemetry.py [--json]``
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.table import Table

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.cloud.apps import deploy
from aiopslab.cloud.outside import front_door, start_outside
from aiopslab.cloud.scenarios import synthetic_cloud
from aiopslab.generators.workload.arrivals import OpenLoop
from aiopslab.generators.workload.shapes import Steady
from aiopslab.generators.workload.users import Users
from simcloud.kubernetes.component_client import Client
from simcloud.kubernetes.cluster import Cluster
from simcloud.telemetry.collectors.emitted import Programs
from simcloud.telemetry.metrics import MetricStore
from simcloud.telemetry.monitoring import Monitoring
from simcloud.telemetry.promql import Engine
from simcloud.telemetry.rules import RuleGroups, default_rules
from simcloud.telemetry.scrape import Scraper
from simcloud.world.clusters import add_cluster
from simcloud.world.world import World

PODS = 100
TURNS = 12
MOST_SHARE = 1 / 3
MOST_SHARE_QUIET = 0.2

Build = Callable[[bool], World]


def empty_cluster(watched: bool) -> tuple[World, Cluster]:
    """A cluster with its own pods only."""
    world = World(7, telemetry=watched)
    cluster = add_cluster(world, 4)
    cluster.start()
    if watched:
        Monitoring(cluster, world.emitter).start()
    world.run_for(40)
    return world, cluster


def quiet_cluster(watched: bool) -> World:
    """A cluster with a hundred pods that do nothing."""
    world, cluster = empty_cluster(watched)
    labels = {"app": "web"}
    container = {"name": "main", "image": "nginx:1.19"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"replicas": PODS, "selector": {"matchLabels": labels}, "template": template}
    metadata = {"name": "web", "namespace": "default"}
    client = Client(cluster.api, "kubernetes-admin", "kubectl")
    client.create({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec})
    world.run_for(300)
    return world


def hotel(rate: float) -> Build:
    """HotelReservation under so many requests a second. Its own Jaeger is part of it, watched or not."""

    def build(watched: bool) -> World:
        world, cluster = empty_cluster(watched)
        app = HotelReservation()
        deploy(world, cluster, app)
        door = front_door(cluster, app.namespace, app.front_door.service)
        start_outside(world, "users", Users(door, app.journeys, OpenLoop(Steady(rate))).program)
        world.run_for(30)
        return world

    return build


def synthetic_app(rate: float) -> Build:
    """27 services and a store under so many requests a second."""

    def build(watched: bool) -> World:
        world = synthetic_cloud(1, rate=rate, telemetry=watched).world
        if watched:
            store = MetricStore()
            Scraper(store, Programs(world.emitter).targets).start(world.kernel, world.epoch_s)
            RuleGroups(default_rules(), Engine(store)).start(world.kernel, world.epoch_s)
        world.run_for(10)
        return world

    return build


def measure(name: str, build: Build, virtual_s: float, most: float) -> dict[str, Any]:
    worlds = {watched: build(watched) for watched in (False, True)}
    spent_s = {False: 0.0, True: 0.0}
    for turn in range(TURNS):
        for watched in (turn % 2 == 0, turn % 2 == 1):
            begun = time.process_time()
            worlds[watched].run_for(virtual_s / TURNS)
            spent_s[watched] += time.process_time() - begun
    return {
        "world": name,
        "virtual_s": virtual_s,
        "unwatched_s": spent_s[False],
        "watched_s": spent_s[True],
        "share": 1 - spent_s[False] / spent_s[True],
        "budget": most,
    }


def main() -> int:
    gc.disable()  # as in a running world, whose kernel collects at its own times
    rows = [
        measure(f"quiet cluster, {PODS} pods", quiet_cluster, 1_800, MOST_SHARE_QUIET),
        measure("synthetic app, 10 requests/s", synthetic_app(10.0), 900, MOST_SHARE),
        measure("synthetic app, 100 requests/s", synthetic_app(100.0), 120, MOST_SHARE),
        measure("hotel, 10 requests/s", hotel(10.0), 600, MOST_SHARE),
        measure("hotel, 50 requests/s", hotel(50.0), 240, MOST_SHARE),
    ]
    ok = all(row["share"] <= row["budget"] for row in rows)
    if "--json" in sys.argv:
        print(json.dumps({"telemetry": rows, "ok": ok}))
    else:
        Console().print(table(rows))
    return 0 if ok else 1


def table(rows: list[dict[str, Any]]) -> Table:
    out = Table(title="what telemetry costs")
    for column in ("world", "virtual s", "unwatched, CPU s", "watched, CPU s", "telemetry's share", "budget"):
        out.add_column(column, justify="right")
    for row in rows:
        spent = (f"{row[name]:.2f}" for name in ("unwatched_s", "watched_s"))
        out.add_row(
            row["world"], f"{row['virtual_s']:g}", *spent, f"{row['share']:.0%}", f"{row['budget']:.0%}"
        )
    return out


if __name__ == "__main__":
    raise SystemExit(main())
