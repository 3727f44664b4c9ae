"""PersistentVolumes, claims, storage classes, and CSI drivers of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from simcloud.golang import sprint
from simcloud.kubectl.describe.events import write_events
from simcloud.kubectl.describe.page import NONE, Page, long_time
from simcloud.kubectl.describe.parts import lasts, write_metadata, write_name
from simcloud.kubectl.describe.registry import Reader, describes
from simcloud.kubectl.describe.volumes import write_claim, write_persistent_source
from simcloud.kubernetes.api import Object, meta, name_of
from simcloud.kubernetes.api.tables import access_modes, cells, class_of, is_default

_GROUP: Final = "storage.k8s.io"
_CONDITION_RULES: Final = ("----", "------", "-" * 17, "-" * 18, "------", "-------")


def _phase(obj: Object, now_s: float) -> str:
    if meta(obj).get("deletionTimestamp") is not None:
        return f"Terminating (lasts {lasts(obj, now_s)})"
    return cells.text(cells.part(obj, "status"), "phase")


@describes("", "PersistentVolume")
async def describe_persistent_volume(reader: Reader, obj: Object, show_events: bool) -> str:
    """A PersistentVolume."""
    page, spec, claim = Page(), cells.part(obj, "spec"), cells.part(obj, "spec").get("claimRef")
    write_name(page, obj, namespace=False)
    write_metadata(page, obj)
    page.field("Finalizers", sprint(cells.items(meta(obj), "finalizers")))
    page.field("StorageClass", class_of(obj))
    page.field("Status", _phase(obj, reader.now_s))
    page.field(
        "Claim", "" if claim is None else f"{cells.text(claim, 'namespace')}/{cells.text(claim, 'name')}"
    )
    page.field("Reclaim Policy", cells.text(spec, "persistentVolumeReclaimPolicy"))
    page.field("Access Modes", access_modes(cells.items(spec, "accessModes")))
    page.optional("VolumeMode", spec.get("volumeMode"))
    page.field("Capacity", cells.amount(cells.part(spec, "capacity").get("storage")))
    _write_affinity(page, cells.part(spec, "nodeAffinity").get("required"))
    page.field("Message", cells.text(cells.part(obj, "status"), "message"))
    page.line("Source:")
    write_persistent_source(page, spec)
    await write_events(page, reader, obj, show_events)
    return page.text()


def _write_affinity(page: Page, required: Object | None) -> None:
    page.field("Node Affinity", NONE if required is None else "")
    if required is None:
        return
    terms = cells.items(required, "nodeSelectorTerms")
    page.field("Required Terms", "" if terms else NONE, 1)
    for number, term in enumerate(terms):
        page.several(f"Term {number}", map(_expression, cells.items(term, "matchExpressions")), 2)


def _expression(expression: Object) -> str:
    values = cells.items(expression, "values")
    shown = f"{cells.text(expression, 'key')} {expression.get('operator', 'in').lower()}"
    return f"{shown} [{', '.join(values)}]" if values else shown


@describes("", "PersistentVolumeClaim")
async def describe_persistent_volume_claim(reader: Reader, obj: Object, show_events: bool) -> str:
    """A PersistentVolumeClaim and the pods that use it."""
    page = Page()
    users = await _users(reader, obj)
    write_claim(page, obj, phase=_phase(obj, reader.now_s))
    page.several("Used By", sorted(users))
    _write_conditions(page, cells.items(cells.part(obj, "status"), "conditions"))
    await write_events(page, reader, obj, show_events)
    return page.text()


async def _users(reader: Reader, claim: Object) -> list[str]:
    """The names of pods that mount a claim, as often as they do, and of pods that own it."""
    pods = await reader.list(reader.resource("pods"), meta(claim)["namespace"])
    users = [
        pod
        for pod in pods
        for volume in cells.items(cells.part(pod, "spec"), "volumes")
        if cells.part(volume, "persistentVolumeClaim").get("claimName") == name_of(claim)
    ]
    owners = [
        reference.get("uid")
        for reference in cells.items(meta(claim), "ownerReferences")
        if reference.get("kind") == "Pod"
    ]
    for pod in pods:
        uid = meta(pod)["uid"]
        if uid in owners and all(meta(entry)["uid"] != uid for entry in users):
            users.append(pod)
    return [name_of(pod) for pod in users]


def _write_conditions(page: Page, conditions: Sequence[Object]) -> None:
    if not conditions:
        return
    page.line("Conditions:")
    rows = [
        (
            f"{cells.text(condition, 'type')} ",
            f"{cells.text(condition, 'status')} ",
            f"{long_time(condition.get('lastProbeTime'))} ",
            f"{long_time(condition.get('lastTransitionTime'))} ",
            f"{cells.text(condition, 'reason')} ",
            cells.text(condition, "message"),
        )
        for condition in conditions
    ]
    headings = ("Type", "Status", "LastProbeTime", "LastTransitionTime", "Reason", "Message")
    page.table(headings, rows, rules=_CONDITION_RULES)


@describes(_GROUP, "StorageClass")
async def describe_storage_class(reader: Reader, obj: Object, show_events: bool) -> str:
    """A StorageClass."""
    page = Page()
    write_name(page, obj, namespace=False)
    page.field("IsDefaultClass", "Yes" if is_default(obj) else "No")
    page.field("Annotations", cells.labels(meta(obj).get("annotations")))
    page.field("Provisioner", cells.text(obj, "provisioner"))
    page.field("Parameters", cells.labels(obj.get("parameters")))
    page.field("AllowVolumeExpansion", cells.truth(obj.get("allowVolumeExpansion")))
    options = cells.items(obj, "mountOptions")
    page.line(*("MountOptions:",) if options else ("MountOptions:", NONE))
    for option in options:
        page.line(option, level=1)
    page.optional("ReclaimPolicy", obj.get("reclaimPolicy"))
    page.optional("VolumeBindingMode", obj.get("volumeBindingMode"))
    if obj.get("allowedTopologies") is not None:
        _write_topologies(page, obj["allowedTopologies"])
    await write_events(page, reader, obj, show_events)
    return page.text()


def _write_topologies(page: Page, terms: Sequence[Object]) -> None:
    page.field("AllowedTopologies", "" if terms else NONE)
    for number, term in enumerate(terms):
        page.several(f"Term {number}", map(_expression, cells.items(term, "matchLabelExpressions")), 1)
