"""Defaults of ``rbac.authorization.k8s.io``."""

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
