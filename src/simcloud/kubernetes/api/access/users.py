"""Users as the API sees them: name, groups, and extra attributes from authentication."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

MASTERS_GROUP = "system:masters"
ADMINISTRATORS_GROUP = "kubeadm:cluster-admins"
AUTHENTICATED_GROUP = "system:authenticated"
UNAUTHENTICATED_GROUP = "system:unauthenticated"
NODES_GROUP = "system:nodes"
SERVICE_ACCOUNTS_GROUP = "system:serviceaccounts"

ANONYMOUS_NAME = "system:anonymous"
_SERVICE_ACCOUNT_PREFIX = "system:serviceaccount:"
_NODE_PREFIX = "system:node:"


@dataclass(frozen=True, slots=True)
class User:
    """The user of a request. ``extra`` holds what authentication knows beyond name, uid and groups."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    def info(self) -> dict[str, object]:
        """This user as a UserInfo, empty parts left out as Go leaves them out."""
        info: dict[str, object] = {"username": self.name, "uid": self.uid, "groups": list(self.groups)}
        info["extra"] = {key: list(self.extra[key]) for key in sorted(self.extra)}
        return {key: value for key, value in info.items() if value}


SYSTEM_MASTERS = User("kubernetes-admin", groups=(MASTERS_GROUP, AUTHENTICATED_GROUP))
"""An administrator whom no policy limits."""

CLUSTER_ADMINISTRATOR = User("kubernetes-admin", groups=(ADMINISTRATORS_GROUP, AUTHENTICATED_GROUP))
"""The administrator of a cluster that kubeadm made: a ClusterRoleBinding gives it its rights."""

ANONYMOUS = User(ANONYMOUS_NAME, groups=(UNAUTHENTICATED_GROUP,))
"""The user of a request without credentials."""


def service_account_name(namespace: str, name: str) -> str:
    """The user name of a service account."""
    return f"{_SERVICE_ACCOUNT_PREFIX}{namespace}:{name}"


def service_account_groups(namespace: str) -> tuple[str, ...]:
    """The groups every service account of a namespace is in."""
    return SERVICE_ACCOUNTS_GROUP, f"{SERVICE_ACCOUNTS_GROUP}:{namespace}"


def service_account_user(
    namespace: str,
    name: str,
    uid: str = "",
    extra: Mapping[str, tuple[str, ...]] | None = None,
) -> User:
    """A service account as a user."""
    groups = (*service_account_groups(namespace), AUTHENTICATED_GROUP)
    return User(service_account_name(namespace, name), uid, groups, extra or {})


def split_service_account(username: str) -> tuple[str, str] | None:
    """Namespace and name of a service account's user name; None for any other user's."""
    if not username.startswith(_SERVICE_ACCOUNT_PREFIX):
        return None
    parts = username.removeprefix(_SERVICE_ACCOUNT_PREFIX).split(":")
    if len(parts) != 2 or not parts[0] or not parts[1]:
        return None
    return parts[0], parts[1]


def node_of(user: User) -> str | None:
    """The node whose kubelet this user is; None for anybody else."""
    if NODES_GROUP not in user.groups or not user.name.startswith(_NODE_PREFIX):
        return None
    return user.name.removeprefix(_NODE_PREFIX)
