"""Faults of the claim by which a database gets its volume. The database shows them when its pod is replaced."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any, ClassVar, Final, Self

from aiopslab.apps import Application, Component, Role
from aiopslab.generators.fault.declared import DeclaredFault
from aiopslab.generators.fault.drawn import STORES
from aiopslab.generators.site import Site, restart_unready_pods
from simcloud.kubernetes.api import Object, at

CLAIMS: Final = "persistentvolumeclaims"
VOLUMES: Final = "persistentvolumes"


@dataclass(frozen=True)
class ClaimFault(DeclaredFault):
    """The claim of a database is not bound to the database's volume any more, whose data is kept."""

    claim: str = ""
    volume: str = ""
    roles: ClassVar[tuple[Role, ...]] = STORES
    declared: ClassVar[bool] = False
    fault_type: ClassVar[str] = "Operation Error"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Misconfiguration", "Network/Storage Issue")

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether a component is a database with a volume of its own."""
        return super().suits(app, component) and component.persistent and bool(_find_claims(app, component))

    @classmethod
    def draw(cls, app: Application, chance: Random, without: tuple[str, ...] = ()) -> Self:
        """Return the fault with the claim and the volume of the drawn database."""
        fault = super().draw(app, chance, without)
        claim, volume = _find_claims(app, app.component(fault.target))[0]
        return replace(fault, claim=claim, volume=volume)

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """The claim, the volume and the database."""
        return ((CLAIMS, self.claim), (VOLUMES, self.volume, ""), *super().concerned)

    @abstractmethod
    def release(self, site: Site) -> None:
        """Change the claim or the volume while the database does not run."""

    def inject(self, site: Site) -> None:
        """Stop the database, make the change, start the database and what depends on it."""
        site.kubectl(f"scale deployment/{self.target} --replicas=0")
        self.release(site)
        site.kubectl(f"scale deployment/{self.target} --replicas=1")
        site.restart_callers(self.target)

    def recover(self, site: Site) -> None:
        """Create the claim again, bound to the volume that has the data, and restart what has failed meanwhile."""
        if self.present(site):
            site.kubectl(f"scale deployment/{self.target} --replicas=0")
            self.rebind(site)
            site.kubectl(f"scale deployment/{self.target} --replicas=1")
        restart_unready_pods(site, (self.target,))

    def rebind(self, site: Site) -> None:
        """Create the claim as it was, and free the volume of the old one."""
        site.kubectl(f"delete pvc {self.claim} --ignore-not-found")
        free_volume(site, self.volume)
        site.restore(CLAIMS, self.claim)

    def present(self, site: Site) -> bool:
        """Return whether the claim is not bound to the volume that has the data."""
        found = site.find(CLAIMS, self.claim)
        bound = at(found, "spec", "volumeName") if at(found, "status", "phase") == "Bound" else ""
        return bool(bound != self.volume)


@dataclass(frozen=True)
class RecreatedClaim(ClaimFault):
    """An operator deletes a claim and creates it again with another specification, which the volume does not meet."""

    @property
    @abstractmethod
    def changes(self) -> dict[str, Any]:
        """What is new in the specification."""

    def release(self, site: Site) -> None:
        """Create the claim again, and free the volume for it."""
        found = site.find(CLAIMS, self.claim)
        kept = {name: value for name, value in at(found, "spec").items() if name != "volumeName"}
        site.kubectl(f"delete pvc {self.claim}")
        free_volume(site, self.volume)
        labels = at(found, "metadata", "labels", default={})
        metadata = {"name": self.claim, "labels": labels}
        spec = {**kept, **self.changes}
        site.apply({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec})


def free_volume(site: Site, volume: str) -> None:
    """Remove the reference to the claim from a volume, so that another can bind it."""
    site.patch("pv", volume, {"spec": {"claimRef": None}}, "merge")


def _find_claims(app: Application, component: Component) -> list[tuple[str, str]]:
    """Return the claims of a component's pods, each with the volume that is made for it."""
    objects = app.manifests()
    volumes = {at(obj, "spec", "storageClassName"): obj for obj in _select(objects, "PersistentVolume")}
    claims = {obj["metadata"]["name"]: obj for obj in _select(objects, "PersistentVolumeClaim")}
    found = []
    for deployment in _select(objects, "Deployment", component.name):
        for volume in at(deployment, "spec", "template", "spec", "volumes", default=()):
            claim = claims.get(at(volume, "persistentVolumeClaim", "claimName"))
            own = volumes.get(at(claim, "spec", "storageClassName"))
            if claim is not None and own is not None:
                found.append((claim["metadata"]["name"], own["metadata"]["name"]))
    return found


def _select(objects: list[Object], kind: str, name: str = "") -> Iterator[Object]:
    """Yield the objects of a kind, only those of a name if one is given."""
    return (obj for obj in objects if obj["kind"] == kind and name in ("", obj["metadata"]["name"]))
