"""Sound objects to break: decoded, with their defaults set."""

from __future__ import annotations

from typing import Any

from simcloud.kubernetes.api import validation
from simcloud.kubernetes.api.objects import Object, copy as copied
from simcloud.kubernetes.api.resources import Catalogue

CATALOGUE = Catalogue()
GONE = object()
"""The value of a change that removes a field."""


def container(**more: Any) -> Object:
    return {
        "name": "app",
        "image": "nginx",
        "imagePullPolicy": "Always",
        "resources": {},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        **more,
    }


def pod_spec(restart: str = "Always") -> Object:
    return {
        "containers": [container()],
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": restart,
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
    }


def template(restart: str = "Always") -> Object:
    return {"metadata": {"labels": {"app": "web"}}, "spec": pod_spec(restart)}


def _made(api_version: str, kind: str, spec: Object) -> Object:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {
            "name": "web",
            "namespace": "demo",
            "uid": "u1",
            "resourceVersion": "7",
            "generation": 1,
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": spec,
        "status": {},
    }


def _workload(kind: str, **more: Any) -> Object:
    selector = {"matchLabels": {"app": "web"}}
    return _made("apps/v1", kind, {"selector": selector, "template": template(), **more})


def _job_spec(**more: Any) -> Object:
    return {
        "parallelism": 1,
        "completions": 1,
        "backoffLimit": 6,
        "completionMode": "NonIndexed",
        "suspend": False,
        "podReplacementPolicy": "TerminatingOrFailed",
        "template": template("Never"),
        **more,
    }


def _job() -> Object:
    spec = _job_spec(selector={"matchLabels": {"batch.kubernetes.io/controller-uid": "u1"}})
    spec["template"]["metadata"]["labels"] = {
        "controller-uid": "u1",
        "job-name": "web",
        "batch.kubernetes.io/controller-uid": "u1",
        "batch.kubernetes.io/job-name": "web",
    }
    return _made("batch/v1", "Job", spec)


_ROLLING = {"maxSurge": "25%", "maxUnavailable": "25%"}
SOUND: dict[str, Object] = {
    "Pod": _made("v1", "Pod", pod_spec()),
    "Deployment": _workload(
        "Deployment",
        replicas=1,
        strategy={"type": "RollingUpdate", "rollingUpdate": _ROLLING},
        progressDeadlineSeconds=600,
        revisionHistoryLimit=10,
    ),
    "ReplicaSet": _workload("ReplicaSet", replicas=1),
    "DaemonSet": _workload(
        "DaemonSet",
        updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
        revisionHistoryLimit=10,
    ),
    "StatefulSet": _workload(
        "StatefulSet",
        replicas=1,
        serviceName="web",
        podManagementPolicy="OrderedReady",
        updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
        persistentVolumeClaimRetentionPolicy={"whenDeleted": "Retain", "whenScaled": "Retain"},
        revisionHistoryLimit=10,
    ),
    "ReplicationController": _made(
        "v1", "ReplicationController", {"replicas": 1, "selector": {"app": "web"}, "template": template()}
    ),
    "Job": _job(),
    "CronJob": _made(
        "batch/v1",
        "CronJob",
        {
            "schedule": "*/5 * * * *",
            "concurrencyPolicy": "Allow",
            "successfulJobsHistoryLimit": 3,
            "failedJobsHistoryLimit": 1,
            "suspend": False,
            "jobTemplate": {"metadata": {}, "spec": _job_spec()},
        },
    ),
}


def sound(kind: str) -> Object:
    found: Object = copied(SOUND[kind])
    return found


def changed(obj: Object, path: str, value: Any) -> Object:
    """The object with a field at a dotted path set, or removed if the value is GONE."""
    result: Object = copied(obj)
    *steps, last = [int(step) if step.isdigit() else step for step in path.split("/")]
    place: Any = result
    for step in steps:
        place = place.setdefault(step, {}) if isinstance(place, dict) else place[step]
    if value is GONE:
        del place[last]
    else:
        place[last] = value
    return result


def on_create(obj: Object) -> list[str]:
    return [str(error) for error in validation.validate_create(_resource(obj), obj)]


def on_update(new: Object, old: Object) -> list[str]:
    return [str(error) for error in validation.validate_update(_resource(new), new, old)]


def warnings(obj: Object, old: Object | None = None) -> list[str]:
    return validation.warnings_for(_resource(obj), obj, old)


def _resource(obj: Object) -> Any:
    resource = CATALOGUE.of_kind(obj["apiVersion"], obj["kind"])
    assert resource is not None
    return resource
