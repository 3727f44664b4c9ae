"""Defaults of the workloads in ``apps``."""

from __future__ import annotations

from simcloud.kubernetes.api.defaults.core import default_claim
from simcloud.kubernetes.api.defaults.pods import default_pod_template
from simcloud.kubernetes.api.defaults.registry import defaults, each, fill, part
from simcloud.kubernetes.api.objects import Object


@defaults("apps", "Deployment")
def default_deployment(deployment: Object) -> None:
    """One replica, rolled out a quarter at a time."""
    spec = part(deployment, "spec")
    fill(spec, replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600)
    strategy = part(spec, "strategy")
    fill(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        fill(part(strategy, "rollingUpdate"), maxUnavailable="25%", maxSurge="25%")
    default_pod_template(part(spec, "template"))


@defaults("apps", "ReplicaSet")
def default_replica_set(replica_set: Object) -> None:
    """One replica."""
    spec = part(replica_set, "spec")
    fill(spec, replicas=1)
    default_pod_template(part(spec, "template"))


@defaults("apps", "DaemonSet")
def default_daemon_set(daemon_set: Object) -> None:
    """Updated node by node."""
    spec = part(daemon_set, "spec")
    fill(spec, revisionHistoryLimit=10)
    strategy = part(spec, "updateStrategy")
    fill(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        fill(part(strategy, "rollingUpdate"), maxUnavailable=1, maxSurge=0)
    default_pod_template(part(spec, "template"))


@defaults("apps", "StatefulSet")
def default_stateful_set(stateful_set: Object) -> None:
    """One replica, started and updated in order; its claims are kept."""
    spec = part(stateful_set, "spec")
    fill(spec, replicas=1, revisionHistoryLimit=10, podManagementPolicy="OrderedReady")
    strategy = part(spec, "updateStrategy")
    if "type" not in strategy:
        strategy["type"] = "RollingUpdate"
        part(strategy, "rollingUpdate")
    if strategy["type"] == "RollingUpdate" and "rollingUpdate" in strategy:
        fill(strategy["rollingUpdate"], partition=0)
    fill(part(spec, "persistentVolumeClaimRetentionPolicy"), whenDeleted="Retain", whenScaled="Retain")
    default_pod_template(part(spec, "template"))
    for claim in each(spec, "volumeClaimTemplates"):
        fill(claim, apiVersion="v1", kind="PersistentVolumeClaim")
        default_claim(claim)
