"""``aiopslab export``: run a world for a while and write its telemetry as a data set.

The world is a bare cluster, an application with users, or a problem. The data set of a problem includes the ground truth.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from aiopslab.apps import Application, NoSuchApplication, find_application
from aiopslab.cli.problems import UsageError, check_folder
from aiopslab.cloud import Environment, World, add_cluster
from aiopslab.orchestrator import deploy, stage, to_json
from aiopslab.orchestrator.tasks import Task
from simcloud.kubernetes import Cluster
from simcloud.services import list_open_spans
from simcloud.telemetry import Monitoring
from simcloud.telemetry.export import (
    Case,
    ExportError,
    Facts,
    Period,
    Sources,
    check_new_folder,
    check_request,
    write_case,
    write_dataset,
)
from simcloud.telemetry.logs import nanoseconds

NODES: Final = 4
NONE: Final = "none"


class MonitoredWorld(NamedTuple):
    """A world with a cluster and its monitoring."""

    world: World
    cluster: Cluster
    monitoring: Monitoring


@dataclass(frozen=True)
class ExportOptions:
    """The options of the command."""

    out: Path
    formats: str = "csv"
    minutes: int | None = None
    """Simulated minutes to record; for a problem, minutes after its fault took effect."""
    normal: int = 0
    """For a problem, additional minutes before its fault."""
    scrape_s: int = 15
    as_json: bool = False


def _build_bare(seed: int, scrape_s: float) -> MonitoredWorld:
    world = World(seed, varies=True)
    cluster = add_cluster(world, NODES)
    monitoring = Monitoring(cluster, world.emitter)
    monitoring.scraper.interval_s = scrape_s
    cluster.start()
    monitoring.start()
    return MonitoredWorld(world, cluster, monitoring)


def _build_with(app: Application, seed: int, scrape_s: float) -> MonitoredWorld:
    environment = Environment(app, seed, nodes=NODES, scrape_s=scrape_s)
    environment.open()
    return MonitoredWorld(environment.world, environment.cluster, environment.monitoring)


def export_app(app: str, seed: int, options: ExportOptions) -> int:
    """Run an application and write its data set; return the exit code. Raises ``UsageError``."""
    try:
        application = None if app == NONE else find_application(app)
    except NoSuchApplication as error:
        raise UsageError(str(error)) from None
    chosen = _check_request(options)
    minutes = 10 if options.minutes is None else max(options.minutes, 1)
    monitored = (
        _build_bare(seed, options.scrape_s)
        if application is None
        else _build_with(application, seed, options.scrape_s)
    )
    _run_minutes(monitored, minutes)
    facts = {"app": app, "nodes": NODES, "minutes": minutes}
    return _write(monitored, chosen, seed, facts, None, options)


def export_problem(task: Task, seed: int, options: ExportOptions) -> int:
    """Stage a problem, run it, and write its data set with the ground truth; return the exit code. Raises ``UsageError``."""
    chosen = _check_request(options)
    environment, injected_s = _stage_problem(task, seed, options)
    monitored = MonitoredWorld(environment.world, environment.cluster, environment.monitoring)
    facts = {"problem": task.id, "app": task.app.name, "nodes": NODES, "minutes": options.minutes or 0}
    return _write(monitored, chosen, seed, facts, _describe_truth(task, injected_s), options)


def export_case(task: Task, seed: int, options: ExportOptions) -> int:
    """Stage a problem, run it, and write it as a failure case of RCAEval; return the exit code. Raises ``UsageError``."""
    if not task.faults:
        raise UsageError(f"{task.id} has no fault, so there is no case. Choose another problem.")
    require_new_folder(options.out)
    environment, injected_s = _stage_problem(task, seed, options)
    world, fault = environment.world, task.faults[0]
    folder = options.out / f"{fault.truth.component}_{fault.name.replace('_', '-')}" / "1"
    case = Case(
        Period(nanoseconds(world.epoch_s + environment.baseline.start), _now_ns(world)),
        task.app.namespace,
        [known.name for known in task.app.components],
        injected_s,
        options.scrape_s,
        list_open_spans(),
    )
    try:
        rows = write_case(folder, _get_sources(world, environment.cluster, environment.monitoring), case)
    except ExportError as error:
        print(error, file=sys.stderr)
        return 1
    written = {"folder": str(folder), "injected_at": int(injected_s), "rows": rows}
    print(json.dumps(written, indent=2) if options.as_json else f"{folder}: {_format_counts(rows)}")
    return 0


def _stage_problem(task: Task, seed: int, options: ExportOptions) -> tuple[Environment, float]:
    """Return the world of a problem after the minutes that are asked for, and the Unix time of the injection."""
    environment = deploy(task, seed, _report, scrape_s=options.scrape_s)
    monitored = MonitoredWorld(environment.world, environment.cluster, environment.monitoring)
    _run_minutes(monitored, options.normal)
    injected_s = environment.world.epoch_s + environment.now
    stage(task, environment, _report)
    _run_minutes(monitored, options.minutes or 0)
    return environment, injected_s


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


def _check_request(options: ExportOptions) -> tuple[str, ...]:
    chosen = tuple(dict.fromkeys(name.strip() for name in options.formats.split(",")))
    try:
        check_request(options.out, chosen)
    except ExportError as error:
        raise UsageError(str(error)) from None
    check_folder(options.out, "--out")
    return chosen


def require_new_folder(out: Path) -> None:
    """Make a folder; raises ``UsageError`` if it is not empty or cannot be written to."""
    try:
        check_new_folder(out)
    except ExportError as error:
        raise UsageError(str(error)) from None
    check_folder(out, "--out")


def _run_minutes(monitored: MonitoredWorld, minutes: int) -> None:
    world, monitoring = monitored.world, monitored.monitoring
    for minute in range(1, minutes + 1):
        world.run_for(60.0)
        _report(
            f"minute {minute} of {minutes}: {monitoring.store.samples} samples, {len(world.emitter.logs)} log lines"
        )


def _write(
    monitored: MonitoredWorld,
    formats: tuple[str, ...],
    seed: int,
    more: dict[str, Any],
    truth: dict[str, Any] | None,
    options: ExportOptions,
) -> int:
    world, sources = monitored.world, _get_sources(*monitored)
    facts = Facts(seed, Period(nanoseconds(world.epoch_s), _now_ns(world)), more)
    try:
        manifest = write_dataset(options.out, sources, facts, formats, truth, tell=_report)
    except ExportError as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps(manifest, indent=2) if options.as_json else _summarize(manifest, options.out))
    return 0


def _get_sources(world: World, cluster: Cluster, monitoring: Monitoring) -> Sources:
    telemetry = world.emitter
    return Sources(telemetry.logs, monitoring.store, telemetry.traces, cluster.api.log, world.epoch_s)


def _now_ns(world: World) -> int:
    """Return the end of a period, which is exclusive, so that it includes what happened at this instant."""
    return nanoseconds(world.epoch_s + world.kernel.now) + 1


def _report(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def _summarize(manifest: dict[str, Any], out: Path) -> str:
    lines = [f"{out}: {manifest['start']} to {manifest['end']}, seed {manifest['seed']}"]
    for name, table in manifest["tables"].items():
        lines.append(f"  {name:<8} {table['rows']:>9} rows  {', '.join(table['files'])}")
    if manifest["metrics"]:
        lines.append(f"  {'metrics/':<8} {len(manifest['metrics']):>9} files, one per metric")
    if "otlp" in manifest:
        lines.append(f"  {'OTLP':<8} {_format_counts(manifest['otlp'])}")
    if manifest["ground_truth"]:
        lines.append(f"  ground truth: {manifest['ground_truth']}")
    return "\n".join(lines)


def _format_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({count})" for name, count in counts.items())
