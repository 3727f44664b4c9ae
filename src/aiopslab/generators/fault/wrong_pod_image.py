"""The image of running pods is changed by hand to one without their program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Role
from aiopslab.generators.fault.base import Layer, fault
from aiopslab.generators.fault.drawn import DrawnFault, draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class WrongPodImage(DrawnFault):
    """An operator changes the image of the wrong pods; their Deployment is as before."""

    image: str = draw_from("registry.k8s.io/pause:3.10", "busybox:1.36", "nginx:1.20")
    name: ClassVar[str] = "wrong_pod_image"
    layer: ClassVar[Layer] = "virtualization"
    roles: ClassVar[tuple[Role, ...]] = ("front end", "service")
    fault_type: ClassVar[str] = "Operation Error"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Misconfiguration",)
    restart_repairs: ClassVar[bool] = True

    def inject(self, site: Site) -> None:
        """Set the image of all current pods."""
        container = site.get_container(self.target)["name"]
        for pod in site.pods_of(self.target):
            site.kubectl(f"set image pod/{pod} {container}={self.image}")

    def recover(self, site: Site) -> None:
        """Delete the pods, so that the Deployment replaces them."""
        site.restart(self.target)

    def present(self, site: Site) -> bool:
        """Return whether a pod has another image than its Deployment says."""
        images = "jsonpath='{.items[*].spec.containers[*].image}'"
        found = site.kubectl(f"get pods -l {site.get_selector(self.target)} -o {images}").split()
        right = site.get_container(self.target)["image"]
        return any(image != right for image in found)
