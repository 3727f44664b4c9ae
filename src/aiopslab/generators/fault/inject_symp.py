"""``SymptomFaultInjector`` under the module path of the public AIOpsLab release; it needs no Chaos Mesh."""

from aiopslab.generators.fault.injectors import SymptomFaultInjector

__all__ = ["SymptomFaultInjector"]
