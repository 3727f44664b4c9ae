"""The controller manager does not run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.moved_manifest import MovedManifestFault


@fault
@dataclass(frozen=True)
class StoppedControllerManager(MovedManifestFault):
    """An operator moves the controller manager's manifest away and forgets it; lost pods are not replaced."""

    name: ClassVar[str] = "stopped_controller_manager"
    component: ClassVar[str] = "kube-controller-manager"
