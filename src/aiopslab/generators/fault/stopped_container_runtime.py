"""The container runtime of a node does not run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.node_service import StoppedServiceFault


@fault
@dataclass(frozen=True)
class StoppedContainerRuntime(StoppedServiceFault):
    """An operator stops containerd for an upgrade and forgets it; a container that crashes there is not restarted."""

    name: ClassVar[str] = "stopped_container_runtime"
    unit: ClassVar[str] = "containerd"
