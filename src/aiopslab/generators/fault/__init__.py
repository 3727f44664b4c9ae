"""Faults, one file each, that break something as it breaks in production and can undo it; and the injectors of the papers.

``inject_*`` and ``helpers`` have the module paths of the public AIOpsLab release.
"""

from aiopslab.generators.fault.base import (
    CAPABILITIES as CAPABILITIES,
    Capability as Capability,
    Fault as Fault,
    FaultInjector as FaultInjector,
    GroundTruth as GroundTruth,
    Layer as Layer,
    NoSuchFault as NoSuchFault,
    Site as Site,
    fault as fault,
    find_fault as find_fault,
    load_faults as load_faults,
)
from aiopslab.generators.fault.drawn import DrawnFault as DrawnFault, draw_from as draw_from
from aiopslab.generators.fault.injectors import (
    ApplicationFaultInjector as ApplicationFaultInjector,
    SymptomFaultInjector as SymptomFaultInjector,
    VirtFaultInjector as VirtFaultInjector,
)
