"""Defaults that the API server sets on objects before it stores them.

``apply_defaults`` runs after decoding, on creations, updates and patches, and is idempotent. The defaults of custom
resources are in their own schemas. Allocation (addresses, node ports) and admission (service accounts, priorities,
tolerations) set their values elsewhere.
"""

from __future__ import annotations

from simcloud.kubernetes.api.defaults import (  # noqa: F401  (importing a module registers its rules)
    apps,
    autoscaling,
    batch,
    cluster,
    core,
    extensions,
    networking,
)
from simcloud.kubernetes.api.defaults.printing import (
    drop_empty as drop_empty,
    print_always as print_always,
    round_amounts,
)
from simcloud.kubernetes.api.defaults.registry import DEFAULTS, STATUS_DEFAULTS
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.resources import Resource


def apply_defaults(resource: Resource, obj: Object, *, decoded: bool = False) -> None:
    """Complete an object in place, as the genuine server does for this kind.

    An object that was ``decoded``, and not changed or converted since, has no empty parts to drop.
    """
    if resource.custom is not None:
        return
    if decoded:
        round_amounts(resource.schema, obj)
    else:
        drop_empty(resource.schema, obj)
    rule = DEFAULTS.get((resource.group, resource.kind))
    if rule is not None:
        rule(obj)
    print_always(resource.schema, obj)


def apply_part_defaults(resource: Resource, name: str, part: Object) -> None:
    """Complete a part of an object whose defaults follow from nothing else: the status of most kinds."""
    schema = resource.schema.fields[name]
    round_amounts(schema, part)
    rule = STATUS_DEFAULTS.get((resource.group, resource.kind)) if name == "status" else None
    if rule is not None:
        rule(part)
    print_always(schema, part)
