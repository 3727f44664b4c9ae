"""Defaults of ``scheduling.k8s.io``."""

from __future__ import annotations

from simcloud.kubernetes.api.defaults.registry import defaults, fill
from simcloud.kubernetes.api.objects import Object


@defaults("scheduling.k8s.io", "PriorityClass")
def default_priority_class(priority: Object) -> None:
    """Pods of a class may push out others."""
    fill(priority, preemptionPolicy="PreemptLowerPriority")
