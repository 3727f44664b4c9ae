"""The parts of an object's metadata that only the server writes."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.strategies.registry import keep, take

USER_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")
"""What a user may write in metadata after the creation."""


def clear_system_metadata(obj: Object) -> None:
    """Drop the deletion fields of a new object."""
    metadata = obj.setdefault("metadata", {})
    for field in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"):
        metadata.pop(field, None)


def keep_system_metadata(new: Object, old: Object) -> None:
    """Identity and deletion stay; a writer may leave them out."""
    metadata, before = new.setdefault("metadata", {}), old["metadata"]
    metadata.pop("selfLink", None)
    take(metadata, before, "generation")
    keep(metadata, before, "uid", "creationTimestamp", "deletionGracePeriodSeconds")
    if "deletionTimestamp" in before:
        take(metadata, before, "deletionTimestamp")


def keep_user_metadata(new: Object, old: Object) -> None:
    """A write of a subresource that may not touch labels and the like."""
    take(new["metadata"], old["metadata"], *USER_METADATA)
