"""Which volume fits a claim: the one reserved for it, or the smallest free one that is good enough."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.quantity import parse
from simcloud.kubernetes.api.selectors import from_label_selector
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.component_client import ComponentClient

CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"


class VolumeIndex:
    """Volumes by the claim that they are for, and free ones by their class."""

    def __init__(self, client: ComponentClient) -> None:
        self._claimed: dict[tuple[str, str], dict[str, Object]] = {}
        self._free: dict[str, dict[str, Object]] = {}
        client.follow("persistentvolumes", self._see)

    def best(self, claim: Object, reserved_only: bool) -> Object | None:
        """The volume for a claim, if there is one; of free ones the fewest access modes decide, then the size."""
        fitting = [volume for volume in self.candidates(claim, reserved_only) if fits(volume, claim)]
        return min(
            fitting,
            key=lambda volume: (
                volume["spec"].get("claimRef") is None,
                len(volume["spec"].get("accessModes") or ()),
                size_of(volume),
                volume["metadata"]["name"],
            ),
            default=None,
        )

    def candidates(self, claim: Object, reserved_only: bool = False) -> list[Object]:
        """The volumes reserved for a claim, and the free ones of its class."""
        metadata = claim["metadata"]
        reserved = self._claimed.get((metadata["namespace"], metadata["name"]), {})
        found = [volume for volume in reserved.values() if is_bound_to(volume, claim)]
        return found if reserved_only else [*found, *self._free.get(class_of(claim), {}).values()]

    def _see(self, write: Revision) -> None:
        if write.before is not None:
            self._place(write.before).pop(write.key.name, None)
        if write.change != "DELETED":
            self._place(write.object)[write.key.name] = write.object

    def _place(self, volume: Object) -> dict[str, Object]:
        reference = volume["spec"].get("claimRef")
        if reference is None:
            return self._free.setdefault(class_of(volume), {})
        return self._claimed.setdefault((reference.get("namespace", ""), reference.get("name", "")), {})


def class_of(obj: Object) -> str:
    """The storage class of a claim or a volume; empty if it has none."""
    annotated = at(obj, "metadata", "annotations", CLASS_ANNOTATION)
    found: str = annotated if annotated is not None else obj["spec"].get("storageClassName") or ""
    return found


def size_of(volume: Object) -> Fraction:
    """A volume's capacity."""
    return parse(at(volume, "spec", "capacity", "storage", default="0"))


def is_bound_to(volume: Object, claim: Object) -> bool:
    """Whether a volume is reserved for a claim; a claim of the same name but another uid is another one."""
    reference = volume["spec"].get("claimRef")
    if reference is None:
        return False
    metadata = claim["metadata"]
    if (reference.get("namespace"), reference.get("name")) != (metadata["namespace"], metadata["name"]):
        return False
    return reference.get("uid") in (None, "", metadata["uid"])


def fits(volume: Object, claim: Object) -> bool:
    """Whether a volume is good enough for a claim."""
    spec, wanted = volume["spec"], claim["spec"]
    if "deletionTimestamp" in volume["metadata"]:
        return False
    if not all(mode in (spec.get("accessModes") or ()) for mode in wanted.get("accessModes") or ()):
        return False
    if spec.get("volumeMode", "Filesystem") != wanted.get("volumeMode", "Filesystem"):
        return False
    size = parse(at(claim, "spec", "resources", "requests", "storage", default="0"))
    if size_of(volume) < size:
        return False
    if spec.get("claimRef") is not None or wanted.get("selector") is None:
        return True
    return from_label_selector(wanted["selector"]).matches(volume["metadata"].get("labels"))
