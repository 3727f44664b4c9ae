"""ControllerRevisions: the template history of StatefulSets and DaemonSets, for rollbacks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from simcloud.kubernetes.api.objects import Object, at, copy
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.controller import owner_reference


def template_patch(owner: Object) -> Object:
    """What is remembered of an owner: a patch that gives it its present template back.

    Its keys are in order, as Go writes maps: clients compare it with their own by its bytes.
    """
    return {"spec": {"template": _in_order({**owner["spec"]["template"], "$patch": "replace"})}}


def _in_order(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _in_order(value[key]) for key in sorted(value)}
    return [_in_order(item) for item in value] if isinstance(value, list) else value


def template_of(revision: Object) -> Object:
    """The pod template that a revision remembers; empty if it is somebody else's and remembers none."""
    template: Object = copy(at(revision, "data", "spec", "template", default={}))
    template.pop("$patch", None)
    return template


def by_number(revisions: Iterable[Object]) -> list[Object]:
    """The oldest first."""
    return sorted(
        revisions,
        key=lambda revision: (
            revision.get("revision", 0),
            revision["metadata"]["creationTimestamp"],
            revision["metadata"]["name"],
        ),
    )


def draft(
    owner: Object, number: int, hash_label: str, suffix: str, annotations: Object | None = None
) -> Object:
    """A revision of an owner's present template, not stored yet; its hash is the end of its name."""
    template_labels = (owner["spec"]["template"].get("metadata") or {}).get("labels") or {}
    metadata: Object = {
        "name": f"{owner['metadata']['name']}-{suffix}",
        "namespace": owner["metadata"]["namespace"],
        "labels": {**template_labels, hash_label: suffix},
        "ownerReferences": [owner_reference(owner)],
    }
    if annotations:
        metadata["annotations"] = copy(annotations)
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": metadata,
        "data": template_patch(owner),
        "revision": number,
    }


def renumber(client: ComponentClient, revision: Object, number: int) -> Object:
    """Make a revision the newest again."""
    if revision.get("revision", 0) == number:
        return revision
    return client.edit(revision, lambda current: current.update(revision=number))
