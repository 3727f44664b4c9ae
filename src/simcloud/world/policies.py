"""What a session at the operator's host may do: as whom it speaks to the cluster, and with which commands.

Rights in the cluster are ordinary RBAC: a user with roles, whom the API refuses in its own words. Commands that the
host does not have, or that a session must not use, say what to use instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from simcloud.kubernetes.api.access.users import AUTHENTICATED_GROUP, SYSTEM_MASTERS, User

if TYPE_CHECKING:
    from simcloud.kubernetes.api.api import Api

SCRIPTING: Final = "there is no Python here; use bash, awk, sed and jq"
EDITING: Final = "there is no editor here; write files with 'cat > FILE <<EOF', change them with sed"
REMOTE: Final = "nodes are not logged in to; use 'kubectl exec', or 'kubectl debug node/NAME' for a node"
COPYING: Final = "files do not go this way; use 'kubectl cp', or 'ssh NODE cat FILE' for a node"
PACKAGES: Final = "nothing can be installed here; 'ls /usr/bin' shows what there is"
CONTAINERS: Final = (
    "containers are run by the nodes; use 'kubectl get pods', 'kubectl logs' and 'kubectl exec'"
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
    "git": "there is no git here; files come by heredoc, curl or 'kubectl get -o yaml'",
    "sudo": "you are root already",
    "kubectl edit": "there is no editor here; use 'kubectl patch', 'kubectl set' or 'kubectl apply -f FILE'",
}
"""What to use instead of what is not there, by command, or by ``kubectl`` and a verb."""

READING: Final = ("get", "list", "watch")
EVERYBODY_SEES: Final[tuple[Mapping[str, Any], ...]] = (
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
    """One kind of session. ``allowed`` are the only commands that there are; None for all of the host's."""

    name: str
    user: User
    role: str = ""
    """The cluster's own role that the user has everywhere."""
    rules: tuple[Mapping[str, Any], ...] = ()
    """What the user may do besides."""
    denied: Mapping[str, str] = field(default_factory=lambda: ADVICE)
    allowed: frozenset[str] | None = None

    def admit(self, api: Api) -> None:
        """Let the user into a cluster. A second time changes nothing."""
        if not self.role:
            return
        # Here, because it brings a cluster, and the names of policies are asked for without one.
        from simcloud.kubernetes.component_client import Client

        client = Client(api, SYSTEM_MASTERS.name, "aiopslab")
        own = f"session:{self.name}"
        role = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": own},
            "rules": [{key: list(value) for key, value in rule.items()} for rule in self.rules],
        }
        bindings = [self._binding(f"{own}:{name}", name) for name in (self.role, own)]
        for obj in (role, *bindings):
            if (
                client.get(client.of(obj).plural + ".rbac.authorization.k8s.io", "", obj["metadata"]["name"])
                is None
            ):
                client.create(obj)

    def _binding(self, name: str, role: str) -> dict[str, Any]:
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
    EVERYBODY_SEES,
    denied={**ADVICE, "ssh": REMOTE},
)
OPERATOR: Final = Policy(
    "operator",
    User("operator", groups=(AUTHENTICATED_GROUP,)),
    "edit",
    (*EVERYBODY_SEES, *NODES_AND_VOLUMES),
)
ADMIN: Final = Policy("admin", SYSTEM_MASTERS)
POLICIES: Final = {policy.name: policy for policy in (READ_ONLY, OPERATOR, ADMIN)}
