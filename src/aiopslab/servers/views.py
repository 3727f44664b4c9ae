"""What the web page shows of a running session: requests, pods, events, logs, traces and severity, as JSON documents.

The views run in the session's process. They only read: virtual time does not pass, and nothing of the fault, the right answer or the
judge is in them while the session goes on. Except for severity, an agent could get all of it by its actions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from aiopslab.cloud import IncidentSite
from aiopslab.orchestrator import Orchestrator, Session
from aiopslab.orchestrator.evaluation import health
from aiopslab.servers.request_series import build_user_series
from aiopslab.servers.trace_views import view_topology, view_traces
from aiopslab.servers.view_parameters import InvalidView, Parameters, read_number
from simcloud.kubernetes.api import Object, at, times
from simcloud.kubernetes.api.tables import pod as pod_row
from simcloud.telemetry import list_workloads, pods_by_workload
from simcloud.telemetry.logs import SECOND_NS, search_lines
from simcloud.telemetry.metrics import Matcher

MAX_ROWS: Final = 500
MAX_LINE_CHARS: Final = 2000
WINDOW_S: Final = 30.0
WORKLOADS: Final = {
    "deployments": "apps",
    "statefulsets": "apps",
    "daemonsets": "apps",
    "replicasets": "apps",
    "pods": "",
}


def get_session(orchestrator: Orchestrator) -> tuple[Session, IncidentSite]:
    """Return the session and its environment; raises ``InvalidView`` before a problem is prepared."""
    if orchestrator.session is None:
        raise InvalidView("The session has no problem yet. Wait until it is open.")
    return orchestrator.session, orchestrator.session.problem.environment


def view_summary(orchestrator: Orchestrator, _parameters: Parameters) -> dict[str, Any]:
    """Return the time, the severity, and the users' requests of the last 30 seconds by journey."""
    session, environment = get_session(orchestrator)
    has_ended = session.ending is not None
    measured = session.steps[-1].health if has_ended and session.steps else health(environment)
    results, now = environment.users.results, session.ended_s if has_ended else environment.now
    journeys = []
    for name in results.journeys:
        found = results.between(now - WINDOW_S, now, name)
        journeys.append(
            {
                "journey": name,
                "requests": found.requests,
                "errors": found.errors,
                "p50_s": found.p50_s,
                "p99_s": found.p99_s,
            }
        )
    return {
        "time": format_time(environment.world.epoch_s + now),
        "elapsed_s": round(now - session.began_s, 3),
        "namespace": environment.namespace,
        "app": environment.app.name,
        "steps": len(session.steps),
        "max_steps": session.max_steps,
        "ending": session.ending,
        "severity": measured.severity,
        "failed": measured.failed,
        "slow": measured.slow,
        "window_s": WINDOW_S,
        "journeys": journeys,
    }


def view_series(orchestrator: Orchestrator, _parameters: Parameters) -> dict[str, Any]:
    """Return users' requests, errors and latencies over time, the severity after each step, and markers.

    Times are seconds since the session began. The marker of the injection is only there when the session has ended.
    """
    session, environment = get_session(orchestrator)
    has_ended = session.ending is not None
    began_s = session.began_s
    end_s = session.duration_s if has_ended else round(environment.now - began_s, 6)
    severity = [] if session.health is None else [{"at_s": 0.0, "severity": session.health.severity}]
    severity += [
        {"at_s": round(step.at_s + step.took_s, 6), "severity": step.health.severity}
        for step in session.steps
    ]
    markers: list[dict[str, Any]] = [
        {"at_s": step.at_s, "kind": "action", "number": step.number, "text": step.api_name or "no action"}
        for step in session.steps
    ]
    if has_ended:
        success = session.results.get("success")
        verdict = "no verdict" if success is None else "solved" if success else "not solved"
        markers.append({"at_s": end_s, "kind": "verdict", "text": verdict})
        if session.problem.faults and environment.injected_s is not None:
            markers.append(
                {
                    "at_s": round(environment.injected_s - began_s, 3),
                    "kind": "injection",
                    "text": "fault injected",
                }
            )
    else:
        severity.append({"at_s": end_s, "severity": health(environment).severity})
    results, start_s = environment.users.results, environment.baseline.start
    buckets = build_user_series(results, start_s, began_s + end_s, began_s)
    return {**buckets, "end_s": end_s, "severity": severity, "markers": markers}


def view_pods(orchestrator: Orchestrator, parameters: Parameters) -> dict[str, Any]:
    """Return the workloads and pods of a namespace, in kubectl's words."""
    _, environment = get_session(orchestrator)
    namespace, log = read_namespace(environment, parameters), environment.cluster.api.log
    items = {plural: log.objects(group, plural, namespace) for plural, group in WORKLOADS.items()}
    owners = {
        pod["metadata"]["name"]: name
        for (_, _, name), pods in pods_by_workload(items).items()
        for pod in pods
    }
    now_s = environment.cluster.api.now_s
    pods = []
    for pod in items["pods"][:MAX_ROWS]:
        name, ready, status, restarts, age, _, node, *_ = pod_row(pod, now_s)
        pods.append(
            {
                "name": name,
                "workload": owners.get(str(name), ""),
                "ready": ready,
                "status": status,
                "restarts": restarts,
                "age": age,
                "node": node,
            }
        )
    namespaces = [found["metadata"]["name"] for found in log.objects("", "namespaces")]
    return {
        "namespace": namespace,
        "namespaces": namespaces,
        "workloads": list_workloads(items)[:MAX_ROWS],
        "pods": pods,
    }


def view_events(orchestrator: Orchestrator, parameters: Parameters) -> dict[str, Any]:
    """Return the events of a namespace, the newest first."""
    _, environment = get_session(orchestrator)
    namespace = read_namespace(environment, parameters)
    events = sorted(
        environment.cluster.api.log.objects("", "events", namespace), key=_get_last_seen_s, reverse=True
    )
    return {"namespace": namespace, "events": [_format_event(event) for event in events[:MAX_ROWS]]}


def view_logs(orchestrator: Orchestrator, parameters: Parameters) -> dict[str, Any]:
    """Return the newest log lines of a workload or pod, or of the whole namespace, the oldest of them first."""
    _, environment = get_session(orchestrator)
    namespace = read_namespace(environment, parameters)
    limit = int(read_number(parameters, "lines", 200, 1, MAX_ROWS))
    name = parameters.get("workload", "")
    where = [_match_pods(environment, namespace, name)] if name else []
    found = search_lines(
        environment.monitoring.logs, namespace, text=parameters.get("text", ""), where=where, limit=limit
    )
    lines = []
    for line in reversed(found):
        labels = dict(line.labels)
        lines.append(
            {
                "time": format_time(line.time_ns / SECOND_NS),
                "pod": labels.get("pod", ""),
                "container": labels.get("container", ""),
                "text": line.text[:MAX_LINE_CHARS],
            }
        )
    return {"namespace": namespace, "workload": name, "lines": lines}


def _match_pods(environment: IncidentSite, namespace: str, name: str) -> Matcher:
    """Return a matcher for the pods of a workload, for one pod, or for the former pods of a workload without any."""
    log = environment.cluster.api.log
    items = {plural: log.objects(group, plural, namespace) for plural, group in WORKLOADS.items()}
    names = [
        pod["metadata"]["name"]
        for (_, _, workload), pods in pods_by_workload(items).items()
        for pod in pods
        if name in (workload, pod["metadata"]["name"])
    ]
    return Matcher("pod", "=~", "|".join(map(re.escape, names))) if names else Matcher("app", "=", name)


def read_namespace(environment: IncidentSite, parameters: Parameters) -> str:
    """Return the namespace of a request, the application's unless it names another; raises ``InvalidView``."""
    namespace = parameters.get("namespace") or environment.namespace
    known = [found["metadata"]["name"] for found in environment.cluster.api.log.objects("", "namespaces")]
    if namespace not in known:
        raise InvalidView(f"There is no namespace '{namespace[:100]}'. Choose one of: {', '.join(known)}.")
    return namespace


def format_time(time_s: float) -> str:
    """Return a time in seconds since 1970 as the cluster's date and time."""
    return datetime.fromtimestamp(time_s, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _format_event(event: Object) -> dict[str, Any]:
    about = event.get("involvedObject") or event.get("regarding") or {}
    return {
        "time": format_time(_get_last_seen_s(event)),
        "type": event.get("type") or "",
        "reason": event.get("reason") or "",
        "object": f"{str(about.get('kind', '')).lower()}/{about.get('name', '')}",
        "count": int(event.get("count") or at(event, "series", "count", default=None) or 1),
        "message": str(event.get("message") or event.get("note") or "")[:MAX_LINE_CHARS],
    }


def _get_last_seen_s(event: Object) -> float:
    return times.parse(
        at(event, "series", "lastObservedTime", default=None)
        or event.get("lastTimestamp")
        or event.get("eventTime")
        or event["metadata"]["creationTimestamp"]
    )


View = Callable[[Orchestrator, Parameters], object]

VIEWS: Final[Mapping[str, View]] = {
    "summary": view_summary,
    "series": view_series,
    "topology": lambda orchestrator, parameters: view_topology(get_session(orchestrator)[1], parameters),
    "pods": view_pods,
    "events": view_events,
    "logs": view_logs,
    "traces": lambda orchestrator, parameters: view_traces(get_session(orchestrator)[1], parameters),
}
"""The views by name. Each takes the orchestrator of a session and the query parameters, and raises ``InvalidView``."""


def describe(what: str, orchestrator: Orchestrator, parameters: Parameters) -> object:
    """Return the document of a view; raises ``InvalidView``."""
    if what not in VIEWS:
        raise InvalidView(f"There is no view '{what[:100]}'. Choose one of: {', '.join(VIEWS)}.")
    return VIEWS[what](orchestrator, parameters)
