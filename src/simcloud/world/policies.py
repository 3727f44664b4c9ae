"""Policies: the cluster user and the commands that a session on the operator's host has.

Rights in the cluster are ordinary RBAC: a user with roles, and Forbidden errors from the API. Commands that the
host does not have, or that a session may not use, print what to use instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from simcloud.kubernetes.api.access import AUTHENTICATED_GROUP, SYSTEM_MASTERS, User

if TYPE_CHECKING:
    from simcloud.kubernetes.api import Api

SCRIPTING: Final = "not installed on this host; use bash, awk, sed and jq"
EDITING: Final = "no editor is installed; write files with 'cat > FILE <<EOF' and change them with sed"
REMOTE: Final = (
    "logging in to nodes is not permitted; use 'kubectl exec', or 'kubectl debug node/NAME' for a node"
)
COPYING: Final = "not installed on this host; use 'kubectl cp', or 'ssh NODE cat FILE' for a node"
PACKAGES: Final = (
    "packages cannot be installed on this host; 'ls /usr/bin' lists the commands that are available"
)
CONTAINERS: Final = (
    "containers run on the nodes, not on this host; use 'kubectl get pods', 'kubectl logs' and 'kubectl exec'"
)
SERVICES: Final = (
    "this host runs no services; use 'kubectl get' and 'kubectl describe' for those of the cluster"
)

ADVICE: Final[Mapping[str, str]] = {
    **dict.fromkeys(("python", "python3", "pip", "pip3", "perl", "ruby", "node"), SCRIPTING),
    **dict.fromkeys(("vi", "vim", "nano", "emacs", "ed"), EDITING),
    **dict.fromkeys(("scp", "sftp", "rsync"), COPYING),
    **dict.fromkeys(("apt", "apt-get", "yum", "dnf", "apk", "brew"), PACKAGES),
    **dict.fromkeys(("docker", "podman", "crictl", "nerdctl"), CONTAINERS),
    **dict.fromkeys(("systemctl", "service", "journalctl"), SERVICES),
    "git": "not installed on this host; get files with a heredoc, curl or 'kubectl get -o yaml'",
    "sudo": "not needed, you are root",
    "kubectl edit": "no editor is installed; use 'kubectl patch', 'kubectl set' or 'kubectl apply -f FILE'",
}
"""Messages with alternatives, by command, or by ``kubectl`` and a verb."""

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


@dataclass(frozen=True, slots=True)
class Policy:
    """The rights of a session. If ``allowed`` is not None, the session has only these commands."""

    name: str
    user: User
    role: str = ""
    """A built-in ClusterRole that the user has in all namespaces."""
    rules: tuple[Mapping[str, Any], ...] = ()
    """Further RBAC rules for the user."""
    denied: Mapping[str, str] = field(default_factory=lambda: ADVICE)
    allowed: frozenset[str] | None = None

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
    denied={**ADVICE, "ssh": REMOTE},
)
OPERATOR: Final = Policy(
    "operator",
    User("operator", groups=(AUTHENTICATED_GROUP,)),
    "edit",
    (*COMMON_READS, *NODES_AND_VOLUMES),
)
ADMIN: Final = Policy("admin", SYSTEM_MASTERS)
POLICIES: Final = {policy.name: policy for policy in (READ_ONLY, OPERATOR, ADMIN)}
