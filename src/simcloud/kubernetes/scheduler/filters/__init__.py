"""The filters, one module each, in the order of the genuine scheduler."""

from typing import Final

from simcloud.kubernetes.scheduler.filters import (
    affinity,
    claims,
    pod_affinity,
    ports,
    resources,
    restrictions,
    spread,
    taints,
    unschedulable,
    zones,
)
from simcloud.kubernetes.scheduler.framework import Prepare

FILTERS: Final[tuple[Prepare, ...]] = (
    unschedulable.prepare,
    taints.prepare,
    affinity.prepare,
    ports.prepare,
    resources.prepare,
    restrictions.prepare,
    claims.prepare,
    zones.prepare,
    spread.prepare,
    pod_affinity.prepare,
)
