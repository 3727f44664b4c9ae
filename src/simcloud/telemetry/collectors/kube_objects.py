"""All other kinds of objects as numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from simcloud.kubernetes.api import quantity, times
from simcloud.kubernetes.api.objects import Object
from simcloud.telemetry.collectors.kube_pods import node_rows, pod_rows
from simcloud.telemetry.collectors.kube_rows import (
    STATUSES,
    Row,
    Teller,
    created,
    names_of,
    numbers_of,
    owners_of,
)


def _job(job: Object) -> Iterator[Row]:
    names, status = names_of(job, "job_name"), job.get("status", {})
    yield created(job, "job", names)
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
    yield created(obj, "cronjob", names)
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
TELLERS: Final[dict[tuple[str, str], Teller]] = {
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
