"""Strategies: how a resource prepares an object for a write, before validation.

Users write the spec; the server owns status, identity and generation. All functions change the new object in place.
They expect a decoded and defaulted object with uid and creation time. Allocation and admission are separate.
"""

from __future__ import annotations

from simcloud.kubernetes.api.defaults import print_always
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.strategies import (  # noqa: F401  (importing a module registers its rules)
    core,
    extensions,
    services,
    storage,
    workloads,
)
from simcloud.kubernetes.api.strategies.core import prepare_finalize as prepare_finalize
from simcloud.kubernetes.api.strategies.metadata import (
    clear_system_metadata,
    count_generation,
    keep_system_metadata,
    start_generation,
)
from simcloud.kubernetes.api.strategies.pods import (
    prepare_ephemeral_containers as prepare_ephemeral_containers,
    prepare_resize as prepare_resize,
    qos_class as qos_class,
)
from simcloud.kubernetes.api.strategies.registry import CREATE, STATUS_UPDATE, UPDATE, share, take
from simcloud.kubernetes.api.strategies.storage import note_change

_CREATED_WITH_STATUS = {("", "Node"), ("networking.k8s.io", "ServiceCIDR")}
"""Kinds whose creator says their status: a kubelet registers its node with all it knows."""

_OWN_FIELDS = ("apiVersion", "kind", "metadata", "status")


def prepare_create(resource: Resource, obj: Object) -> None:
    """Make an object ready to be created: the first status, the first generation."""
    clear_system_metadata(obj)
    kind = (resource.group, resource.kind)
    if "status" in resource.subresources and kind not in _CREATED_WITH_STATUS:
        obj.pop("status", None)
    start_generation(resource, obj)
    if resource.custom is not None:
        return
    if kind in CREATE:
        CREATE[kind](obj)
    print_always(resource.schema, obj)


def prepare_update(resource: Resource, new: Object, old: Object) -> None:
    """Make an object ready to replace the old one: status stays, the generation counts."""
    keep_system_metadata(new, old)
    kind = (resource.group, resource.kind)
    if "status" in resource.subresources:
        take(new, old, "status")
    rule = None if resource.custom is not None else UPDATE.get(kind)
    if rule is not None:
        rule(new, old)
    count_generation(resource, new, old)


def prepare_status_update(resource: Resource, new: Object, old: Object, *, now: str = "") -> None:
    """Make an object ready to replace the old one's status. Of the rest, most kinds let metadata change.

    ``now`` is the time of the write, for the few kinds whose status says when it changed.
    """
    if resource.custom is not None:
        _keep_all_metadata(new, old)
    keep_system_metadata(new, old)
    share(new, old, *[field for field in {**new, **old} if field not in _OWN_FIELDS])
    rule = None if resource.custom is not None else STATUS_UPDATE.get((resource.group, resource.kind))
    if rule is not None:
        rule(new, old)
    if now:
        note_change(resource, new, old, now)


def _keep_all_metadata(new: Object, old: Object) -> None:
    """The status of a custom resource cannot even change a label; only who wrote it is noted."""
    noted = {
        field: new["metadata"][field]
        for field in ("managedFields", "resourceVersion")
        if field in new["metadata"]
    }
    new["metadata"] = {**copy(old["metadata"]), **noted}
