"""A Service selects labels that no pod has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.services import ServiceFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class WrongSelector(ServiceFault):
    """A team prepares a new generation of a component and changes the Service's selector, but not the pods' labels."""

    label: str = draw_from("app", "app.kubernetes.io/name", "component", "")
    suffix: str = draw_from("-v2", "-next", "-blue", "-stable")
    name: ClassVar[str] = "wrong_selector"

    def change(self, site: Site) -> None:
        """Select by another label, or by another value of the same one."""
        present = site.get_selector(self.target).split(",")[0].partition("=")[0]
        site.kubectl(f"set selector service {self.target} {self.label or present}={self.target}{self.suffix}")
