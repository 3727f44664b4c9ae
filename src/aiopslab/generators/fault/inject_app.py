"""``ApplicationFaultInjector`` under the module path of the public AIOpsLab release."""

from aiopslab.generators.fault.injectors import ApplicationFaultInjector

__all__ = ["ApplicationFaultInjector"]
