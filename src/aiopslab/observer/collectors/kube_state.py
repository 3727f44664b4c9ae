"""kube-state-metrics: the objects of the API as numbers.

An object is read when it has changed; what it told stays until then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from aiopslab.cluster.api import quantity, times
from aiopslab.cluster.api.api import Api
from aiopslab.cluster.api.objects import Object
from aiopslab.observer.scrape import Reading

PHASES: Final = ("Pending", "Succeeded", "Failed", "Unknown", "Running")
STATUSES: Final = ("true", "false", "unknown")

Row = tuple[str, dict[str, str], float]
Teller = Callable[[Object], Iterator[Row]]


class KubeState:
    """Tells about all objects of an API."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._told: dict[str, tuple[str, list[Reading]]] = {}

    def read(self) -> Iterator[Reading]:
        """All readings of this moment."""
        known, self._told = self._told, {}
        for (group, plural), tell in TELLERS.items():
            for obj in self._api.log.objects(group, plural):
                metadata = obj["metadata"]
                uid, version = metadata["uid"], metadata["resourceVersion"]
                told = known.get(uid)
                if told is None or told[0] != version:
                    told = (version, [_reading(row) for row in tell(obj)])
                self._told[uid] = told
                yield from told[1]


def _reading(row: Row) -> Reading:
    name, labels, value = row
    return Reading(name, tuple(sorted(labels.items())), float(value))


def _names(obj: Object, kind: str) -> dict[str, str]:
    metadata = obj["metadata"]
    named = {kind: metadata["name"]}
    return named | {"namespace": metadata["namespace"]} if metadata.get("namespace") else named


def _created(obj: Object, kind: str, names: dict[str, str]) -> Row:
    return f"kube_{kind}_created", names, times.parse(obj["metadata"]["creationTimestamp"])


def _owners(obj: Object, kind: str, names: dict[str, str]) -> Iterator[Row]:
    for owner in obj["metadata"].get("ownerReferences") or ():
        is_controller = "true" if owner.get("controller") else "false"
        about = {
            "owner_kind": owner["kind"],
            "owner_name": owner["name"],
            "owner_is_controller": is_controller,
        }
        yield f"kube_{kind}_owner", names | about, 1


def _conditions(obj: Object, name: str, names: dict[str, str], label: str = "condition") -> Iterator[Row]:
    for condition in obj.get("status", {}).get("conditions") or ():
        for status in STATUSES:
            holds = condition["status"].lower() == status
            yield name, names | {label: condition["type"], "status": status}, holds


def _pod(pod: Object) -> Iterator[Row]:
    names, spec, status = _names(pod, "pod"), pod["spec"], pod.get("status", {})
    uid = {"uid": pod["metadata"]["uid"]}
    node = spec.get("nodeName", "")
    owner: Object = next(iter(pod["metadata"].get("ownerReferences") or ()), {})
    about = {"node": node, "pod_ip": status.get("podIP", ""), "host_ip": status.get("hostIP", "")}
    about |= {"created_by_kind": owner.get("kind", ""), "created_by_name": owner.get("name", "")}
    yield "kube_pod_info", names | uid | about, 1
    yield _created(pod, "pod", names | uid)
    yield from _owners(pod, "pod", names | uid)
    for phase in PHASES:
        yield "kube_pod_status_phase", names | uid | {"phase": phase}, status.get("phase") == phase
    for condition in status.get("conditions") or ():
        if condition["type"] in ("Ready", "PodScheduled"):
            name = "kube_pod_status_ready" if condition["type"] == "Ready" else "kube_pod_status_scheduled"
            for word in STATUSES:
                yield name, names | uid | {"condition": word}, condition["status"].lower() == word
    if status.get("reason"):
        yield "kube_pod_status_reason", names | uid | {"reason": status["reason"]}, 1
    for container in spec.get("containers") or ():
        yield from _resources(container, names | uid | {"container": container["name"], "node": node})
    for one in status.get("containerStatuses") or ():
        yield from _container(one, names | uid | {"container": one["name"]})


def _resources(container: Object, names: dict[str, str]) -> Iterator[Row]:
    for kind in ("requests", "limits"):
        for resource, amount in (container.get("resources", {}).get(kind) or {}).items():
            unit = (
                "core"
                if resource == "cpu"
                else "byte"
                if resource in ("memory", "ephemeral-storage")
                else "integer"
            )
            about = {"resource": resource.replace("-", "_"), "unit": unit}
            yield f"kube_pod_container_resource_{kind}", names | about, float(quantity.parse(amount))


def _container(status: Object, names: dict[str, str]) -> Iterator[Row]:
    prefix = "kube_pod_container_status"
    state, last = status.get("state") or {}, status.get("lastState") or {}
    yield f"{prefix}_restarts_total", names, status.get("restartCount", 0)
    yield f"{prefix}_ready", names, bool(status.get("ready"))
    yield "kube_pod_container_info", names | {"image": status.get("image", "")}, 1
    for word in ("running", "waiting", "terminated"):
        yield f"{prefix}_{word}", names, word in state
    for name, part in (
        (f"{prefix}_waiting_reason", state.get("waiting")),
        (f"{prefix}_terminated_reason", state.get("terminated")),
        (f"{prefix}_last_terminated_reason", last.get("terminated")),
    ):
        if part and part.get("reason"):
            yield name, names | {"reason": part["reason"]}, 1
    if "terminated" in last:
        yield f"{prefix}_last_terminated_exitcode", names, last["terminated"].get("exitCode", 0)


def _node(node: Object) -> Iterator[Row]:
    names, status = _names(node, "node"), node.get("status", {})
    facts = status.get("nodeInfo", {})
    about = {
        "kernel_version": facts.get("kernelVersion", ""),
        "os_image": facts.get("osImage", ""),
        "container_runtime_version": facts.get("containerRuntimeVersion", ""),
        "kubelet_version": facts.get("kubeletVersion", ""),
    }
    yield "kube_node_info", names | about, 1
    yield _created(node, "node", names)
    yield "kube_node_spec_unschedulable", names, bool(node["spec"].get("unschedulable"))
    for taint in node["spec"].get("taints") or ():
        told = {"key": taint["key"], "value": taint.get("value", ""), "effect": taint["effect"]}
        yield "kube_node_spec_taint", names | told, 1
    yield from _conditions(node, "kube_node_status_condition", names)
    for kind in ("capacity", "allocatable"):
        for resource, amount in (status.get(kind) or {}).items():
            unit = "core" if resource == "cpu" else "integer" if resource == "pods" else "byte"
            told = {"resource": resource.replace("-", "_"), "unit": unit}
            yield f"kube_node_status_{kind}", names | told, float(quantity.parse(amount))


def _numbers(kind: str, spec: dict[str, str], status: dict[str, str]) -> Teller:
    """Tells numbers of an object's spec and status; what is not there is none."""

    def tell(obj: Object) -> Iterator[Row]:
        names = _names(obj, kind)
        yield _created(obj, kind, names)
        yield f"kube_{kind}_metadata_generation", names, obj["metadata"].get("generation", 0)
        for part, fields in (("spec", spec), ("status", status)):
            content = obj.get(part) or {}
            for name, field in fields.items():
                yield f"kube_{kind}_{name}", names, float(content.get(field) or 0)
        yield from _owners(obj, kind, names)
        if kind == "deployment":
            yield from _conditions(obj, "kube_deployment_status_condition", names)

    return tell


def _job(job: Object) -> Iterator[Row]:
    names, status = _names(job, "job_name"), job.get("status", {})
    yield _created(job, "job", names)
    for name in ("active", "failed", "succeeded"):
        yield f"kube_job_status_{name}", names, status.get(name) or 0
    for condition in status.get("conditions") or ():
        told = {"Failed": "kube_job_failed", "Complete": "kube_job_complete"}.get(condition["type"])
        for word in STATUSES if told else ():
            yield str(told), names | {"condition": word}, condition["status"].lower() == word
    yield from _owners(job, "job", names)


def _endpoints(obj: Object) -> Iterator[Row]:
    names = _names(obj, "endpoint")
    subsets = obj.get("subsets") or ()
    for name, field in (("available", "addresses"), ("not_ready", "notReadyAddresses")):
        count = sum(len(subset.get(field) or ()) * len(subset.get("ports") or (0,)) for subset in subsets)
        yield f"kube_endpoint_address_{name}", names, count


def _autoscaler(obj: Object) -> Iterator[Row]:
    kind = "horizontalpodautoscaler"
    names, spec, status = _names(obj, kind), obj["spec"], obj.get("status", {})
    yield f"kube_{kind}_spec_min_replicas", names, spec.get("minReplicas", 1)
    yield f"kube_{kind}_spec_max_replicas", names, spec["maxReplicas"]
    yield f"kube_{kind}_status_current_replicas", names, status.get("currentReplicas") or 0
    yield f"kube_{kind}_status_desired_replicas", names, status.get("desiredReplicas") or 0


def _claim(obj: Object) -> Iterator[Row]:
    names = _names(obj, "persistentvolumeclaim")
    for phase in ("Lost", "Bound", "Pending"):
        yield (
            "kube_persistentvolumeclaim_status_phase",
            names | {"phase": phase},
            obj.get("status", {}).get("phase") == phase,
        )


def _quota(obj: Object) -> Iterator[Row]:
    names = _names(obj, "resourcequota")
    for kind in ("hard", "used"):
        for resource, amount in (obj.get("status", {}).get(kind) or {}).items():
            yield (
                "kube_resourcequota",
                names | {"resource": resource, "type": kind},
                float(quantity.parse(amount)),
            )


def _service(obj: Object) -> Iterator[Row]:
    names, spec = _names(obj, "service"), obj["spec"]
    yield "kube_service_info", names | {"cluster_ip": spec.get("clusterIP", "")}, 1
    yield "kube_service_spec_type", names | {"type": spec.get("type", "ClusterIP")}, 1


def _namespace(obj: Object) -> Iterator[Row]:
    for phase in ("Active", "Terminating"):
        labels: dict[str, Any] = {"namespace": obj["metadata"]["name"], "phase": phase}
        yield "kube_namespace_status_phase", labels, obj.get("status", {}).get("phase") == phase


_REPLICAS: Final = {"status_replicas": "replicas", "status_observed_generation": "observedGeneration"}
TELLERS: Final[dict[tuple[str, str], Teller]] = {
    ("", "pods"): _pod,
    ("", "nodes"): _node,
    ("", "services"): _service,
    ("", "endpoints"): _endpoints,
    ("", "namespaces"): _namespace,
    ("", "persistentvolumeclaims"): _claim,
    ("", "resourcequotas"): _quota,
    ("batch", "jobs"): _job,
    ("autoscaling", "horizontalpodautoscalers"): _autoscaler,
    ("apps", "deployments"): _numbers(
        "deployment",
        {"spec_replicas": "replicas", "spec_paused": "paused"},
        _REPLICAS
        | {"status_replicas_available": "availableReplicas", "status_replicas_ready": "readyReplicas"}
        | {
            "status_replicas_unavailable": "unavailableReplicas",
            "status_replicas_updated": "updatedReplicas",
        },
    ),
    ("apps", "replicasets"): _numbers(
        "replicaset", {"spec_replicas": "replicas"}, _REPLICAS | {"status_ready_replicas": "readyReplicas"}
    ),
    ("apps", "statefulsets"): _numbers(
        "statefulset",
        {"replicas": "replicas"},
        _REPLICAS
        | {"status_replicas_ready": "readyReplicas", "status_replicas_current": "currentReplicas"}
        | {"status_replicas_available": "availableReplicas", "status_replicas_updated": "updatedReplicas"},
    ),
    ("apps", "daemonsets"): _numbers(
        "daemonset",
        {},
        {
            "status_desired_number_scheduled": "desiredNumberScheduled",
            "status_current_number_scheduled": "currentNumberScheduled",
            "status_number_ready": "numberReady",
            "status_number_available": "numberAvailable",
            "status_number_unavailable": "numberUnavailable",
            "status_number_misscheduled": "numberMisscheduled",
            "status_observed_generation": "observedGeneration",
        },
    ),
}
