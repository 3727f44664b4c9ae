"""The registry has an instance of a service that is another service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import Course, fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.registered import RegistrationFault, list_registrations
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class WrongRegistration(RegistrationFault):
    """An operator registers a second instance by hand, with the address and port of another service."""

    suffix: str = draw_from("2", "b", "standby", "green")
    name: ClassVar[str] = "wrong_registration"
    course: ClassVar[Course] = "intermittent"

    def inject(self, site: Site) -> None:
        """Register the address of another service under this one's name."""
        mine = self.find_instances(site)[0]
        others = (name for name in self.list_targets(site.app) if name != self.target)
        other = next(iter(others))
        address, port = site.addresses_of(other)[0], site.get_port(other)
        options = f"-name={mine['Service']} -id={self.target}-{self.suffix} -address={address} -port={port}"
        site.exec(self.registry, f"consul services register {options}")

    def recover(self, site: Site) -> None:
        """Deregister every instance at a port that is not the service's."""
        for instance in self._find_wrong(site):
            site.exec(self.registry, f"consul services deregister -id={instance['ID']}")

    def present(self, site: Site) -> bool:
        """Return whether an instance has a port that is not the service's."""
        return bool(self._find_wrong(site))

    def _find_wrong(self, site: Site) -> list[dict[str, str]]:
        mine = self.find_instances(site)
        names = {instance["Service"] for instance in mine if instance["Port"] == site.get_port(self.target)}
        return [
            instance
            for instance in list_registrations(site)
            if instance["Service"] in names and instance["Port"] != site.get_port(self.target)
        ]
