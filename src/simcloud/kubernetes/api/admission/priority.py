"""Priority: set a pod's priority from its PriorityClass or from the default class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simcloud.kubernetes.api.admission.plugin import PODS, Quiet, creates, make_refusal
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.store import Key

if TYPE_CHECKING:
    from simcloud.kubernetes.api.context import Write

_CLASSES: Final = ("scheduling.k8s.io", "priorityclasses")


class PodPriority(Quiet):
    """Resolves the priority of new pods, and keeps one class the default."""

    resources = (PODS, _CLASSES)

    def admit(self, write: Write) -> None:
        if not creates(write, PODS):
            return
        spec = write.new["spec"]
        name = spec.get("priorityClassName", "")
        found = self._find_class(write, name) if name else default_class(write)
        value = found["value"] if found is not None else 0
        said = spec.get("priority")
        if said is not None and said != value:
            raise make_refusal(
                write,
                f"the integer value of priority ({said}) must not be provided in pod spec; "
                f"priority admission controller computed {value} from the given PriorityClass name",
            )
        spec["priority"] = value
        if found is not None and not name:
            spec["priorityClassName"] = found["metadata"]["name"]
        policy = (found or {}).get("preemptionPolicy", "PreemptLowerPriority")
        if spec.setdefault("preemptionPolicy", policy) != policy:
            raise make_refusal(
                write,
                f"the string value of PreemptionPolicy ({spec['preemptionPolicy']}) must not be provided in "
                f"pod spec; priority admission controller computed {policy} from the given PriorityClass name",
            )

    def check(self, write: Write) -> None:
        if write.resource.key != _CLASSES or write.operation == "DELETE" or write.subresource:
            return
        if not write.new.get("globalDefault"):
            return
        present = default_class(write)
        if present is not None and present["metadata"]["name"] != write.key.name:
            name = present["metadata"]["name"]
            raise make_refusal(
                write, f"PriorityClass {name} is already marked as default. Only one default can exist"
            )

    def _find_class(self, write: Write, name: str) -> Object:
        found = write.api.log.get(Key(*_CLASSES, "", name))
        if found is None:
            raise make_refusal(write, f"no PriorityClass with name {name} was found")
        return found


def default_class(write: Write) -> Object | None:
    """The class of pods that name none: of several, the one of the lowest value."""
    marked = [
        priority_class
        for priority_class in write.api.log.objects(*_CLASSES)
        if priority_class.get("globalDefault")
    ]
    return min(marked, key=lambda one: int(one["value"]), default=None)
