"""Faults by programs of other teams, in a namespace of their own, that use a store too much."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from shlex import quote
from typing import ClassVar

from aiopslab.generators.fault.base import GroundTruth, Layer
from aiopslab.generators.fault.drawn import DrawnFault, draw_from
from aiopslab.generators.site import DEPLOYMENTS, Site


@dataclass(frozen=True)
class StoreClientFault(DrawnFault):
    """Another team deploys a program that uses a store of the application as if it were its own."""

    space: str = draw_from("warehouse", "insights", "research", "growth")
    """The namespace of the other team."""
    workload: str = draw_from("feature-sync", "catalog-mirror", "usage-collector", "index-feeder")
    layer: ClassVar[Layer] = "application"
    fault_type: ClassVar[str] = "Operation Error"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Misconfiguration", "Code Defect", "Dependency Problem")
    also_levels: ClassVar[tuple[str, ...]] = ("Virtualization",)
    declared: ClassVar[bool] = True
    image: ClassVar[str]

    @property
    def truth(self) -> GroundTruth:
        """The store, or the program that uses it."""
        return replace(super().truth, also_right=(self.workload,))

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """The program, and its namespace with what every namespace has."""
        return (
            (DEPLOYMENTS, self.workload, self.space),
            ("serviceaccounts", "default", self.space),
            ("configmaps", "kube-root-ca.crt", self.space),
            ("namespaces", self.space, ""),
        )

    @abstractmethod
    def format_program(self, host: str, port: int) -> str:
        """Return the program, a line of shell that uses the store at an address without end."""

    def inject(self, site: Site) -> None:
        """Deploy the program."""
        host, port = f"{self.target}.{site.namespace}", site.get_port(self.target)
        program = quote(self.format_program(host, port))
        site.run(f"kubectl create namespace {self.space}")
        site.run(
            f"kubectl -n {self.space} create deployment {self.workload} --image={self.image} -- bash -c {program}"
        )

    def recover(self, site: Site) -> None:
        """Remove the program with its namespace."""
        site.run(f"kubectl delete namespace {self.space} --ignore-not-found")

    def present(self, site: Site) -> bool:
        """Return whether the program is as it was deployed."""
        return site.is_as_injected(DEPLOYMENTS, self.workload, self.space)
