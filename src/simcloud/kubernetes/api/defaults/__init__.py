"""What a genuine API server makes of an object before it stores it: its defaults.

``apply_defaults`` runs after decoding, on a creation, on an update and after a patch. It changes nothing
in an object that went through it before. Custom resources are left alone: their defaults stand in their
own schema. What a server allocates (addresses, node ports) or admits (service accounts, priorities,
tolerations) is not set here.
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
from simcloud.kubernetes.api.defaults.printing import drop_empty, print_always
from simcloud.kubernetes.api.defaults.registry import DEFAULTS
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.resources import Resource

__all__ = ["apply_defaults", "print_always"]


def apply_defaults(resource: Resource, obj: Object) -> None:
    """Complete an object in place, as the genuine server does for this kind."""
    if resource.custom is not None:
        return
    drop_empty(resource.schema, obj)
    rule = DEFAULTS.get((resource.group, resource.kind))
    if rule is not None:
        rule(obj)
    print_always(resource.schema, obj)
