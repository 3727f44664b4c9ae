"""The container runtime of a node is suspended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.node_service import HungServiceFault


@fault
@dataclass(frozen=True)
class HungContainerRuntime(HungServiceFault):
    """An operator suspends containerd to take a profile of it, and does not let it go on."""

    name: ClassVar[str] = "hung_container_runtime"
    unit: ClassVar[str] = "containerd"
