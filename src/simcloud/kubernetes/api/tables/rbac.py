"""Rows of role bindings. Roles have no columns of their own."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.tables.cells import Cells, age, items, name, part, text
from simcloud.kubernetes.api.tables.registry import AGE, NAME, Column, table, wide

_GROUP = "rbac.authorization.k8s.io"
_ROLE_REF = (
    "RoleRef can reference a Role in the current namespace or a ClusterRole in the global namespace."
    " If the RoleRef cannot be resolved, the Authorizer must return an error."
)
_CLUSTER_ROLE_REF = (
    "RoleRef can only reference a ClusterRole in the global namespace."
    " If the RoleRef cannot be resolved, the Authorizer must return an error."
)


def _subjects(binding: str) -> tuple[Column, ...]:
    return tuple(wide(kind, f"{kind} in the {binding}") for kind in ("Users", "Groups", "ServiceAccounts"))


@table(_GROUP, "RoleBinding", NAME, Column("Role", _ROLE_REF), AGE, *_subjects("roleBinding"))
@table(
    _GROUP,
    "ClusterRoleBinding",
    NAME,
    Column("Role", _CLUSTER_ROLE_REF),
    AGE,
    *_subjects("clusterRoleBinding"),
)
def binding(obj: Object, now_s: float) -> Cells:
    """A binding's row."""
    role = part(obj, "roleRef")
    names_by_kind: dict[str, list[str]] = {"User": [], "Group": [], "ServiceAccount": []}
    for subject in items(obj, "subjects"):
        kind, called = text(subject, "kind"), text(subject, "name")
        if kind == "ServiceAccount":
            called = f"{text(subject, 'namespace')}/{called}"
        if kind in names_by_kind:
            names_by_kind[kind].append(called)
    return [
        name(obj),
        f"{text(role, 'kind')}/{text(role, 'name')}",
        age(obj, now_s),
        *(", ".join(names) for names in names_by_kind.values()),
    ]
