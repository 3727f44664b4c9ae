"""An application is deployed anew, and its volumes still belong to the claims that went with the old namespace.

The volumes are kept when their claims go: that is their reclaim policy. They are ``Released`` then, each with a reference to
the claim that it was bound to. New claims have the old names, but are not those claims; so they wait, and the databases with
them. All data is there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from aiopslab.generators.fault.base import Fault, GroundTruth, Layer, fault
from aiopslab.generators.fault.not_ready import restart_not_ready
from aiopslab.generators.site import Site
from simcloud.kubernetes.api.objects import at

DATABASES: Final = (
    "mongodb-geo", "mongodb-profile", "mongodb-rate", "mongodb-recommendation", "mongodb-reservation", "mongodb-user",
)  # fmt: skip
FORGET: Final = '{"spec": {"claimRef": null}}'


@fault
@dataclass(frozen=True)
class RedeployWithoutPV(Fault):
    """Somebody deletes the namespace of HotelReservation and applies its manifests again."""

    database: str = DATABASES[0]
    """The one to name first; none of them gets its volume."""
    name: ClassVar[str] = "redeploy_without_pv"
    layer: ClassVar[Layer] = "virtualization"

    @property
    def truth(self) -> GroundTruth:
        """An operator's error, at every database."""
        others = tuple(one for one in DATABASES if one != self.database)
        return GroundTruth(self.database, "Virtualization", "Operation Error", also_at_fault=others)

    @property
    def concerned(self) -> tuple[tuple[str, str], ...]:
        """The volumes and their claims; a repair may have to renew either."""
        kinds = (("persistentvolumes", "pv"), ("persistentvolumeclaims", "pvc"))
        return tuple((kind, f"{_data(one)}-{short}") for one in DATABASES for kind, short in kinds)

    def inject(self, site: Site) -> None:
        """Delete the namespace; when it is gone, deploy anew, with all that was changed by hand since."""
        folder = site.app.name
        site.operate(f"mkdir -p {folder}")
        for name, text in site.app.manifest_files.items():
            site.operate(f"cat > {folder}/{name} <<'EOF'\n{text}\nEOF")
        site.operate(f"kubectl delete namespace {site.namespace} --wait=false")
        gone = f"kubectl wait --for=delete namespace/{site.namespace} --timeout=120s"
        anew = (gone, f"kubectl apply -f {folder}", *(site.app.past.by_hand if site.app.past else ()))
        site.operate(f"{{ {' && '.join(anew)}; }} > {folder}.log 2>&1 &")

    def recover(self, site: Site) -> None:
        """Have the volumes forget their old claims; when databases run, start anew what has given up on them."""
        stranded = f'.status.phase == "Released" and .spec.claimRef.namespace == "{site.namespace}"'
        listed = f"kubectl get pv -o json | jq -r '.items[] | select({stranded}) | .metadata.name'"
        site.operate(f"{listed} | xargs -r -I@ kubectl patch pv @ -p '{FORGET}'")
        restart_not_ready(site, DATABASES)

    def present(self, site: Site) -> bool:
        """Whether the namespace is on its way out, or a database's claim has no volume or is not there."""
        phase = f"kubectl get namespace {site.namespace} --ignore-not-found -o jsonpath={{.status.phase}}"
        if site.operate(phase).stdout != b"Active":
            return True
        claims = [site.find("persistentvolumeclaims", f"{_data(one)}-pvc") for one in DATABASES]
        return any(at(claim, "status", "phase") != "Bound" for claim in claims)


def _data(database: str) -> str:
    """What its volume and its claim are named for."""
    return database.removeprefix("mongodb-")
