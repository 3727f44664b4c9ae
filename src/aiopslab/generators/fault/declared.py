"""Faults whose cause is declared objects: a release, an edit, a new policy. The site knows how the objects were before."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, get_args

from aiopslab.apps import Application, Component
from aiopslab.generators.fault.base import Layer
from aiopslab.generators.fault.drawn import STORES, DrawnFault, draw_from
from aiopslab.generators.site import BARE, DEPLOYMENTS, Site
from simcloud.kubernetes.api import at

Manner = Literal["each in place", "all at once", "anew"]
"""How a team rolls out: new pods take the place of old ones, all old ones end first, or the Deployment is created again."""
MANNERS: Final[tuple[Manner, ...]] = get_args(Manner)
STRATEGIES: Final[dict[str, dict[str, Any]]] = {
    "each in place": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "100%", "maxSurge": 0}},
    "all at once": {"type": "Recreate", "rollingUpdate": None},
}


@dataclass(frozen=True)
class DeclaredFault(DrawnFault):
    """A wrong change of declared objects: by default, of the target's Deployment."""

    layer: ClassVar[Layer] = "virtualization"
    fault_type: ClassVar[str] = "Misconfiguration"
    applied: bool = draw_from(True, True, False)
    """Whether the team keeps its manifests up to date, so that applying them again repeats the mistake."""
    declared: ClassVar[bool] = True
    alone: ClassVar[bool] = True

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """The target's Deployment."""
        return ((DEPLOYMENTS, self.target),)

    @abstractmethod
    def release(self, site: Site) -> None:
        """Make the wrong change."""

    def inject(self, site: Site) -> None:
        """Make the wrong change, and apply it from a manifest if that is how the team works."""
        self.release(site)
        if self.applied:
            for resource in self.concerned:
                if site.find(*resource) is not None:
                    apply_live(site, *resource)

    def recover(self, site: Site) -> None:
        """Make the objects as they were."""
        for resource in self.concerned:
            site.restore(*resource)

    def present(self, site: Site) -> bool:
        """Return whether an object still has everything that was done to it."""
        return any(site.is_as_injected(*resource) for resource in self.concerned)


@dataclass(frozen=True)
class ReleasedFault(DeclaredFault):
    """A wrong change of the target's Deployment that takes the place of the running pods, whether or not the new ones get ready.

    A usual rollout keeps the running pods while the new ones are not ready, and users notice nothing. Teams that save
    capacity, or recreate a Deployment when a field cannot be changed, do without that.
    """

    manner: Manner = draw_from(*MANNERS)

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether users notice, and no data is lost with the pods."""
        return keeps_data(component) and super().suits(app, component)

    def inject(self, site: Site) -> None:
        """Make the wrong change in a manner that ends the running pods."""
        if self.manner != "anew":
            site.patch("deployment", self.target, {"spec": {"strategy": STRATEGIES[self.manner]}})
        super().inject(site)
        if self.manner == "anew":
            _write_live(site, "replace --force", DEPLOYMENTS, self.target)
        restart_users_of_store(site, self.target)


def aims_elsewhere(site: Site, workload: str, probe: str) -> bool:
    """Return whether a probe of a Deployment checks a port that its container does not declare."""
    container = site.get_container(workload)
    port = at(container, probe, "tcpSocket", "port", default=None)
    return port is not None and port not in [served["containerPort"] for served in container["ports"]]


def keeps_data(component: Component) -> bool:
    """Return whether a component's data outlives its pods, if it has any but cached data."""
    return component.persistent or component.role not in ("mongodb", "redis")


def restart_users_of_store(site: Site, target: str) -> None:
    """Restart the callers of a datastore, as a team does that releases both: they may need it only when they start."""
    if site.app.component(target).role in STORES:
        site.restart_callers(target)


def apply_live(site: Site, resource: str, name: str, namespace: str | None = None) -> None:
    """Apply an object as it is, as if a manifest said so."""
    _write_live(site, "apply", resource, name, namespace)


def _write_live(site: Site, verb: str, resource: str, name: str, namespace: str | None = None) -> None:
    """Write an object as it is with a verb of kubectl."""
    space = site.namespace if namespace is None else namespace
    kubectl = f"kubectl -n {space}" if space else "kubectl"
    site.operate(f"{kubectl} get {resource} {name} -o json | jq '{BARE}' | {kubectl} {verb} -f -")
