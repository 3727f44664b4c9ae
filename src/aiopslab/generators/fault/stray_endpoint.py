"""A Service has addresses that no pod has, beside the right ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from aiopslab.apps import Application, Component, Role
from aiopslab.generators.fault.base import Course, fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.services import ServiceFault
from aiopslab.generators.site import Site
from simcloud.kubernetes.api import at

HOSTS: Final = 3


@fault
@dataclass(frozen=True)
class StrayEndpoint(ServiceFault):
    """A team adds endpoints by hand during a migration; their hosts are gone, and most new connections go there."""

    address: str = draw_from("10.244.1.240", "10.244.2.233", "10.244.3.219")
    suffix: str = draw_from("-migration", "-external", "-standby")
    name: ClassVar[str] = "stray_endpoint"
    course: ClassVar[Course] = "partial"
    roles: ClassVar[tuple[Role, ...]] = ("service", "front end")
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error", "Network/Storage Issue")

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether somebody connects anew all the time: users, or a service. A front end keeps its few connections."""
        callers = [app.component(name).role for name in app.find_callers(component.name)]
        return (not callers or "service" in callers) and super().suits(app, component)

    @property
    def addresses(self) -> list[str]:
        """The addresses: several, so that among a few connections one meets them."""
        network, _, first = self.address.rpartition(".")
        return [f"{network}.{int(first) + number}" for number in range(HOSTS)]

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
            "endpoints": [{"addresses": [address]} for address in self.addresses],
            "ports": [port],
        }
        metadata = {"name": f"{self.target}{self.suffix}", "labels": labels}
        site.apply(
            {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": metadata, **content}
        )

    def present(self, site: Site) -> bool:
        """Return whether the Service still has one of the addresses."""
        selected = f"-l kubernetes.io/service-name={self.target}"
        listed = site.kubectl(f"get endpointslices {selected} -o jsonpath='{{..addresses}}'")
        return any(f'"{address}"' in listed for address in self.addresses)
