"""``aiopslab export``: run a world for a while and write its telemetry as a data set.

The world is a bare cluster, an application with users, or a problem. The data set of a problem includes the ground truth.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from aiopslab.apps import Application, NoSuchApplication, find_application
from aiopslab.cli.problems import UsageError, check_folder
from aiopslab.cloud import Environment, World, add_cluster
from aiopslab.orchestrator import deploy, stage, to_json
from aiopslab.orchestrator.tasks import Task
from simcloud.kubernetes import Cluster
from simcloud.telemetry import Monitoring
from simcloud.telemetry.export import ExportError, Facts, Period, Sources, check_request, write_dataset
from simcloud.telemetry.logs import nanoseconds

NODES: Final = 4
NONE: Final = "none"


class MonitoredWorld(NamedTuple):
    """A world with a cluster and its monitoring."""

    world: World
    cluster: Cluster
    monitoring: Monitoring


def _build_bare(seed: int) -> MonitoredWorld:
    world = World(seed)
    cluster = add_cluster(world, NODES)
    monitoring = Monitoring(cluster, world.emitter)
    cluster.start()
    monitoring.start()
    return MonitoredWorld(world, cluster, monitoring)


def _build_with(app: Application, seed: int) -> MonitoredWorld:
    environment = Environment(app, seed, nodes=NODES)
    environment.open()
    return MonitoredWorld(environment.world, environment.cluster, environment.monitoring)


def export_app(app: str, minutes: int, seed: int, out: Path, formats: str, as_json: bool) -> int:
    """Run an application and write its data set; return the exit code. Raises ``UsageError``."""
    try:
        application = None if app == NONE else find_application(app)
        chosen = _check_request(out, formats)
    except (NoSuchApplication, ExportError) as error:
        raise UsageError(str(error)) from None
    monitored = _build_bare(seed) if application is None else _build_with(application, seed)
    _run_minutes(monitored, minutes)
    facts = {"app": app, "nodes": NODES, "minutes": minutes}
    return _write(monitored, out, chosen, seed, facts, None, as_json)


def export_problem(task: Task, minutes: int, seed: int, out: Path, formats: str, as_json: bool) -> int:
    """Stage a problem, run it, and write its data set with the ground truth; return the exit code. Raises ``UsageError``."""
    try:
        chosen = _check_request(out, formats)
    except ExportError as error:
        raise UsageError(str(error)) from None
    environment = deploy(task, seed, _report)
    injected_s = environment.world.epoch_s + environment.now
    stage(task, environment, _report)
    monitored = MonitoredWorld(environment.world, environment.cluster, environment.monitoring)
    _run_minutes(monitored, minutes)
    facts = {"problem": task.id, "app": task.app.name, "nodes": NODES, "minutes": minutes}
    return _write(monitored, out, chosen, seed, facts, _describe_truth(task, injected_s), as_json)


def _describe_truth(task: Task, injected_s: float) -> dict[str, Any]:
    """Return the faults, when they were injected, and the expected answer."""
    return {
        "problem": task.id,
        "task": task.task_type,
        "app": task.app.name,
        "namespace": task.app.namespace,
        "injected_at": f"{datetime.fromtimestamp(injected_s, UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
        if task.breaks
        else None,
        "faults": [{**fault.facts, **asdict(fault.truth)} for fault in task.faults],
        "expected": to_json(task.get_expected()),
    }


def _check_request(out: Path, formats: str) -> tuple[str, ...]:
    chosen = tuple(dict.fromkeys(name.strip() for name in formats.split(",")))
    check_request(out, chosen)
    check_folder(out, "--out")
    return chosen


def _run_minutes(monitored: MonitoredWorld, minutes: int) -> None:
    world, monitoring = monitored.world, monitored.monitoring
    for minute in range(1, minutes + 1):
        world.run_for(60.0)
        _report(
            f"minute {minute} of {minutes}: {monitoring.store.samples} samples, {len(world.emitter.logs)} log lines"
        )


def _write(
    monitored: MonitoredWorld,
    out: Path,
    formats: tuple[str, ...],
    seed: int,
    more: dict[str, Any],
    truth: dict[str, Any] | None,
    as_json: bool,
) -> int:
    world, cluster, monitoring = monitored
    telemetry = world.emitter
    sources = Sources(telemetry.logs, monitoring.store, telemetry.traces, cluster.api.log, world.epoch_s)
    # The end is exclusive; include what happened at the current instant.
    end_ns = nanoseconds(world.epoch_s + world.kernel.now) + 1
    facts = Facts(seed, Period(nanoseconds(world.epoch_s), end_ns), more)
    try:
        manifest = write_dataset(out, sources, facts, formats, truth, tell=_report)
    except ExportError as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps(manifest, indent=2) if as_json else _summarize(manifest, out))
    return 0


def _report(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def _summarize(manifest: dict[str, Any], out: Path) -> str:
    lines = [f"{out}: {manifest['start']} to {manifest['end']}, seed {manifest['seed']}"]
    for name, table in manifest["tables"].items():
        lines.append(f"  {name:<8} {table['rows']:>9} rows  {', '.join(table['files'])}")
    if manifest["metrics"]:
        lines.append(f"  {'metrics/':<8} {len(manifest['metrics']):>9} files, one per metric")
    if manifest["ground_truth"]:
        lines.append(f"  ground truth: {manifest['ground_truth']}")
    return "\n".join(lines)
