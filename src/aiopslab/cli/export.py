"""``aiopslab export``: let a world live for a while, and write down everything that was recorded.

It is a cluster, an application with users on it, or a problem; a problem is written down with the truth about it.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from aiopslab.apps.base import Application
from aiopslab.apps.catalogue import NoSuchApplication, application
from aiopslab.cli.problems import WrongCall, check_folder
from aiopslab.cloud.environment import Environment
from aiopslab.orchestrator.records import plain
from aiopslab.orchestrator.staging import settled, stage
from aiopslab.orchestrator.tasks import Task
from simcloud.kubernetes.cluster import Cluster
from simcloud.telemetry.export import ExportError, Facts, Period, Sources, check_request, write_dataset
from simcloud.telemetry.logs.store import nanoseconds
from simcloud.telemetry.monitoring import Monitoring
from simcloud.world.clusters import add_cluster
from simcloud.world.world import World

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
    """Let an application live, and write that down; the exit code."""
    try:
        deployed = None if app == NONE else application(app)
        chosen = _checked(out, formats)
    except (NoSuchApplication, ExportError) as error:
        raise WrongCall(str(error)) from None
    watched = _bare(seed) if deployed is None else _with(deployed, seed)
    _lived(watched, minutes)
    facts = {"app": app, "nodes": NODES, "minutes": minutes}
    return _written(watched, out, chosen, seed, facts, None, as_json)


def export_problem(task: Task, minutes: int, seed: int, out: Path, formats: str, as_json: bool) -> int:
    """Pose a problem, let it go on for a while, and write all of it down with what is wrong; the exit code."""
    try:
        chosen = _checked(out, formats)
    except ExportError as error:
        raise WrongCall(str(error)) from None
    environment = settled(task, seed, _tell)
    injected_s = environment.world.epoch_s + environment.now
    stage(task, environment, _tell)
    watched = Watched(environment.world, environment.cluster, environment.monitoring)
    _lived(watched, minutes)
    facts = {"problem": task.id, "app": task.app.name, "nodes": NODES, "minutes": minutes}
    return _written(watched, out, chosen, seed, facts, _truth(task, injected_s), as_json)


def _truth(task: Task, injected_s: float) -> dict[str, Any]:
    """What is wrong, since when, and what would be the right answer."""
    return {
        "problem": task.id,
        "task": task.task_type,
        "app": task.app.name,
        "namespace": task.app.namespace,
        "injected_at": f"{datetime.fromtimestamp(injected_s, UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
        if task.breaks
        else None,
        "faults": [{**fault.facts, **asdict(fault.truth)} for fault in task.faults],
        "expected": plain(task.expected()),
    }


def _checked(out: Path, formats: str) -> tuple[str, ...]:
    chosen = tuple(dict.fromkeys(name.strip() for name in formats.split(",")))
    check_request(out, chosen)
    check_folder(out, "--out")
    return chosen


def _lived(watched: Watched, minutes: int) -> None:
    world, monitoring = watched.world, watched.monitoring
    for minute in range(1, minutes + 1):
        world.run_for(60.0)
        _tell(
            f"minute {minute} of {minutes}: {monitoring.store.samples} samples, {len(world.emitter.logs)} log lines"
        )


def _written(
    watched: Watched,
    out: Path,
    formats: tuple[str, ...],
    seed: int,
    more: dict[str, Any],
    truth: dict[str, Any] | None,
    as_json: bool,
) -> int:
    world, cluster, monitoring = watched
    telemetry = world.emitter
    sources = Sources(telemetry.logs, monitoring.store, telemetry.traces, cluster.api.log, world.epoch_s)
    # What happened at this very instant belongs to it.
    end_ns = nanoseconds(world.epoch_s + world.kernel.now) + 1
    facts = Facts(seed, Period(nanoseconds(world.epoch_s), end_ns), more)
    try:
        manifest = write_dataset(out, sources, facts, formats, truth, tell=_tell)
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
    if manifest["ground_truth"]:
        lines.append(f"  what is wrong, and since when: {manifest['ground_truth']}")
    return "\n".join(lines)
