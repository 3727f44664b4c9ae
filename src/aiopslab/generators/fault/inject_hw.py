"""``HWFaultInjector`` of the public AIOpsLab release."""

from __future__ import annotations

from typing import ClassVar

from aiopslab.generators.fault.base import Layer
from aiopslab.generators.fault.injectors import LayerFaultInjector

__all__ = ["HWFaultInjector"]


class HWFaultInjector(LayerFaultInjector):
    """Faults of hardware; the public release has none, here they are those of ``aiopslab list --faults``."""

    layers: ClassVar[tuple[Layer, ...]] = ("hardware",)
