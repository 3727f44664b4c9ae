"""The kinds of containers in a pod, and helpers for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from simcloud.kubernetes.api import quantity
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.kubelet.records import PodState

MAIN: Final = "containers"
INIT: Final = "initContainers"
EPHEMERAL: Final = "ephemeralContainers"
STATUSES: Final = {
    MAIN: "containerStatuses",
    INIT: "initContainerStatuses",
    EPHEMERAL: "ephemeralContainerStatuses",
}


LEAST_CORES: Final = 0.01
"""The kernel gives out no less than a millisecond in each tenth of a second, so no limit is tighter than 10m."""


class Part(NamedTuple):
    """A container of a pod's spec, and the list it stands in."""

    kind: str
    spec: Object

    @property
    def name(self) -> str:
        """The container's name."""
        return str(self.spec["name"])

    @property
    def sidecar(self) -> bool:
        """Whether it is an init container that goes on running beside the others."""
        return self.kind == INIT and self.spec.get("restartPolicy") == "Always"

    @property
    def field_path(self) -> str:
        """Where events point."""
        return f"spec.{self.kind}{{{self.name}}}"


def parts(pod: Object) -> Iterator[Part]:
    """All containers: init, main, ephemeral."""
    for kind in (INIT, MAIN, EPHEMERAL):
        for spec in pod["spec"].get(kind) or ():
            yield Part(kind, spec)


def main_parts(pod: Object) -> list[Part]:
    """The containers that do a pod's work."""
    return [Part(MAIN, spec) for spec in pod["spec"].get(MAIN) or ()]


def init_parts(pod: Object) -> list[Part]:
    """The containers that come first, sidecars among them."""
    return [Part(INIT, spec) for spec in pod["spec"].get(INIT) or ()]


def find_part(pod: Object, name: str) -> Part | None:
    """A container by its name."""
    return next((part for part in parts(pod) if part.name == name), None)


def full_name(pod: Object) -> str:
    """A pod as the kubelet's messages name it: ``web_default(uid)``."""
    metadata = pod["metadata"]
    return f"{metadata['name']}_{metadata['namespace']}({metadata['uid']})"


def restart_policy(pod: Object, part: Part) -> str:
    """What happens after a container's end: the container's own policy, or the pod's."""
    own = part.spec.get("restartPolicy")
    if own:
        return str(own)
    policy = str(pod["spec"].get("restartPolicy", "Always"))
    # An init container that succeeded is done, whatever the pod's policy.
    return "OnFailure" if part.kind == INIT and policy == "Always" else policy


def should_restart(pod: Object, part: Part, state: PodState) -> bool:
    """Whether a container that does not run is to be started."""
    if pod["metadata"].get("deletionTimestamp"):
        return False
    record = state.newest(part.name)
    if record is None:
        return True
    if record.running:
        return False
    if part.kind == EPHEMERAL:
        return False
    if not record.exited:
        return True
    policy = restart_policy(pod, part)
    return policy == "Always" or (policy == "OnFailure" and record.exit_code != 0)


def limits_of(spec: Object) -> Object:
    """A container's limits."""
    found: Object = (spec.get("resources") or {}).get("limits") or {}
    return found


def core_limit(limits: Object) -> float | None:
    """How many cores a container may use, as its control group limits it; None for no limit."""
    milli = quantity.milli(limits["cpu"]) if "cpu" in limits else 0
    return max(milli / 1000, LEAST_CORES) if milli else None


def requests_of(spec: Object) -> Object:
    """A container's requests."""
    found: Object = (spec.get("resources") or {}).get("requests") or {}
    return found


def pod_memory_limit(pod: Object) -> int | None:
    """The memory that a whole pod may use; None when any of its containers has no limit."""
    given = [limits_of(part.spec).get("memory") for part in main_parts(pod)]
    if not given or not all(given):
        return None
    return sum(quantity.whole(each) for each in given if each)
