"""ResourceQuotas: what a namespace uses of what it may, recomputed when something comes, goes or changes.

Admission refuses what would go beyond a quota; this controller sets the amounts right again when objects
go, and once every five minutes.
"""

from __future__ import annotations

from typing import Final

from aiopslab.cluster.api.objects import Object, at, copy
from aiopslab.cluster.api.store import Revision
from aiopslab.cluster.api.strategies.qos import qos_class
from aiopslab.cluster.controller import Controller, NamespacedName, controller
from aiopslab.cluster.controllers.resource_quota_usage import (
    PLAIN_COUNTS,
    Amount,
    is_counted,
    resource_of,
    usage,
)

RESYNC_S: Final = 300.0


@controller("resourcequota-controller")
class ResourceQuotas(Controller):
    """Keeps the status of all quotas."""

    quotas: dict[str, dict[str, None]]
    followed: dict[str, None]

    def watch(self) -> None:
        self.quotas, self.followed = {}, {}
        self.follow("resourcequotas", self._see_quota)
        for resource in PLAIN_COUNTS:
            self._follow(resource)
        self.kernel.spawn(self._resync(), f"{self.name}.resync")

    def _see_quota(self, write: Revision) -> None:
        names = self.quotas.setdefault(write.key.namespace, {})
        if write.change == "DELETED":
            names.pop(write.key.name, None)
            return
        names[write.key.name] = None
        for name in at(write.object, "spec", "hard", default=None) or {}:
            resource = resource_of(name)
            if resource is not None:
                self._follow(resource)
        if write.before is None or write.before.get("spec") != write.object.get("spec"):
            self.enqueue(write)

    def _follow(self, resource: str) -> None:
        """Watch a resource that some quota counts, if it is served."""
        plural, _, group = resource.partition(".")
        if resource not in self.followed and any(one.key == (group, plural) for one in self.api.catalogue):
            self.followed[resource] = None
            self.follow(resource, self._see_object)

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
        status = {"hard": dict(hard), "used": self._used(quota, hard)}
        if status != (quota.get("status") or {}):
            changed: Object = copy(quota)
            changed["status"] = status
            self.client.update_status(changed)

    def _used(self, quota: Object, hard: dict[str, str]) -> dict[str, str]:
        measured: dict[str, list[str]] = {}
        for name in hard:
            resource = resource_of(name)
            if resource is not None and resource in self.followed:
                measured.setdefault(resource, []).append(name)
        sums = {name: Amount() for names in measured.values() for name in names}
        for resource, names in measured.items():
            for obj in self.client.list(resource, quota["metadata"]["namespace"]):
                if not in_scopes(quota, resource, obj):
                    continue
                for name, amount in usage(resource, obj, names, self.api.now_s):
                    sums[name].add(amount)
        return {name: str(sums[name]) for name in sorted(sums)}


def in_scopes(quota: Object, resource: str, obj: Object) -> bool:
    """Whether an object falls under a quota's scopes; only pods have any."""
    scopes = [{"scopeName": name, "operator": "Exists"} for name in quota["spec"].get("scopes") or ()]
    scopes += at(quota, "spec", "scopeSelector", "matchExpressions", default=None) or []
    return not scopes or (resource == "pods" and all(_in_scope(one, obj) for one in scopes))


def _in_scope(scope: Object, pod: Object) -> bool:
    spec = pod["spec"]
    match scope["scopeName"]:
        case "Terminating":
            return spec.get("activeDeadlineSeconds") is not None
        case "NotTerminating":
            return spec.get("activeDeadlineSeconds") is None
        case "BestEffort":
            return qos_class(spec) == "BestEffort"
        case "NotBestEffort":
            return qos_class(spec) != "BestEffort"
        case "CrossNamespacePodAffinity":
            return _reaches_out(spec)
        case "PriorityClass":
            name: str = spec.get("priorityClassName", "")
            values = scope.get("values") or ()
            operator = scope.get("operator")
            if operator in ("In", "NotIn"):
                return bool(name in values) == bool(operator == "In")
            return bool(name) == bool(operator == "Exists")
    return False


def _reaches_out(spec: Object) -> bool:
    """Whether a pod has affinity to pods of other namespaces."""
    for kind in ("podAffinity", "podAntiAffinity"):
        rules = at(spec, "affinity", kind, default=None) or {}
        terms = list(rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ())
        weighted = rules.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        terms += [one["podAffinityTerm"] for one in weighted]
        if any(term.get("namespaces") or term.get("namespaceSelector") is not None for term in terms):
            return True
    return False


def _matters(write: Revision, now_s: float) -> bool:
    """Whether a change can change what is used."""
    if write.before is None or write.change == "DELETED":
        return True
    if write.before.get("spec") != write.object.get("spec"):
        return True
    return write.key.plural == "pods" and is_counted(write.before, now_s) != is_counted(write.object, now_s)
