"""A running service is missing in the registry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.registered import RegistrationFault, is_registered
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class RemovedRegistration(RegistrationFault):
    """An operator removes old registrations, and removes those of a running service too."""

    name: ClassVar[str] = "removed_registration"

    def inject(self, site: Site) -> None:
        """Deregister the service's pods."""
        for instance in self.find_instances(site):
            site.exec(self.registry, f"consul services deregister -id={instance['ID']}")

    def recover(self, site: Site) -> None:
        """Restart the service, which registers when it starts."""
        if self.present(site):
            site.restart(self.target)
            site.wait_until_ready(self.target)

    def present(self, site: Site) -> bool:
        """Return whether a pod of the service is not registered."""
        return not is_registered(site, self.target)
