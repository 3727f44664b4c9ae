"""``aiopslab export``: let a world live for a while, and write down everything that was recorded."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final, NamedTuple

from aiopslab.cloud.clusters import add_cluster
from aiopslab.cloud.environment import Environment
from aiopslab.cloud.world import World
from aiopslab.cluster.cluster import Cluster
from aiopslab.observer.export import ExportError, Facts, Period, Sources, check_request, write_dataset
from aiopslab.observer.logs.store import nanoseconds
from aiopslab.observer.monitoring import Monitoring
from aiopslab.service.apps.base import Application
from aiopslab.service.apps.catalogue import NoSuchApplication, application

NODES: Final = 4
NONE: Final = "none"


class Watched(NamedTuple):
    """A cluster with monitoring on it."""

    world: World
    cluster: Cluster
    monitoring: Monitoring


def _bare(seed: int) -> Watched:
    world = World(seed)
    cluster = add_cluster(world, NODES)
    monitoring = Monitoring(cluster, world.emitter)
    cluster.start()
    monitoring.start()
    return Watched(world, cluster, monitoring)


def _with(app: Application, seed: int) -> Watched:
    environment = Environment(app, seed, nodes=NODES)
    environment.open()
    return Watched(environment.world, environment.cluster, environment.monitoring)


def run_export(app: str, minutes: int, seed: int, out: Path, formats: str, as_json: bool) -> int:
    """Run and write; the exit code."""
    chosen = tuple(dict.fromkeys(name.strip() for name in formats.split(",")))
    try:
        deployed = None if app == NONE else application(app)
        check_request(out, chosen)
    except (NoSuchApplication, ExportError) as error:
        print(error, file=sys.stderr)
        return 2
    world, cluster, monitoring = _bare(seed) if deployed is None else _with(deployed, seed)
    for minute in range(1, minutes + 1):
        world.run_for(60.0)
        _tell(
            f"minute {minute} of {minutes}: {monitoring.store.samples} samples, {len(world.emitter.logs)} log lines"
        )
    telemetry = world.emitter
    sources = Sources(telemetry.logs, monitoring.store, telemetry.traces, cluster.api.log, world.epoch_s)
    end_ns = (
        nanoseconds(world.epoch_s + world.kernel.now) + 1
    )  # what happened at this very instant belongs to it
    period = Period(nanoseconds(world.epoch_s), end_ns)
    facts = Facts(seed, period, {"app": app, "nodes": NODES, "minutes": minutes})
    try:
        manifest = write_dataset(out, sources, facts, chosen, tell=_tell)
    except ExportError as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps(manifest, indent=2) if as_json else _summary(manifest, out))
    return 0


def _tell(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def _summary(manifest: dict[str, Any], out: Path) -> str:
    lines = [f"{out}: {manifest['start']} to {manifest['end']}, seed {manifest['seed']}"]
    for name, table in manifest["tables"].items():
        lines.append(f"  {name:<8} {table['rows']:>9} rows  {', '.join(table['files'])}")
    if manifest["metrics"]:
        lines.append(f"  {'metrics/':<8} {len(manifest['metrics']):>9} files, one per metric")
    return "\n".join(lines)
