"""The manifest of the scheduler was moved away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.moved_manifest import MovedManifestFault


@fault
@dataclass(frozen=True)
class MovedSchedulerManifest(MovedManifestFault):
    """An operator moves the scheduler's manifest away and forgets it; new pods stay Pending without an event."""

    name: ClassVar[str] = "moved_scheduler_manifest"
    component: ClassVar[str] = "kube-scheduler"
