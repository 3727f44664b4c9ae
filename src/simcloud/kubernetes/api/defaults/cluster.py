"""Defaults of kinds that configure the cluster: role bindings, priority classes and storage classes."""

from __future__ import annotations

from simcloud.kubernetes.api.defaults.registry import defaults, each, fill, part
from simcloud.kubernetes.api.objects import Object

GROUP = "rbac.authorization.k8s.io"


@defaults(GROUP, "RoleBinding", "ClusterRoleBinding")
def default_binding(binding: Object) -> None:
    """Users and groups are of this API group, service accounts of the core one."""
    fill(part(binding, "roleRef"), apiGroup=GROUP)
    for subject in each(binding, "subjects"):
        if subject.get("kind") in ("User", "Group"):
            fill(subject, apiGroup=GROUP)


@defaults("scheduling.k8s.io", "PriorityClass")
def default_priority_class(priority: Object) -> None:
    """Pods of a class may push out others."""
    fill(priority, preemptionPolicy="PreemptLowerPriority")


@defaults("storage.k8s.io", "StorageClass")
def default_storage_class(storage: Object) -> None:
    """Volumes are made at once and deleted after use."""
    fill(storage, reclaimPolicy="Delete", volumeBindingMode="Immediate")
