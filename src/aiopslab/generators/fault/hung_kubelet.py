"""The kubelet of a node is suspended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.node_service import HungServiceFault


@fault
@dataclass(frozen=True)
class HungKubelet(HungServiceFault):
    """An operator suspends the kubelet to look at it with a debugger, and does not let it go on."""

    name: ClassVar[str] = "hung_kubelet"
    unit: ClassVar[str] = "kubelet"
