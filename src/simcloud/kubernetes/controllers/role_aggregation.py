"""Aggregated ClusterRoles: keeps the rules of roles such as ``admin`` up to date with those they aggregate."""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.api.access.rules import aggregate
from simcloud.kubernetes.api.options import Caller, WriteOptions
from simcloud.kubernetes.api.patch import PatchType
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.api.verbs.patches import Patch
from simcloud.kubernetes.controller import Controller, NamespacedName, controller

ROLES: Final = "clusterroles.rbac.authorization.k8s.io"


@controller("clusterrole-aggregation-controller")
class RoleAggregation(Controller):
    """After every change of a role, looks at all that aggregate."""

    def watch(self) -> None:
        self._gathering: dict[str, None] = {}
        self.follow(ROLES, self._see)

    def _see(self, write: Revision) -> None:
        if write.change != "DELETED" and write.object.get("aggregationRule"):
            self._gathering[write.key.name] = None
        else:
            self._gathering.pop(write.key.name, None)
        for name in self._gathering:
            self.queue.add(NamespacedName("", name))

    def sync(self, key: NamespacedName) -> None:
        role = self.client.get(ROLES, "", key.name)
        if role is None or not role.get("aggregationRule"):
            return
        rules = aggregate(role, self.client.list(ROLES))
        if rules == (role.get("rules") or []):
            return
        applied = {
            "apiVersion": role["apiVersion"],
            "kind": role["kind"],
            "metadata": {"name": key.name},
            "rules": rules,
        }
        self.api.patch(
            self.client.resource(ROLES),
            "",
            key.name,
            Patch(PatchType.APPLY, applied),
            Caller(self.client.caller.user, self.name),
            WriteOptions(force=True),
        )
