"""kube-state-metrics: the objects of the API as metrics.

The readings of an object are computed when it changes and kept until then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from simcloud.kubernetes.api import Api, Object, quantity, times
from simcloud.telemetry.scrape import Reading, Readings, Report

STATUSES: Final = ("true", "false", "unknown")

Row = tuple[str, dict[str, str], float]
RowSource = Callable[[Object], Iterator[Row]]


def names_of(obj: Object, kind: str) -> dict[str, str]:
    """Return the labels that identify an object."""
    metadata = obj["metadata"]
    named = {kind: metadata["name"]}
    return named | {"namespace": metadata["namespace"]} if metadata.get("namespace") else named


def creation_row(obj: Object, kind: str, names: dict[str, str]) -> Row:
    """Return the row of an object's creation time."""
    return f"kube_{kind}_created", names, times.parse(obj["metadata"]["creationTimestamp"])


def owners_of(obj: Object, kind: str, names: dict[str, str]) -> Iterator[Row]:
    """Whose an object is."""
    for owner in obj["metadata"].get("ownerReferences") or ():
        is_controller = "true" if owner.get("controller") else "false"
        about = {
            "owner_kind": owner["kind"],
            "owner_name": owner["name"],
            "owner_is_controller": is_controller,
        }
        yield f"kube_{kind}_owner", names | about, 1


def conditions_of(obj: Object, name: str, names: dict[str, str], label: str = "condition") -> Iterator[Row]:
    """Yield an object's conditions, each with its three statuses."""
    for condition in obj.get("status", {}).get("conditions") or ():
        for status in STATUSES:
            holds = condition["status"].lower() == status
            yield name, names | {label: condition["type"], "status": status}, holds


def numbers_of(kind: str, spec: dict[str, str], status: dict[str, str]) -> RowSource:
    """Return a source of rows for numbers in an object's spec and status; missing ones are 0."""

    def list_rows(obj: Object) -> Iterator[Row]:
        names = names_of(obj, kind)
        yield creation_row(obj, kind, names)
        yield f"kube_{kind}_metadata_generation", names, obj["metadata"].get("generation", 0)
        for part, fields in (("spec", spec), ("status", status)):
            content = obj.get(part) or {}
            for name, field in fields.items():
                yield f"kube_{kind}_{name}", names, float(content.get(field) or 0)
        yield from owners_of(obj, kind, names)
        if kind == "deployment":
            yield from conditions_of(obj, "kube_deployment_status_condition", names)

    return list_rows


ROLE: Final = "node-role.kubernetes.io/"
PHASES: Final = ("Pending", "Succeeded", "Failed", "Unknown", "Running")


def pod_rows(pod: Object) -> Iterator[Row]:
    """Yield the metrics of a pod and its containers."""
    names, spec, status = names_of(pod, "pod"), pod["spec"], pod.get("status", {})
    uid = {"uid": pod["metadata"]["uid"]}
    node = spec.get("nodeName", "")
    owner: Object = next(iter(pod["metadata"].get("ownerReferences") or ()), {})
    about = {"node": node, "pod_ip": status.get("podIP", ""), "host_ip": status.get("hostIP", "")}
    about |= {"created_by_kind": owner.get("kind", ""), "created_by_name": owner.get("name", "")}
    yield "kube_pod_info", names | uid | about, 1
    yield creation_row(pod, "pod", names | uid)
    yield from owners_of(pod, "pod", names | uid)
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
    for kind, listed in (("container", "containerStatuses"), ("init_container", "initContainerStatuses")):
        for container_status in status.get(listed) or ():
            labels = names | uid | {"container": container_status["name"]}
            yield from _container(kind, container_status, labels)


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


def _container(kind: str, status: Object, names: dict[str, str]) -> Iterator[Row]:
    prefix = f"kube_pod_{kind}_status"
    state, last = status.get("state") or {}, status.get("lastState") or {}
    yield f"{prefix}_restarts_total", names, status.get("restartCount", 0)
    yield f"{prefix}_ready", names, bool(status.get("ready"))
    yield f"kube_pod_{kind}_info", names | {"image": status.get("image", "")}, 1
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


def node_rows(node: Object) -> Iterator[Row]:
    """Yield the metrics of a node."""
    names, status = names_of(node, "node"), node.get("status", {})
    facts = status.get("nodeInfo", {})
    about = {
        "kernel_version": facts.get("kernelVersion", ""),
        "os_image": facts.get("osImage", ""),
        "container_runtime_version": facts.get("containerRuntimeVersion", ""),
        "kubelet_version": facts.get("kubeletVersion", ""),
    }
    yield "kube_node_info", names | about, 1
    yield creation_row(node, "node", names)
    yield "kube_node_spec_unschedulable", names, bool(node["spec"].get("unschedulable"))
    for label in node["metadata"].get("labels") or ():
        if label.startswith(ROLE):
            yield "kube_node_role", names | {"role": label.removeprefix(ROLE)}, 1
    for taint in node["spec"].get("taints") or ():
        labels = {"key": taint["key"], "value": taint.get("value", ""), "effect": taint["effect"]}
        yield "kube_node_spec_taint", names | labels, 1
    yield from conditions_of(node, "kube_node_status_condition", names)
    for kind in ("capacity", "allocatable"):
        for resource, amount in (status.get(kind) or {}).items():
            unit = "core" if resource == "cpu" else "integer" if resource == "pods" else "byte"
            labels = {"resource": resource.replace("-", "_"), "unit": unit}
            yield f"kube_node_status_{kind}", names | labels, float(quantity.parse(amount))


def _job(job: Object) -> Iterator[Row]:
    names, status = names_of(job, "job_name"), job.get("status", {})
    yield creation_row(job, "job", names)
    for name in ("active", "failed", "succeeded"):
        yield f"kube_job_status_{name}", names, status.get(name) or 0
    for condition in status.get("conditions") or ():
        metric = {"Failed": "kube_job_failed", "Complete": "kube_job_complete"}.get(condition["type"])
        for word in STATUSES if metric else ():
            yield str(metric), names | {"condition": word}, condition["status"].lower() == word
    yield from owners_of(job, "job", names)


def _endpoints(obj: Object) -> Iterator[Row]:
    names = names_of(obj, "endpoint")
    subsets = obj.get("subsets") or ()
    for name, field in (("available", "addresses"), ("not_ready", "notReadyAddresses")):
        count = sum(len(subset.get(field) or ()) * len(subset.get("ports") or (0,)) for subset in subsets)
        yield f"kube_endpoint_address_{name}", names, count


def _autoscaler(obj: Object) -> Iterator[Row]:
    kind = "horizontalpodautoscaler"
    names, spec, status = names_of(obj, kind), obj["spec"], obj.get("status", {})
    yield f"kube_{kind}_spec_min_replicas", names, spec.get("minReplicas", 1)
    yield f"kube_{kind}_spec_max_replicas", names, spec["maxReplicas"]
    yield f"kube_{kind}_status_current_replicas", names, status.get("currentReplicas") or 0
    yield f"kube_{kind}_status_desired_replicas", names, status.get("desiredReplicas") or 0


def _claim(obj: Object) -> Iterator[Row]:
    names = names_of(obj, "persistentvolumeclaim")
    for phase in ("Lost", "Bound", "Pending"):
        yield (
            "kube_persistentvolumeclaim_status_phase",
            names | {"phase": phase},
            obj.get("status", {}).get("phase") == phase,
        )


def _volume(obj: Object) -> Iterator[Row]:
    names, status = names_of(obj, "persistentvolume"), obj.get("status", {})
    for phase in ("Pending", "Available", "Bound", "Released", "Failed"):
        yield "kube_persistentvolume_status_phase", names | {"phase": phase}, status.get("phase") == phase
    amount = obj["spec"].get("capacity", {}).get("storage", "0")
    yield "kube_persistentvolume_capacity_bytes", names, float(quantity.parse(amount))


def _cron_job(obj: Object) -> Iterator[Row]:
    names, spec, status = names_of(obj, "cronjob"), obj["spec"], obj.get("status", {})
    about = {"schedule": spec["schedule"], "concurrency_policy": spec.get("concurrencyPolicy", "Allow")}
    yield "kube_cronjob_info", names | about, 1
    yield creation_row(obj, "cronjob", names)
    yield "kube_cronjob_spec_suspend", names, bool(spec.get("suspend"))
    yield "kube_cronjob_status_active", names, len(status.get("active") or ())
    for name, field in (("schedule", "lastScheduleTime"), ("successful", "lastSuccessfulTime")):
        if status.get(field):
            yield f"kube_cronjob_status_last_{name}_time", names, times.parse(status[field])


def _quota(obj: Object) -> Iterator[Row]:
    names = names_of(obj, "resourcequota")
    for kind in ("hard", "used"):
        for resource, amount in (obj.get("status", {}).get(kind) or {}).items():
            yield (
                "kube_resourcequota",
                names | {"resource": resource, "type": kind},
                float(quantity.parse(amount)),
            )


def _service(obj: Object) -> Iterator[Row]:
    names, spec = names_of(obj, "service"), obj["spec"]
    yield "kube_service_info", names | {"cluster_ip": spec.get("clusterIP", "")}, 1
    yield "kube_service_spec_type", names | {"type": spec.get("type", "ClusterIP")}, 1


def _namespace(obj: Object) -> Iterator[Row]:
    for phase in ("Active", "Terminating"):
        labels: dict[str, Any] = {"namespace": obj["metadata"]["name"], "phase": phase}
        yield "kube_namespace_status_phase", labels, obj.get("status", {}).get("phase") == phase


_REPLICAS: Final = {"status_replicas": "replicas", "status_observed_generation": "observedGeneration"}
ROW_SOURCES: Final[dict[tuple[str, str], RowSource]] = {
    ("", "pods"): pod_rows,
    ("", "nodes"): node_rows,
    ("", "services"): _service,
    ("", "endpoints"): _endpoints,
    ("", "namespaces"): _namespace,
    ("", "persistentvolumeclaims"): _claim,
    ("", "persistentvolumes"): _volume,
    ("", "resourcequotas"): _quota,
    ("batch", "cronjobs"): _cron_job,
    ("policy", "poddisruptionbudgets"): numbers_of(
        "poddisruptionbudget",
        {},
        {
            "status_current_healthy": "currentHealthy",
            "status_desired_healthy": "desiredHealthy",
            "status_pod_disruptions_allowed": "disruptionsAllowed",
            "status_expected_pods": "expectedPods",
            "status_observed_generation": "observedGeneration",
        },
    ),
    ("batch", "jobs"): _job,
    ("autoscaling", "horizontalpodautoscalers"): _autoscaler,
    ("apps", "deployments"): numbers_of(
        "deployment",
        {"spec_replicas": "replicas", "spec_paused": "paused"},
        _REPLICAS
        | {"status_replicas_available": "availableReplicas", "status_replicas_ready": "readyReplicas"}
        | {
            "status_replicas_unavailable": "unavailableReplicas",
            "status_replicas_updated": "updatedReplicas",
        },
    ),
    ("apps", "replicasets"): numbers_of(
        "replicaset", {"spec_replicas": "replicas"}, _REPLICAS | {"status_ready_replicas": "readyReplicas"}
    ),
    ("apps", "statefulsets"): numbers_of(
        "statefulset",
        {"replicas": "replicas"},
        _REPLICAS
        | {"status_replicas_ready": "readyReplicas", "status_replicas_current": "currentReplicas"}
        | {"status_replicas_available": "availableReplicas", "status_replicas_updated": "updatedReplicas"},
    ),
    ("apps", "daemonsets"): numbers_of(
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


class _Kind(NamedTuple):
    """The readings of all objects of a resource."""

    newest: int
    """The number of the newest write to the resource when they were made."""
    readings: Readings
    entries: dict[str, tuple[str, Readings]]
    """The version and the readings of each object, by its uid."""


class KubeState:
    """The metrics of all objects of an API."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._kinds = {source: _Kind(-1, [], {}) for source in ROW_SOURCES}
        self._report = Report()

    def read(self) -> Report:
        """Return all readings of this moment. Only the objects of resources with new writes are looked at."""
        log, changed = self._api.log, False
        for source, kind in self._kinds.items():
            newest = log.newest((source,))
            if newest != kind.newest:
                self._kinds[source] = self._read_kind(source, newest, kind.entries)
                changed = True
        if changed:
            self._report = Report()
            for kind in self._kinds.values():
                self._report.add_readings(kind.readings)
        return self._report

    def _read_kind(
        self, source: tuple[str, str], newest: int, known: dict[str, tuple[str, Readings]]
    ) -> _Kind:
        kind = _Kind(newest, [], {})
        for obj in self._api.log.objects(*source):
            metadata = obj["metadata"]
            uid, version = metadata["uid"], metadata["resourceVersion"]
            entry = known.get(uid)
            if entry is None or entry[0] != version:
                entry = (version, _readings(ROW_SOURCES[source](obj), entry[1] if entry else []))
            kind.entries[uid] = entry
            kind.readings.extend(entry[1])
        return kind


def _readings(rows: Iterator[Row], before: Readings) -> Readings:
    """Return an object's rows as readings; those of the object as it was before go on, with their new values."""
    known = {(reading.name, reading.labels): reading for reading in before}
    out: Readings = []
    for name, labels, value in rows:
        key = (name, tuple(sorted(labels.items())))
        reading = known.get(key) or Reading(*key)
        reading.value = float(value)
        out.append(reading)
    return out
