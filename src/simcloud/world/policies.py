"""Policies: the cluster user of a session on the operator's host, and whether it may log in to nodes.

Rights in the cluster are ordinary RBAC: a user with roles, and Forbidden errors from the API. Without the right to log in to nodes
the host has no SSH key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from simcloud.kubernetes.api.access import AUTHENTICATED_GROUP, CLUSTER_ADMINISTRATOR, SYSTEM_MASTERS, User

if TYPE_CHECKING:
    from simcloud.kubernetes.api import Api

READING: Final = ("get", "list", "watch")
COMMON_READS: Final[tuple[Mapping[str, Any], ...]] = (
    {
        "apiGroups": [""],
        "resources": ["nodes", "nodes/status", "persistentvolumes", "namespaces", "componentstatuses"],
        "verbs": READING,
    },
    {"apiGroups": ["metrics.k8s.io"], "resources": ["nodes", "pods"], "verbs": READING},
    {"apiGroups": ["", "events.k8s.io"], "resources": ["events"], "verbs": READING},
    {
        "apiGroups": [
            "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "coordination.k8s.io",
            "node.k8s.io", "networking.k8s.io", "rbac.authorization.k8s.io", "scheduling.k8s.io", "storage.k8s.io",
        ],
        "resources": ["*"],
        "verbs": READING,
    },
)  # fmt: skip
NODES_AND_VOLUMES: Final[tuple[Mapping[str, Any], ...]] = (
    {"apiGroups": [""], "resources": ["nodes"], "verbs": ["patch", "update"]},
    {"apiGroups": [""], "resources": ["pods/eviction"], "verbs": ["create"]},
    {"apiGroups": [""], "resources": ["pods/ephemeralcontainers"], "verbs": ["patch", "update"]},
    {
        "apiGroups": [""],
        "resources": ["persistentvolumes", "namespaces"],
        "verbs": ["create", "update", "patch", "delete"],
    },
)


class Policy(Struct, frozen=True):
    """The rights of a session."""

    name: str
    user: User
    role: str = ""
    """A built-in ClusterRole that the user has in all namespaces."""
    rules: tuple[Mapping[str, Any], ...] = ()
    """Further RBAC rules for the user."""
    has_ssh_key: bool = True
    """Whether the host has a key with which root may log in to the nodes."""

    def admit(self, api: Api) -> None:
        """Create the user's roles and bindings in a cluster. Idempotent."""
        if not self.role:
            return
        # Imported here because it is slow, and the command line only needs the names of policies.
        from simcloud.kubernetes import ComponentClient

        client = ComponentClient(api, SYSTEM_MASTERS.name, "aiopslab")
        own_role = f"session:{self.name}"
        role = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": own_role},
            "rules": [{key: list(value) for key, value in rule.items()} for rule in self.rules],
        }
        bindings = [self._build_binding(f"{own_role}:{name}", name) for name in (self.role, own_role)]
        for obj in (role, *bindings):
            if (
                client.get(client.of(obj).plural + ".rbac.authorization.k8s.io", "", obj["metadata"]["name"])
                is None
            ):
                client.create(obj)

    def _build_binding(self, name: str, role: str) -> dict[str, Any]:
        group = "rbac.authorization.k8s.io"
        return {
            "apiVersion": f"{group}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": group, "kind": "User", "name": self.user.name}],
        }


READ_ONLY: Final = Policy(
    "read-only",
    User("read-only", groups=(AUTHENTICATED_GROUP,)),
    "view",
    COMMON_READS,
    has_ssh_key=False,
)
OPERATOR: Final = Policy(
    "operator",
    User("operator", groups=(AUTHENTICATED_GROUP,)),
    "edit",
    (*COMMON_READS, *NODES_AND_VOLUMES),
)
ADMIN: Final = Policy("admin", CLUSTER_ADMINISTRATOR)
POLICIES: Final = {policy.name: policy for policy in (READ_ONLY, OPERATOR, ADMIN)}
