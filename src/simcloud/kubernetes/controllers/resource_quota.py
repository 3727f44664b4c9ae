"""ResourceQuotas: recomputes the usage of a namespace after changes.

Admission refuses writes that exceed a quota; this controller corrects the amounts when objects are deleted, and every
five minutes.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from simcloud.kubernetes.api.admission.quota_usage import (
    in_scopes,
    is_charged,
    resource_measured,
    select_measured,
    usage,
)
from simcloud.kubernetes.api.amounts import Amount, Amounts
from simcloud.kubernetes.api.errors import qualify
from simcloud.kubernetes.api.objects import Object, at, copy
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.controller import Controller, NamespacedName, controller

RESYNC_S: Final = 300.0
USUAL: Final = (
    *("pods", "services", "persistentvolumeclaims", "configmaps", "secrets", "replicationcontrollers"),
    "resourcequotas",
)
"""What quotas mostly speak of; any other resource is watched once a quota counts it."""


@controller("resourcequota-controller")
class ResourceQuotas(Controller):
    """Keeps the status of all quotas."""

    quotas: dict[str, dict[str, None]]
    followed: dict[tuple[str, str], None]

    def watch(self) -> None:
        self.quotas, self.followed = {}, {}
        self.follow("resourcequotas", self._see_quota)
        for plural in USUAL:
            self._follow(("", plural))
        self.kernel.spawn(self._resync(), f"{self.name}.resync")

    def _see_quota(self, write: Revision) -> None:
        names = self.quotas.setdefault(write.key.namespace, {})
        if write.change == "DELETED":
            names.pop(write.key.name, None)
            return
        names[write.key.name] = None
        for name in at(write.object, "spec", "hard", default=None) or {}:
            key = resource_measured(name)
            if key is not None:
                self._follow(key)
        if write.before is None or write.before.get("spec") != write.object.get("spec"):
            self.enqueue(write)

    def _follow(self, key: tuple[str, str]) -> None:
        """Watch a resource that some quota counts, if it is served."""
        if key not in self.followed and any(resource.key == key for resource in self.api.catalogue):
            self.followed[key] = None
            group, plural = key
            self.follow(qualify(plural, group), self._see_object)

    def _see_object(self, write: Revision) -> None:
        quotas = self.quotas.get(write.key.namespace)
        if not quotas or not _matters(write, self.api.now_s):
            return
        for name in quotas:
            self.queue.add(NamespacedName(write.key.namespace, name))

    async def _resync(self) -> None:
        while True:
            await self.kernel.sleep(RESYNC_S)
            for namespace, names in self.quotas.items():
                for name in names:
                    self.queue.add(NamespacedName(namespace, name))

    def sync(self, key: NamespacedName) -> None:
        quota = self.client.get("resourcequotas", *key)
        if quota is None:
            return
        hard = quota["spec"].get("hard") or {}
        status = {"hard": dict(hard), "used": self._sum_usage(quota, hard)}
        if status != (quota.get("status") or {}):
            changed: Object = copy(quota)
            changed["status"] = status
            self.client.update_status(changed)

    def _sum_usage(self, quota: Object, hard: dict[str, str]) -> dict[str, str]:
        resources = dict.fromkeys(filter(None, map(resource_measured, hard)))
        sums: Amounts = {}
        for key in resources:
            if key not in self.followed:
                continue
            names = select_measured(key, hard)
            sums |= dict.fromkeys(names, Amount(Fraction(0)))
            for obj in self.client.list(qualify(key[1], key[0]), quota["metadata"]["namespace"]):
                if in_scopes(quota["spec"], key, obj):
                    cost = usage(key, obj, self.api.now_s)
                    for name in names:
                        if name in cost:
                            sums[name] = sums[name].plus(cost[name])
        return {name: str(sums[name]) for name in sorted(sums)}


def _matters(write: Revision, now_s: float) -> bool:
    """Whether a change can change what is used."""
    if write.before is None or write.change == "DELETED":
        return True
    if write.before.get("spec") != write.object.get("spec"):
        return True
    return write.key.plural == "pods" and is_charged(write.before, now_s) != is_charged(write.object, now_s)
