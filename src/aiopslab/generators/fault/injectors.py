"""The papers' injectors: ``VirtFaultInjector(ns).inject(["user-service"], "misconfig_k8s")``.

Each injector finds the registered faults of its layers, by the papers' names or by ours, and applies one to each microservice.
To write your own inject and recover methods, extend ``FaultInjector``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from aiopslab.generators.fault.base import Fault, FaultInjector, Layer, NoSuchFault, Targets, load_faults
from aiopslab.utils import AIOpsLabError


class NoTargets(AIOpsLabError):
    """A fault needs microservices to be injected into."""


class LayerFaultInjector(FaultInjector):
    """Injects the registered faults of some layers of the system."""

    layers: ClassVar[tuple[Layer, ...]]

    def __init__(self, namespace: str = "", testbed: str = "") -> None:
        super().__init__(namespace, testbed)
        self._injected: dict[str, list[str]] = {}
        """The last targets of each fault, which the public release's ``recover`` may omit."""

    def list_faults(self) -> list[str]:
        """Return the names of the faults that this injector has."""
        registered = [kind.known_as or kind.name for kind in load_faults().values() if self._has_fault(kind)]
        return sorted({*super().list_faults(), *registered})

    def act(self, verb: str, microservices: Targets, fault_type: str, duration: str | None = None) -> None:
        """Call a method of this class if there is one, else the registered fault; raises ``NoSuchFault``."""
        if hasattr(type(self), f"{verb}_{fault_type}"):
            super().act(verb, microservices, fault_type, duration)
        else:
            self._apply(verb, self._find_fault(fault_type), fault_type, list(microservices))

    def __getattr__(self, name: str) -> Callable[..., None]:
        verb, _, fault_type = name.partition("_")
        if verb not in ("inject", "recover") or not fault_type:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        kind = self._find_fault(fault_type)

        def apply(microservices: Targets | str = (), *_more: object, **_options: object) -> None:
            targets = [microservices] if isinstance(microservices, str) else list(microservices)
            self._apply(verb, kind, fault_type, targets)

        return apply

    def _apply(self, verb: str, kind: type[Fault], fault_type: str, targets: list[str]) -> None:
        """Inject a fault into each target or recover it; without targets, into those of the last call."""
        targets = targets or self._injected.get(fault_type, [])
        if not targets:
            raise NoTargets(
                f'{verb}_{fault_type} needs a list of microservices: {verb}_{fault_type}(["geo"]).'
            )
        self._injected[fault_type] = targets
        for target in targets:
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
