"""RuntimeClass: a pod that names one takes over its overhead and its idea of fitting nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simcloud.kubernetes.api import quantity
from simcloud.kubernetes.api.admission.plugin import PODS, Quiet, creates, refused
from simcloud.kubernetes.api.objects import Object, at, copy
from simcloud.kubernetes.api.store import Key

if TYPE_CHECKING:
    from simcloud.kubernetes.api.verbs.write import Write

_OTHER_OVERHEAD = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"


class RuntimeClasses(Quiet):
    """Brings a pod and its runtime class together."""

    def admit(self, write: Write) -> None:
        if not creates(write, PODS):
            return
        spec = write.new["spec"]
        found = _class_of(write, spec)
        if found is None:
            return
        overhead = at(found, "overhead", "podFixed")
        if overhead:
            if spec.get("overhead") and not _same(spec["overhead"], overhead):
                raise refused(write, _OTHER_OVERHEAD)
            spec["overhead"] = copy(overhead)
        if found.get("scheduling"):
            _schedule(write, spec, found["scheduling"])

    def check(self, write: Write) -> None:
        if not creates(write, PODS):
            return
        spec = write.new["spec"]
        if not spec.get("overhead") and not spec.get("runtimeClassName"):
            return
        overhead = at(_class_of(write, spec), "overhead", "podFixed")
        if overhead and not _same(spec.get("overhead") or {}, overhead):
            raise refused(write, _OTHER_OVERHEAD)
        if not overhead and spec.get("overhead"):
            raise refused(
                write, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
            )


def _class_of(write: Write, spec: Object) -> Object | None:
    name = spec.get("runtimeClassName")
    if name is None:
        return None
    found = write.api.log.get(Key("node.k8s.io", "runtimeclasses", "", name))
    if found is None:
        raise refused(write, f'pod rejected: RuntimeClass "{name}" not found')
    return found


def _same(one: Object, other: Object) -> bool:
    return one.keys() == other.keys() and all(
        quantity.parse(one[name]) == quantity.parse(other[name]) for name in one
    )


def _schedule(write: Write, spec: Object, scheduling: Object) -> None:
    chosen = dict(spec.get("nodeSelector") or {})
    for key, value in (scheduling.get("nodeSelector") or {}).items():
        if chosen.setdefault(key, value) != value:
            raise refused(
                write,
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                f"pod.spec.nodeSelector[{key}] = {chosen[key]}",
            )
    if chosen:
        spec["nodeSelector"] = chosen
    tolerations = spec.get("tolerations") or []
    more = [copy(one) for one in scheduling.get("tolerations") or () if one not in tolerations]
    if more:
        spec["tolerations"] = [*tolerations, *more]
