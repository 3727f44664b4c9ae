"""An application is redeployed while its volumes are still bound to the claims of the deleted namespace.

The volumes' reclaim policy is ``Retain``. So they become ``Released``, each with a reference to its old claim. The new claims have
the same names but other uids, so they stay pending, and so do the databases. No data is lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from aiopslab.generators.fault.base import Fault, GroundTruth, Layer, fault
from aiopslab.generators.site import Site, restart_unready_pods
from simcloud.kubernetes.api import at

DATABASES: Final = (
    "mongodb-geo", "mongodb-profile", "mongodb-rate", "mongodb-recommendation", "mongodb-reservation", "mongodb-user",
)  # fmt: skip
UNBIND: Final = '{"spec": {"claimRef": null}}'


@fault
@dataclass(frozen=True)
class RedeployWithoutPV(Fault):
    """An operator deletes the namespace of HotelReservation and applies its manifests again."""

    databases: tuple[str, ...] = DATABASES
    """All databases of the application; the ground truth begins with the first."""
    name: ClassVar[str] = "redeploy_without_pv"
    layer: ClassVar[Layer] = "virtualization"

    @property
    def truth(self) -> GroundTruth:
        """An operator's error at every database."""
        first, *others = self.databases
        return GroundTruth(first, "Virtualization", "Operation Error", also_at_fault=tuple(others))

    @property
    def concerned(self) -> tuple[tuple[str, str], ...]:
        """The volumes and their claims; a repair may have to recreate either."""
        kinds = (("persistentvolumes", "pv"), ("persistentvolumeclaims", "pvc"))
        return tuple(
            (kind, f"{_get_volume_name(database)}-{suffix}")
            for database in self.databases
            for kind, suffix in kinds
        )

    def inject(self, site: Site) -> None:
        """Delete the namespace, then redeploy it in the background, including later changes by hand."""
        folder = site.app.name
        site.operate(f"mkdir -p {folder}")
        for name, text in site.app.manifest_files.items():
            site.operate(f"cat > {folder}/{name} <<'EOF'\n{text}\nEOF")
        site.operate(f"kubectl delete namespace {site.namespace} --wait=false")
        wait = f"kubectl wait --for=delete namespace/{site.namespace} --timeout=120s"
        lines = (wait, f"kubectl apply -f {folder}", *(site.app.past.by_hand if site.app.past else ()))
        site.operate(f"{{ {' && '.join(lines)}; }} > {folder}.log 2>&1 &")

    def recover(self, site: Site) -> None:
        """Remove the old claim references from the volumes, wait for the databases and restart failed pods."""
        released = f'.status.phase == "Released" and .spec.claimRef.namespace == "{site.namespace}"'
        listed = f"kubectl get pv -o json | jq -r '.items[] | select({released}) | .metadata.name'"
        site.operate(f"{listed} | xargs -r -I@ kubectl patch pv @ -p '{UNBIND}'")
        restart_unready_pods(site, self.databases)

    def present(self, site: Site) -> bool:
        """Return whether the namespace is not active, or a database's claim is missing or not bound."""
        phase = f"kubectl get namespace {site.namespace} --ignore-not-found -o jsonpath={{.status.phase}}"
        if site.operate(phase).stdout != b"Active":
            return True
        names = [f"{_get_volume_name(database)}-pvc" for database in self.databases]
        claims = [site.find("persistentvolumeclaims", name) for name in names]
        return any(at(claim, "status", "phase") != "Bound" for claim in claims)


def _get_volume_name(database: str) -> str:
    """Return the common prefix of the names of a database's volume and claim."""
    return database.removeprefix("mongodb-")
