"""A namespace enforces a Pod Security Standard that its pods do not meet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import ClassVar, Self

from aiopslab.apps import Application
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.blocked_pods import BlockedPods
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site

LABEL = "pod-security.kubernetes.io"


@fault
@dataclass(frozen=True)
class StrictPodSecurity(BlockedPods):
    """The security team enforces the restricted standard in the application's namespace, whose pods run as root."""

    version: str = draw_from("latest", "v1.34", "v1.35", "v1.36")
    namespace: str = ""
    name: ClassVar[str] = "strict_pod_security"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Authentication Issue", "Operation Error")

    @classmethod
    def draw(cls, app: Application, chance: Random, without: tuple[str, ...] = ()) -> Self:
        """Return the fault in the application's namespace."""
        return replace(super().draw(app, chance, without), namespace=app.namespace)

    @property
    def causes(self) -> tuple[tuple[str, ...], ...]:
        """The namespace."""
        return (("namespaces", self.namespace, ""),)

    def release(self, site: Site) -> None:
        """Label the namespace."""
        labels = f"{LABEL}/enforce=restricted {LABEL}/enforce-version={self.version}"
        site.run(f"kubectl label namespace {self.namespace} {labels}")
