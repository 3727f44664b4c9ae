"""``kubectl describe``: an object and its related objects as text. One file per group of kinds.

``describer_for(resource)`` returns the function; the verb finds the objects. Lists that kubectl prints in random
order (limits of a LimitRange) are sorted by name here.
"""

from __future__ import annotations

from simcloud.kubectl.describe import (  # noqa: F401  (they register what they describe)
    batch,
    configuration,
    networking,
    nodes,
    pods,
    quotas,
    rbac,
    scaling,
    services,
    storage,
    workloads,
)
from simcloud.kubectl.describe.generic import describe_anything
from simcloud.kubectl.describe.registry import Describer as Describer, find_describer
from simcloud.kubernetes.api import Resource


def describer_for(resource: Resource) -> Describer:
    """What describes objects of a resource."""
    return find_describer(resource.group, resource.kind) or describe_anything
