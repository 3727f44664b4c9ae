"""A Service has an address that no pod has, beside the right ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from aiopslab.apps import Role
from aiopslab.generators.fault.base import Course, fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.services import ServiceFault
from aiopslab.generators.site import Site
from simcloud.kubernetes.api import at


@fault
@dataclass(frozen=True)
class StrayEndpoint(ServiceFault):
    """A team adds an endpoint by hand during a migration; its host is gone, and part of the connections go there."""

    address: str = draw_from("10.244.1.240", "10.244.2.233", "10.244.3.219")
    suffix: str = draw_from("-migration", "-external", "-standby")
    name: ClassVar[str] = "stray_endpoint"
    course: ClassVar[Course] = "partial"
    roles: ClassVar[tuple[Role, ...]] = ("service", "front end")
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error", "Network/Storage Issue")

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """The slice."""
        return (("endpointslices.discovery.k8s.io", f"{self.target}{self.suffix}"),)

    def change(self, site: Site) -> None:
        """Add the slice."""
        labels = {"kubernetes.io/service-name": self.target}
        port = {"protocol": "TCP", "port": site.get_port(self.target)}
        if name := at(site.find("services", self.target), "spec", "ports", 0, "name", default=""):
            port["name"] = name
        content: dict[str, Any] = {
            "addressType": "IPv4",
            "endpoints": [{"addresses": [self.address]}],
            "ports": [port],
        }
        metadata = {"name": f"{self.target}{self.suffix}", "labels": labels}
        site.apply(
            {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": metadata, **content}
        )

    def present(self, site: Site) -> bool:
        """Return whether the Service still has the address."""
        selected = f"-l kubernetes.io/service-name={self.target}"
        return self.address in site.kubectl(f"get endpointslices {selected} -o jsonpath='{{..addresses}}'")
