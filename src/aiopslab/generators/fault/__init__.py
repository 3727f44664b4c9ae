"""Faults, one file each, that break something as it breaks in production and can undo it; and the injectors of the papers."""

from aiopslab.generators.fault.base import (
    Fault,
    FaultInjector,
    GroundTruth,
    Layer,
    NoSuchFault,
    fault,
    load_faults,
)
from aiopslab.generators.fault.injectors import (
    ApplicationFaultInjector,
    SymptomFaultInjector,
    VirtFaultInjector,
)

__all__ = [
    "ApplicationFaultInjector",
    "Fault",
    "FaultInjector",
    "GroundTruth",
    "Layer",
    "NoSuchFault",
    "SymptomFaultInjector",
    "VirtFaultInjector",
    "fault",
    "load_faults",
]
