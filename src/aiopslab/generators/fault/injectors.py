"""The papers' injectors: ``VirtFaultInjector(ns).inject(["user-service"], "misconfig_k8s")``.

Each injector finds the registered faults of its layers, by the papers' names or by ours, and applies one to each microservice.
To write your own inject and recover methods, extend ``FaultInjector``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from aiopslab.generators.fault.base import Fault, FaultInjector, Layer, NoSuchFault, load_faults


class LayerFaultInjector(FaultInjector):
    """Injects the registered faults of some layers of the system."""

    layers: ClassVar[tuple[Layer, ...]]

    def list_faults(self) -> list[str]:
        """Return the names of the faults that this injector has."""
        registered = [kind.known_as or kind.name for kind in load_faults().values() if self._has_fault(kind)]
        return sorted({*super().list_faults(), *registered})

    def act(self, verb: str, microservices: Sequence[str], fault_type: str) -> None:
        """Call a method of this class if there is one, else the registered fault; raises ``NoSuchFault``."""
        if hasattr(self, f"{verb}_{fault_type}"):
            super().act(verb, microservices, fault_type)
            return
        kind = self._find_fault(fault_type)
        for target in microservices:
            fault = kind(target)  # type: ignore[call-arg]  # the first parameter of a fault is its target
            method = fault.inject if verb == "inject" else fault.recover
            method(self.site)

    def _has_fault(self, kind: type[Fault]) -> bool:
        return kind.layer in self.layers

    def _find_fault(self, fault_type: str) -> type[Fault]:
        for kind in load_faults().values():
            if self._has_fault(kind) and fault_type in (kind.name, kind.known_as):
                return kind
        raise NoSuchFault(fault_type, self.list_faults())


class VirtFaultInjector(LayerFaultInjector):
    """Faults of Kubernetes objects."""

    layers: ClassVar[tuple[Layer, ...]] = ("virtualization",)


class ApplicationFaultInjector(LayerFaultInjector):
    """Faults of the application, its releases and its databases."""

    layers: ClassVar[tuple[Layer, ...]] = ("application",)


class SymptomFaultInjector(LayerFaultInjector):
    """Faults of machines and networks, and all faults that the papers describe by their symptoms."""

    layers: ClassVar[tuple[Layer, ...]] = ("hardware", "operating system")

    def _has_fault(self, kind: type[Fault]) -> bool:
        return kind.symptomatic or super()._has_fault(kind)
