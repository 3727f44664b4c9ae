"""A sidecar listens on the port of the program, which cannot start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class SidecarPortClash(ReleasedFault):
    """A team adds a cache beside its program, and gives it a port that is taken."""

    sidecar: str = draw_from("local-cache", "cache", "session-cache", "lookup-cache")
    name: ClassVar[str] = "sidecar_port_clash"
    roles: ClassVar[tuple[Role, ...]] = ("front end", "service")
    also_fault_types: ClassVar[tuple[str, ...]] = ("Network/Storage Issue", "Operation Error")

    def release(self, site: Site) -> None:
        """Roll out the sidecar, which starts first."""
        port = site.get_container(self.target)["ports"][0]["containerPort"]
        sidecar = {
            "name": self.sidecar,
            "image": "memcached:1.6.7",
            "args": ["-m", "32", "-p", str(port)],
            "restartPolicy": "Always",
        }
        site.set_pods(self.target, initContainers=[sidecar])
