"""Rules of the cluster under which new pods of an application cannot start. They show when pods are replaced."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Final, Literal, get_args

from aiopslab.generators.fault.base import Course, GroundTruth
from aiopslab.generators.fault.declared import DeclaredFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site
from simcloud.kubernetes.api import Object

Occasion = Literal["deletion", "eviction", "scaling"]
"""How the target's pods come to be replaced: a restart, the maintenance of a node, a pause of the workload."""
OCCASIONS: Final[tuple[Occasion, ...]] = get_args(Occasion)


@dataclass(frozen=True)
class BlockedPods(DeclaredFault):
    """A new rule for pods, and an occasion at which the target's pods are replaced."""

    occasion: Occasion = draw_from(*OCCASIONS)
    delay_s: int = draw_from(90, 60, 120)
    """The time from the rule to the occasion, in which nobody notices it."""
    hinders_pods: ClassVar[bool] = True
    course: ClassVar[Course] = "latent"

    @property
    @abstractmethod
    def causes(self) -> tuple[tuple[str, ...], ...]:
        """The objects that make the rule, as in ``concerned``; it holds while all are as the fault left them."""

    @property
    def truth(self) -> GroundTruth:
        """The target; the objects that make the rule are right answers too."""
        return replace(super().truth, also_right=tuple(name for _, name, *_ in self.causes))

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """The rule, and the target's Deployment."""
        return (*self.causes, *super().concerned)

    def inject(self, site: Site) -> None:
        """Make the rule, and some time later replace the target's pods."""
        self.release(site)
        site.wait(self.delay_s)
        replace_pods(site, self.target, self.occasion)

    def recover(self, site: Site) -> None:
        """Make the objects as they were, and roll out the target, whose controller backs off by now."""
        super().recover(site)
        site.kubectl(f"rollout restart deployment/{self.target}")
        site.wait_until_ready(self.target, timeout_s=125)

    def present(self, site: Site) -> bool:
        """Return whether the rule is as the fault made it."""
        return all(site.is_as_injected(*cause) for cause in self.causes)


def replace_pods(site: Site, workload: str, occasion: Occasion) -> None:
    """End the pods of a Deployment, which then creates new ones."""
    if occasion == "deletion":
        site.restart(workload)
    elif occasion == "scaling":
        replicas = site.get_deployment(workload)["spec"]["replicas"]
        for count in (0, replicas):
            site.kubectl(f"scale deployment/{workload} --replicas={count}")
    else:
        selected = f"--ignore-daemonsets --delete-emptydir-data --pod-selector={site.get_selector(workload)}"
        for node in site.nodes_of(workload):
            site.run(f"kubectl drain {node} {selected} --grace-period=10 && kubectl uncordon {node}")


def list_namespace(name: str) -> tuple[tuple[str, ...], ...]:
    """Return a namespace and the objects that every namespace has, as in ``concerned``."""
    return (
        ("namespaces", name, ""),
        ("serviceaccounts", "default", name),
        ("configmaps", "kube-root-ca.crt", name),
    )


@dataclass(frozen=True)
class ClosedNodes(BlockedPods):
    """All workers are closed to new pods."""

    occasion: Occasion = draw_from("deletion", "scaling")
    fault_type: ClassVar[str] = "Operation Error"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Misconfiguration",)

    @property
    def causes(self) -> tuple[tuple[str, ...], ...]:
        """No objects but the nodes."""
        return ()

    def machines_at_fault(self, site: Site) -> tuple[str, ...]:
        """Return the workers."""
        return tuple(site.list_workers())

    def present(self, site: Site) -> bool:
        """Return whether a worker is missing or still closed."""
        return any(self.is_closed(site.find("nodes", name, "")) for name in self.machines_at_fault(site))

    @abstractmethod
    def is_closed(self, node: Object | None) -> bool:
        """Return whether a node is closed to new pods."""
