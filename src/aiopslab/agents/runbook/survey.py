"""A survey of an application: what a careful engineer looks at first, read with a handful of commands."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, TypeVar

from aiopslab.agents.floors import format_call
from aiopslab.orchestrator import NEXT

T = TypeVar("T")
Steps: TypeAlias = Generator[str, str, T]
"""Yields actions, is sent observations, returns a result."""
Object: TypeAlias = dict[str, Any]

STORES: Final = ("mongo", "redis", "memcached", "mysql", "postgres")
"""Parts of the names of databases and caches."""
ERROR_WORDS: Final = (
    "error|fail|refused|timed? ?out|unavailable|denied|not authorized|no such host|panic|fatal|FTL|unhealthy"
)
WORKLOADS: Final = """kubectl -n {ns} get deployments,pods -o json | jq -c '.items[] | if .kind == "Deployment" then
 {kind, name: .metadata.name, wanted: .spec.replicas, ready: (.status.readyReplicas // 0),
  failures: [.status.conditions[]? | select(.type == "ReplicaFailure") | .message]}
 else {kind, name: .metadata.name, owner: (.metadata.ownerReferences[0].name // ""), node: (.spec.nodeName // ""),
  phase: .status.phase, ready: ([.status.containerStatuses[]?.ready] | length > 0 and all)}
  + if .status.phase == "Running" and ([.status.containerStatuses[]?.ready] | all) and
       ([.status.containerStatuses[]?.restartCount] | add) == 0 then {} else
    {ended: ([.status.containerStatuses[]?.lastState.terminated.finishedAt | values] | max),
     message: ([.status.conditions[]?.message, .status.message, (.status.containerStatuses[]?.state.waiting.message) | values] | join("; ") | .[:400])} end end'"""
SERVICES: Final = """kubectl -n {ns} get services,deployments,networkpolicies,ingresses -o json | jq -c '.items[] |
 if .kind == "Service" then {kind, name: .metadata.name, type: .spec.type, selector: .spec.selector, ports: [.spec.ports[]? | [.port, .targetPort, .protocol, .name]]}
 elif .kind == "Deployment" then {kind, name: .metadata.name, labels: .spec.template.metadata.labels, ports: [.spec.template.spec.containers[].ports[]? | [.containerPort, .name]]}
 else {kind, name: .metadata.name, spec, age_s: (now - (.metadata.creationTimestamp | fromdate))} end'
kubectl get ingressclasses -o json | jq -c '.items[] | {kind, name: .metadata.name}'"""
CLUSTER: Final = """kubectl get nodes -o json | jq -c '.items[] | {kind, name: .metadata.name, address: .status.addresses[0].address,
 unschedulable: (.spec.unschedulable // false),
 taints: [.spec.taints[]? | select(.key | test("^node(-role)?\\\\.kubernetes\\\\.io/") | not) | .key + ":" + .effect],
 trouble: [.status.conditions[] | select((.type == "Ready") != (.status == "True")) | .type + ": " + .message]}'
kubectl get events -A -o json | jq -c '[.items[] | select(.involvedObject.kind == "Node" and .reason == "NodeNotReady")] | group_by(.involvedObject.name)[] |
 {kind: "Lost", name: .[0].involvedObject.name, count: (map(.count // 1) | add)}'
kubectl -n kube-system get deployments,daemonsets -o json | jq -c '.items[] | {kind: "System", of: .kind, name: .metadata.name,
 selector: .spec.template.spec.nodeSelector,
 wanted: (.spec.replicas // .status.desiredNumberScheduled), ready: (.status.readyReplicas // .status.numberReady // 0)}'
kubectl get services -A -o json | jq -c '.items[] | select(.metadata.name | startswith("prometheus")) |
 {kind: "Metrics", port: .spec.ports[0].nodePort}'"""
QUERY: Final = (
    "curl -s http://{address}:{port}/api/v1/query --data-urlencode 'query={query}' | "
    "jq -c '.data.result[]? | {{kind: \"{kind}\"}} + .metric + {{value: (.value[1] | tonumber)}}'"
)
QUERIES: Final[Mapping[str, str]] = {
    "Calls": "sum by (service, peer) (increase(CLIENT_requests_total[1m]))",
    "Usual": "max_over_time(sum by (service, peer) (increase(CLIENT_requests_total[1m]))[8m:30s])",
    "Errors": "sum by (service, peer, code) (increase(CLIENT_errors_total[1m])) > 0",
    "Answers": "sum by (service, code) (increase(SERVER_errors_total[1m])) > 0",
    "Served": "sum by (service) (increase(SERVER_requests_total[1m])) > 0",
    "Takes": "sum by (service, peer) (rate(CLIENT_duration_seconds_sum[1m])) / sum by (service, peer) (rate(CLIENT_duration_seconds_count[1m]))",
    "Took": "min_over_time((sum by (service, peer) (rate(CLIENT_duration_seconds_sum[1m])) / "
    "sum by (service, peer) (rate(CLIENT_duration_seconds_count[1m])))[8m:30s])",
}
"""Queries of the last minute, and of what was usual in the last minutes."""
METRIC: Final = re.compile(r"(CLIENT|SERVER)(\w+)")
LOGS: Final = (
    "for name in $(kubectl -n {ns} get deployments -o name); do kubectl -n {ns} logs $name --since=70s --tail=400 2> /dev/null "
    f"| grep -iE '{ERROR_WORDS}' > errors.txt; "
    """n=$(wc -l < errors.txt); if [ $n -gt 0 ]; then jq -cn --arg n "$n" --arg name "${name#*/}" --arg last "$(tail -1 errors.txt | cut -c1-400)" """
    """'{kind: "Log", name: $name, count: ($n | tonumber), last: $last}'; fi; done"""
)


@dataclass
class Survey:
    """What was seen: objects by kind and name, and figures of the last minute by the ends of a call."""

    deployments: dict[str, Object] = field(default_factory=dict)
    pods: list[Object] = field(default_factory=list)
    services: dict[str, Object] = field(default_factory=dict)
    templates: dict[str, Object] = field(default_factory=dict)
    policies: list[Object] = field(default_factory=list)
    ingresses: list[Object] = field(default_factory=list)
    ingress_classes: list[str] = field(default_factory=list)
    nodes: dict[str, Object] = field(default_factory=dict)
    lost_nodes: dict[str, int] = field(default_factory=dict)
    """How often each node was lost in the last hour."""
    system: list[Object] = field(default_factory=list)
    calls: dict[str, list[Object]] = field(default_factory=dict)
    logs: dict[str, Object] = field(default_factory=dict)
    unreachable: list[str] = field(default_factory=list)
    """Stores that run, but that a component which cannot start waits for."""

    def pods_of(self, deployment: str) -> list[Object]:
        """Return the pods of a Deployment."""
        return [pod for pod in self.pods if pod["owner"].rpartition("-")[0] == deployment]

    @property
    def unready(self) -> list[str]:
        """The Deployments with too few ready pods, or with none wanted; databases and pods that cannot start come first."""
        found = [
            name
            for name, known in self.deployments.items()
            if known["ready"] < known["wanted"] or not known["wanted"]
        ]
        return sorted(found, key=lambda name: (not is_store(name), not self.is_stuck(name)))

    def is_stuck(self, deployment: str) -> bool:
        """Return whether a Deployment's pods are missing, or their containers have never run."""
        pods = self.pods_of(deployment)
        return not pods or any(pod["phase"] == "Pending" for pod in pods)

    @property
    def restarting(self) -> list[str]:
        """The Deployments whose pods are evicted, and those whose containers have ended."""
        pods = {name: self.pods_of(name) for name in self.deployments}
        evicted = [name for name in pods if any(pod["phase"] == "Failed" for pod in pods[name])]
        ended = [name for name in pods if any(pod.get("ended") for pod in pods[name])]
        return list(dict.fromkeys((*evicted, *ended)))

    @property
    def failing_calls(self) -> list[tuple[str, str, float]]:
        """The calls that fail: caller, callee, and the share that fails."""
        total = self._get_values("Calls")
        failed: dict[tuple[str, str], float] = {}
        for call in self.calls.get("Errors", ()):
            ends = (call["service"], call.get("peer", ""))
            failed[ends] = failed.get(ends, 0.0) + call["value"]
        return [(*ends, count / max(total.get(ends, count), 1.0)) for ends, count in failed.items()]

    @property
    def slow_calls(self) -> list[tuple[str, str, float]]:
        """The calls that take several times as long as they can: caller, callee, and the time in seconds."""
        took = self._get_values("Took")
        return [
            (*ends, seconds)
            for ends, seconds in self._get_values("Takes").items()
            if seconds > max(0.05, 4 * took.get(ends, seconds))
        ]

    @property
    def silent_calls(self) -> list[tuple[str, str]]:
        """The calls that are hardly made, or do not end, any more."""
        now = self._get_values("Calls")
        usual = self._get_values("Usual").items()
        return [ends for ends, count in usual if count > 20 and now.get(ends, 0.0) < count / 10]

    @property
    def bad_callees(self) -> tuple[str, ...]:
        """The components at the end of calls that fail, are slow or are missing, and that do not fail in calls of their own."""
        callees = [callee for _, callee, _ in (*self.failing_calls, *self.slow_calls)]
        callees += [callee for _, callee in self.silent_calls]
        callers = {caller for caller, _, _ in self.failing_calls}
        others = (callee for callee in callees if callee and callee not in callers)
        return tuple(dict.fromkeys((*self.unreachable, *others)))

    def _get_values(self, kind: str) -> dict[tuple[str, str], float]:
        return {
            (call["service"], call["peer"]): call["value"]
            for call in self.calls.get(kind, ())
            if "peer" in call
        }


def is_store(name: str) -> bool:
    """Return whether a component is a database or a cache, by its name."""
    return any(word in name for word in STORES)


def run(line: str, timeout_s: int = 60) -> Steps[str]:
    """Run a line in the terminal; return its output."""
    observation = yield format_call("exec_shell", line, timeout_s)
    return observation.removesuffix(NEXT).rstrip()


def parse_lines(text: str) -> Iterator[Object]:
    """Yield the objects of an output, without lines that were cut or that are something else, such as JSON logs."""
    for line in text.splitlines():
        if line.startswith('{"kind":'):
            try:
                yield json.loads(line)
            except ValueError:
                continue


def survey(namespace: str) -> Steps[Survey]:
    """Look at workloads, Services, nodes, calls and logs."""
    found = Survey()
    for line in (WORKLOADS, SERVICES, f"{CLUSTER}; {LOGS}"):
        for thing in parse_lines((yield from run(line.replace("{ns}", namespace)))):
            _sort_in(found, thing)
    yield from _read_calls(found, namespace)
    return found


def _sort_in(found: Survey, thing: Object) -> None:
    match thing["kind"]:
        case "Deployment" if "wanted" in thing:
            found.deployments[thing["name"]] = thing
        case "Deployment":
            found.templates[thing["name"]] = thing
        case "Pod":
            found.pods.append(thing)
        case "Service":
            found.services[thing["name"]] = thing
        case "NetworkPolicy":
            found.policies.append(thing)
        case "Ingress":
            found.ingresses.append(thing)
        case "IngressClass":
            found.ingress_classes.append(thing["name"])
        case "Log":
            found.logs[thing["name"]] = thing
        case "Lost":
            found.lost_nodes[thing["name"]] = thing["count"]
        case "Node":
            found.nodes[thing["name"]] = thing
        case _:
            found.system.append(thing)


def _read_calls(found: Survey, namespace: str) -> Steps[None]:
    """Ask Prometheus for the calls between the services."""
    ports = [thing["port"] for thing in found.system if thing["kind"] == "Metrics" and thing["port"]]
    address = next((node["address"] for node in found.nodes.values()), "")
    if not ports or not address:
        return
    line = "; ".join(
        QUERY.format(address=address, port=ports[0], kind=kind, query=_write_query(query, namespace))
        for kind, query in QUERIES.items()
    )
    for thing in parse_lines((yield from run(line))):
        if thing["value"] is not None:  # not NaN
            found.calls.setdefault(thing["kind"], []).append(thing)


def _write_query(query: str, namespace: str) -> str:
    """Fill in the selectors of metrics, whatever the protocol of the calls is."""

    def select(match: re.Match[str]) -> str:
        side, rest = match.groups()
        return f'{{__name__=~".+_{side.lower()}{rest}", namespace="{namespace}"}}'

    return METRIC.sub(select, query)
