"""The filters, one module each, in the order in which the genuine scheduler asks them."""

from typing import Final

from aiopslab.cluster.scheduler.filters import (
    affinity,
    claims,
    pod_affinity,
    ports,
    resources,
    spread,
    taints,
    unschedulable,
)
from aiopslab.cluster.scheduler.framework import Prepare

FILTERS: Final[tuple[Prepare, ...]] = (
    unschedulable.prepare,
    taints.prepare,
    affinity.prepare,
    ports.prepare,
    resources.prepare,
    claims.prepare,
    spread.prepare,
    pod_affinity.prepare,
)
