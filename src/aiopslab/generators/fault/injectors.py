"""The papers' injectors: ``VirtFaultInjector(ns).inject(["user-service"], "misconfig_k8s")``.

They bring no faults of their own: each finds those of its layers in the catalogue, by the papers' names or by ours, and aims
one at each microservice. ``FaultInjector`` itself is for those who write the inject and recover methods of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from aiopslab.generators.fault.base import Fault, FaultInjector, Layer, NoSuchFault
from aiopslab.generators.fault.catalogue import faults


class LayerFaultInjector(FaultInjector):
    """The faults of some layers of the system."""

    layers: ClassVar[tuple[Layer, ...]]

    def known(self) -> list[str]:
        """The names of the faults that it has."""
        own = [each.known_as or each.name for each in faults().values() if self._has(each)]
        return sorted({*super().known(), *own})

    def act(self, verb: str, microservices: Sequence[str], fault_type: str) -> None:
        """Do it by a method of this class if there is one, else by the catalogue's fault."""
        if hasattr(self, f"{verb}_{fault_type}"):
            super().act(verb, microservices, fault_type)
            return
        kind = self._kind(fault_type)
        for target in microservices:
            fault = kind(target)  # type: ignore[call-arg]  # a fault's first parameter is what it is aimed at
            do = fault.inject if verb == "inject" else fault.recover
            do(self.site)

    def _has(self, kind: type[Fault]) -> bool:
        return kind.layer in self.layers

    def _kind(self, fault_type: str) -> type[Fault]:
        for each in faults().values():
            if self._has(each) and fault_type in (each.name, each.known_as):
                return each
        raise NoSuchFault(fault_type, self.known())


class VirtFaultInjector(LayerFaultInjector):
    """Faults of what Kubernetes is told."""

    layers: ClassVar[tuple[Layer, ...]] = ("virtualization",)


class ApplicationFaultInjector(LayerFaultInjector):
    """Faults of the application, its releases and its databases."""

    layers: ClassVar[tuple[Layer, ...]] = ("application",)


class SymptomFaultInjector(LayerFaultInjector):
    """Faults of machines and of the network between them, and all that are known by their symptoms."""

    layers: ClassVar[tuple[Layer, ...]] = ("hardware", "operating system")

    def _has(self, kind: type[Fault]) -> bool:
        return kind.symptomatic or super()._has(kind)
